//! Random joins of three relations whose rows come and go, once through Tidemark and once through DataFusion over the
//! rows that are left.
//!
//! A relation is made from events `(seq, id, k, v, gone)`: one that only grows has a row for each event, one that
//! changes has the last of each `id`, unless it is `gone`. The join's text is the same in both engines.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use tidemark::Session;
use tidemark::session::{SessionError, StatementResult};
use tidemark_runtime::change_batch::RowKind;

use super::Rows;
use super::chance::Chance;
use super::stream::texts;
use crate::harness::Cell;
use crate::harness::fold::Fold;

/// The relations' names.
const NAMES: [&str; 3] = ["a", "b", "c"];
/// Stand for NULL in the events: an aggregate passes NULL over.
const NO_TEXT: &str = "-";
const NO_NUMBER: i64 = -99;

/// An event of a relation.
struct Event {
    id: i64,
    k: Option<&'static str>,
    v: Option<i64>,
    gone: bool,
}

/// One of the joined relations.
struct Relation {
    events: Vec<Event>,
    /// Do its rows change and go?
    changes: bool,
}

/// Three relations and a query over them.
pub struct JoinCase {
    relations: Vec<Relation>,
    /// The query over `a`, `b` and `c`.
    pub sql: String,
}

impl JoinCase {
    /// Any case.
    pub fn random(chance: &mut Chance) -> Self {
        Self { relations: NAMES.iter().map(|_| Relation::random(chance)).collect(), sql: query(chance) }
    }

    /// The rows through Tidemark; fails if the changes make no sense.
    pub fn stream(&self, cell: Cell) -> Result<Result<Rows, String>, SessionError> {
        let mut session = Session::new();
        let mut script = format!(
            "SET 'parallelism.default' = '{}'; SET 'execution.batch-size' = '{}';",
            cell.parallelism, cell.batch_size
        );
        for (name, relation) in NAMES.iter().zip(&self.relations) {
            session.hold_batches(name, vec![relation.events()]);
            // A String takes all that is written to it.
            let _ = write!(
                script,
                "CREATE TABLE {name}_events (seq BIGINT, id BIGINT, k STRING, v BIGINT, gone BOOLEAN)
                 WITH ('connector' = 'memory', 'table' = '{name}');
                 CREATE VIEW {name} AS {};",
                relation.view(name)
            );
        }
        script.push_str(&self.sql);
        let Some(StatementResult::Rows { output, changes, .. }) = session.execute(&script)?.pop() else {
            unreachable!("the script ends in a query");
        };
        let mut fold = Fold::new(output.changelog, output.upsert_key);
        for batch in &changes {
            let rows = texts(&batch.batch).into_iter().enumerate();
            let rows: Vec<(RowKind, _)> = rows.map(|(index, row)| (batch.kind(index), row)).collect();
            if let Err(what) = fold.apply(&rows) {
                return Ok(Err(what));
            }
        }
        Ok(Ok(fold.into_rows()))
    }

    /// The rows through DataFusion.
    pub fn batch(&self) -> Result<Rows, DataFusionError> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        runtime.block_on(async {
            let ctx = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
            for (name, relation) in NAMES.iter().zip(&self.relations) {
                ctx.register_batch(*name, relation.left())?;
            }
            let batches = ctx.sql(&self.sql).await?.collect().await?;
            Ok(batches.iter().flat_map(texts).collect())
        })
    }

    /// The events, for a person who looks into a failure.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        for (name, relation) in NAMES.iter().zip(&self.relations) {
            let _ = writeln!(text, "{name} ({}):", if relation.changes { "changes" } else { "grows" });
            for Event { id, k, v, gone } in &relation.events {
                let _ = writeln!(text, "  {id} {k:?} {v:?}{}", if *gone { " gone" } else { "" });
            }
        }
        text
    }
}

impl Relation {
    fn random(chance: &mut Chance) -> Self {
        let count = chance.pick(&[0, 1, 4, 12, 30]);
        let event = |chance: &mut Chance| Event {
            id: chance.between(0, 7),
            k: (!chance.percent(15)).then(|| chance.pick(&["x", "y", "z"])),
            v: (!chance.percent(15)).then(|| chance.between(0, 4)),
            gone: chance.percent(25),
        };
        Self { events: (0..count).map(|_| event(chance)).collect(), changes: chance.percent(60) }
    }

