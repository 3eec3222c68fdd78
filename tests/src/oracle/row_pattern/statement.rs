//! A random statement: its text, and what must come of a partition.

use super::Row;
use super::matcher::{Failure, Matcher, Outcome, Skip};
use super::pattern::{Pattern, name};
use super::predicate::Predicate;
use crate::match_operator::Row as Texts;
use crate::oracle::chance::Chance;

/// Which rows come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    One,
    All { show_empty: bool, with_unmatched: bool },
}

/// A random statement.
#[derive(Debug)]
pub struct Statement {
    pattern: Pattern,
    predicates: Vec<Predicate>,
    within_ms: Option<i64>,
    skip: Skip,
    shown: Shown,
}

impl Statement {
    /// A statement over up to four variables.
    pub fn random(chance: &mut Chance) -> Self {
        let pattern = Pattern::random(chance, 4);
        let variables = pattern.variables();
        let of_match = chance.percent(45);
        let predicates = (0..4).map(|_| Predicate::random(chance, &variables, of_match)).collect();
        let skip = match chance.between(0, 9) {
            0..=4 => Skip::PastLastRow,
            5..=7 => Skip::ToNextRow,
            8 => Skip::ToFirst(chance.pick(&variables)),
            _ => Skip::ToLast(chance.pick(&variables)),
        };
        let has_exclusion = pattern.to_string().contains("{-");
        let shown = match chance.between(0, 9) {
            0..=5 => Shown::One,
            6 if !has_exclusion => Shown::All { show_empty: true, with_unmatched: true },
            7 => Shown::All { show_empty: false, with_unmatched: false },
            _ => Shown::All { show_empty: true, with_unmatched: false },
        };
        let within_ms = chance.percent(40).then(|| chance.between(2, 9));
        Self { pattern, predicates, within_ms, skip, shown }
    }

    /// As SQL.
    pub fn sql(&self) -> String {
        let variables = self.pattern.variables();
        let condition = |v: &usize| Some(format!("{} AS {}", name(*v), self.predicates[*v].sql(*v)?));
        let mut define: Vec<String> = variables.iter().filter_map(condition).collect();
        if define.is_empty() {
            define.push(format!("{} AS TRUE", name(variables[0])));
        }
        let skip = match self.skip {
            Skip::PastLastRow => "PAST LAST ROW".to_string(),
            Skip::ToNextRow => "TO NEXT ROW".to_string(),
            Skip::ToFirst(variable) => format!("TO FIRST {}", name(variable)),
            Skip::ToLast(variable) => format!("TO {}", name(variable)),
        };
        let (rows, id) = match self.shown {
            Shown::One => ("ONE ROW PER MATCH", ""),
            Shown::All { with_unmatched: true, .. } => ("ALL ROWS PER MATCH WITH UNMATCHED ROWS", "id, "),
            Shown::All { show_empty: false, .. } => ("ALL ROWS PER MATCH OMIT EMPTY MATCHES", "id, "),
            Shown::All { .. } => ("ALL ROWS PER MATCH", "id, "),
        };
        let within = self.within_ms.map_or_else(String::new, |ms| format!("WITHIN INTERVAL '0.{ms:03}' SECOND"));
        format!(
            "SELECT k, {id}mno, f, l, n, labels, lasts, s FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts \
             MEASURES MATCH_NUMBER() AS mno, FIRST(id) AS f, LAST(id) AS l, COUNT(*) AS n, \
             LISTAGG(CLASSIFIER(), '') AS labels, {0}.id AS lasts, SUM({0}.v) AS s, MATCH_ROWTIME() AS found \
             {rows} AFTER MATCH SKIP {skip} PATTERN ({1}) {within} DEFINE {2}) AS m",
            name(variables[0]),
            self.pattern,
            define.join(", "),
        )
    }

    /// What must come of one sorted partition.
    pub fn expected(&self, rows: &[Row]) -> Result<Vec<Texts>, Failure> {
        let Self { pattern, predicates, within_ms, .. } = self;
        let matcher = Matcher { rows, pattern, predicates, within_ms: *within_ms };
        let (mut texts, mut number) = (vec![], 0);
        for outcome in matcher.all(self.skip)? {
            match outcome {
                Outcome::Match { start, labels, excluded } => {
                    number += 1;
                    texts.extend(self.rows_of_match(&rows[start..], &labels, &excluded, number));
                }
                Outcome::Unmatched(row) => {
                    if let Shown::All { with_unmatched: true, .. } = self.shown {
                        texts.push(self.text(&rows[row], None));
                    }
                }
            }
        }
        Ok(texts)
    }

    /// The output rows of a match that begins with the first of `rows`.
    fn rows_of_match(&self, rows: &[Row], labels: &[usize], excluded: &[bool], number: i64) -> Vec<Texts> {
        let whole = || self.text(&rows[0], Some((number, &rows[..labels.len()], labels)));
        match self.shown {
            Shown::One => vec![whole()],
            Shown::All { show_empty: true, .. } if labels.is_empty() => vec![whole()],
            Shown::All { .. } => {
                let shown = (0..labels.len()).filter(|at| !excluded[*at]);
                shown.map(|at| self.text(&rows[at], Some((number, &rows[..=at], &labels[..=at])))).collect()
            }
        }
    }

    /// The output row at `here`, which has seen these rows of a match.
    fn text(&self, here: &Row, seen: Option<(i64, &[Row], &[usize])>) -> Texts {
        let mut texts = vec![Some(here.key.to_string())];
        if self.shown != Shown::One {
            texts.push(Some(here.id.to_string()));
        }
        let Some((number, rows, labels)) = seen else {
            texts.extend([const { None }; 7]);
            return texts;
        };
        let first_variable = self.pattern.variables()[0];
        let of_it = || rows.iter().zip(labels).filter(|(_, label)| **label == first_variable).map(|(row, _)| row);
        let values: Vec<i32> = of_it().filter_map(|row| row.value).collect();
        texts.push(Some(number.to_string()));
        texts.push(rows.first().map(|row| row.id.to_string()));
        texts.push(rows.last().map(|row| row.id.to_string()));
        texts.push(Some(rows.len().to_string()));
        texts.push((!labels.is_empty()).then(|| labels.iter().map(|label| name(*label)).collect()));
        texts.push(of_it().next_back().map(|row| row.id.to_string()));
        texts.push((!values.is_empty()).then(|| values.iter().sum::<i32>().to_string()));
        texts
    }
}