    fn events(&self) -> RecordBatch {
        let numbers = |of: &dyn Fn(usize, &Event) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(self.events.iter().enumerate().map(|(i, e)| of(i, e))))
        };
        let gone: BooleanArray = self.events.iter().map(|e| Some(e.gone)).collect();
        let texts = StringArray::from_iter_values(self.events.iter().map(|e| e.k.unwrap_or(NO_TEXT)));
        let seq = numbers(&|index, _| i64::try_from(index).expect("few events"));
        RecordBatch::try_from_iter([
            ("seq", seq),
            ("id", numbers(&|_, e| e.id)),
            ("k", Arc::new(texts)),
            ("v", numbers(&|_, e| e.v.unwrap_or(NO_NUMBER))),
            ("gone", Arc::new(gone)),
        ])
        .expect("columns of one length")
    }

    fn view(&self, name: &str) -> String {
        match self.changes {
            true => format!(
                "SELECT id, NULLIF(LAST_VALUE(k), '{NO_TEXT}') AS k, NULLIF(LAST_VALUE(v), {NO_NUMBER}) AS v
                 FROM {name}_events GROUP BY id HAVING NOT LAST_VALUE(gone)"
            ),
            false => format!(
                "SELECT id, NULLIF(k, '{NO_TEXT}') AS k, NULLIF(v, {NO_NUMBER}) AS v
                 FROM {name}_events WHERE NOT gone"
            ),
        }
    }

    /// The rows in the end.
    fn left(&self) -> RecordBatch {
        let rows: Vec<&Event> = match self.changes {
            true => {
                let last: BTreeMap<i64, &Event> = self.events.iter().map(|e| (e.id, e)).collect();
                last.into_values().filter(|e| !e.gone).collect()
            }
            false => self.events.iter().filter(|e| !e.gone).collect(),
        };
        let id: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|e| e.id)));
        let k: ArrayRef = Arc::new(rows.iter().map(|e| e.k).collect::<StringArray>());
        let v: ArrayRef = Arc::new(rows.iter().map(|e| e.v).collect::<Int64Array>());
        RecordBatch::try_from_iter_with_nullable([("id", id, true), ("k", k, true), ("v", v, true)])
            .expect("columns of one length")
    }
}

/// Conditions of two relations; some have a key, some have none.
const CONDITIONS: [&str; 9] = [
    "l.k = r.k",
    "l.v = r.v",
    "l.k = r.k AND l.v = r.v",
    "l.k = r.k AND l.v < r.v",
    "l.v = r.v + 1",
    "(l.k IS NOT DISTINCT FROM r.k)",
    "(l.k IS NOT DISTINCT FROM r.k) AND l.v = r.v AND (l.id <> r.id OR l.v > 1)",
    "l.id = r.id",
    "l.v < r.v",
];

fn condition(chance: &mut Chance, left: &str, right: &str) -> String {
    chance.pick(&CONDITIONS).replace("l.", &format!("{left}.")).replace("r.", &format!("{right}."))
}

fn query(chance: &mut Chance) -> String {
    let joins = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"];
    let mut sql = match chance.between(0, 9) {
        0..=4 => {
            let (join, on) = (chance.pick(&joins), condition(chance, "a", "b"));
            format!("SELECT a.id, a.k, a.v, b.id AS bid, b.k AS bk, b.v AS bv FROM a {join} b ON {on}")
        }
        5..=6 => {
            let (first, second) = (chance.pick(&joins), chance.pick(&joins));
            let (on, also) = (condition(chance, "a", "b"), condition(chance, "b", "c"));
            format!(
                "SELECT a.id, a.v, b.id AS bid, c.id AS cid, c.k AS ck FROM a {first} b ON {on} {second} c ON {also}"
            )
        }
        7 => {
            let not = chance.pick(&["", "NOT "]);
            format!("SELECT a.id, a.k, a.v FROM a WHERE a.v {not}IN (SELECT b.v FROM b)")
        }
        _ => {
            let (not, on) = (chance.pick(&["", "NOT "]), condition(chance, "a", "b"));
            format!("SELECT a.id, a.k, a.v FROM a WHERE {not}EXISTS (SELECT 1 FROM b WHERE {on})")
        }
    };
    if chance.percent(20) {
        let word = if sql.contains("WHERE") { "AND" } else { "WHERE" };
        let _ = write!(sql, " {word} {}", chance.pick(&["a.v > 1", "a.k IS NULL", "(a.id < 5 OR a.v IS NULL)"]));
    }
    sql
}
