//! Which subtask of a source reads which splits, from where, and with which watermark.
//!
//! Several readers read each split in a lane of its own. A single reader reads all splits in one lane, in order. After
//! a restart a split that had been begun keeps to itself: it goes on at its own place with its own watermark, however
//! many readers there were and are. Only where others were to follow in its lane do they follow again, if there is a
//! single reader.
//!
//! ```text
//! files a b c d, one reader had read a and half of b:   one reader:   b c d     three:  b | c | d
//! three readers had read half of a, b and c, not d:     one reader:   a, b, c, d each in a lane of its own
//! ```

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use tidemark_state::manifest::SplitState;

use crate::connector::SplitPosition;
use crate::element::Watermark;
use crate::error::RestoreError;

/// How far a split has been read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// To its end.
    Done,
    /// So far.
    At {
        /// Where to go on.
        position: SplitPosition,
        /// Do others follow in its lane?
        leads: bool,
    },
    /// Not at all, but the lane that it comes next in has a watermark.
    Next,
}

impl Progress {
    /// As a checkpoint keeps it.
    pub fn of_split(&self, split: &str, watermark: Watermark) -> SplitState {
        SplitState {
            split: split.to_owned(),
            position: serde_json::to_value(self).expect("positions are made of numbers, texts and lists"),
            watermark: (watermark > Watermark::MIN).then_some(watermark.0),
        }
    }
}

/// A split in a lane.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneSplit {
    /// Its place among the source's splits.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Where to begin, if not at its beginning.
    pub position: Option<SplitPosition>,
}

/// The splits of one lane.
#[derive(Clone, Debug, PartialEq)]
pub struct LanePlan {
    /// In the order in which they are read.
    pub splits: VecDeque<LaneSplit>,
    /// The watermark that it has reached.
    pub watermark: Watermark,
}

/// What one subtask reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadingPlan {
    /// Its lanes, in order.
    pub lanes: Vec<LanePlan>,
    /// Splits that have been read, for the next checkpoint to remember.
    pub done: Vec<SplitState>,
}

/// What subtask `subtask` of `parallelism` reads of `splits`, of which a checkpoint knows `kept`.
///
/// # Errors
/// A split is gone that had not been read to its end, or a position is none.
pub fn plan_reading(
    table: &str,
    splits: &[String],
    kept: &[SplitState],
    subtask: usize,
    parallelism: usize,
) -> Result<ReadingPlan, RestoreError> {
    let mut progress = BTreeMap::new();
    for state in kept {
        progress.insert(state.split.as_str(), (read_progress(table, state)?, state));
    }
    let mut plan = ReadingPlan::default();
    for (name, (how_far, state)) in &progress {
        let index = splits.iter().position(|split| split == name);
        match (how_far, index) {
            (Progress::Done, index) if index.unwrap_or(0) % parallelism == subtask => plan.done.push((*state).clone()),
            (Progress::At { .. }, None) => return Err(gone(table, name)),
            _ => {}
        }
    }
    let mut fresh = VecDeque::new();
    let mut begun = vec![];
    let mut leading = None;
    for (index, name) in splits.iter().enumerate().filter(|(index, _)| index % parallelism == subtask) {
        let split = |position| LaneSplit { index, name: name.clone(), position };
        match progress.get(name.as_str()) {
            None => fresh.push_back(split(None)),
            Some((Progress::Done, _)) => {}
            Some((Progress::At { position, leads }, state)) => {
                leading = leading.or(leads.then_some(begun.len()));
                begun.push((split(Some(position.clone())), state.watermark));
            }
            Some((Progress::Next, state)) => {
                leading = leading.or(Some(begun.len()));
                begun.push((split(None), state.watermark));
            }
        }
    }
    let lane = |(split, watermark): (LaneSplit, Option<i64>)| LanePlan {
        splits: VecDeque::from([split]),
        watermark: watermark.map_or(Watermark::MIN, Watermark),
    };
    plan.lanes = begun.into_iter().map(lane).collect();
    match (parallelism, leading) {
        (1, Some(leading)) => plan.lanes[leading].splits.append(&mut fresh),
        (1, None) if !fresh.is_empty() => plan.lanes.push(LanePlan { splits: fresh, watermark: Watermark::MIN }),
        _ => plan.lanes.extend(fresh.into_iter().map(|split| lane((split, None)))),
    }
    Ok(plan)
}

fn read_progress(table: &str, state: &SplitState) -> Result<Progress, RestoreError> {
    Progress::deserialize(&state.position).map_err(|_| RestoreError::Position {
        table: table.into(),
        split: state.split.clone(),
        reason: format!("{} is no position", state.position),
    })
}

fn gone(table: &str, split: &str) -> RestoreError {
    let reason = "it is not there any more, but had not been read to its end".into();
    RestoreError::Position { table: table.into(), split: split.into(), reason }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(byte: u64) -> Progress {
        Progress::At { position: SplitPosition(json!({ "byte": byte })), leads: false }
    }

    fn leading_at(byte: u64) -> Progress {
        Progress::At { position: SplitPosition(json!({ "byte": byte })), leads: true }
    }

    /// The lanes of each subtask: splits with where they begin, and the watermark.
    fn lanes(splits: &str, kept: &[(&str, Progress, i64)], parallelism: usize) -> Vec<Vec<String>> {
        let names: Vec<String> = splits.split(' ').map(String::from).collect();
        let kept: Vec<_> = kept.iter().map(|(split, how_far, w)| how_far.of_split(split, Watermark(*w))).collect();
        let split =
            |s: &LaneSplit| format!("{}{}", s.name, s.position.as_ref().map_or(String::new(), |p| p.0.to_string()));
        let lane = |lane: &LanePlan| {
            let splits: Vec<_> = lane.splits.iter().map(split).collect();
            let watermark =
                if lane.watermark > Watermark::MIN { format!(" w{}", lane.watermark.0) } else { String::new() };
            format!("{}{watermark}", splits.join(" "))
        };
        let plan = |subtask| plan_reading("t", &names, &kept, subtask, parallelism).unwrap();
        (0..parallelism).map(|subtask| plan(subtask).lanes.iter().map(lane).collect()).collect()
    }

    #[test]
    fn from_the_beginning() {
        assert_eq!(lanes("a b c d", &[], 1), [["a b c d"]]);
        assert_eq!(lanes("a b c d", &[], 3), [vec!["a", "d"], vec!["b"], vec!["c"]]);
    }

    #[test]
    fn one_reader_had_come_to_the_second_file() {
        let kept = [("a", Progress::Done, 5), ("b", leading_at(7), 6)];
        assert_eq!(lanes("a b c d", &kept, 1), [[r#"b{"byte":7} c d w6"#]]);
        assert_eq!(lanes("a b c d", &kept, 3), [vec!["d"], vec![r#"b{"byte":7} w6"#], vec!["c"]]);
    }

    #[test]
    fn one_reader_stood_between_two_files() {
        let kept = [("a", Progress::Done, 5), ("b", Progress::Next, 5)];
        assert_eq!(lanes("a b c", &kept, 1), [["b c w5"]], "the running watermark goes on");
    }

    #[test]
    fn files_that_were_read_apart_stay_apart() {
        let kept = [("a", at(1), 5), ("b", at(2), 6), ("c", Progress::Done, 7)];
        let expected = [[r#"a{"byte":1} w5"#, r#"b{"byte":2} w6"#, "d e"]];
        assert_eq!(lanes("a b c d e", &kept, 1), expected);
    }

    /// Not even behind the only one that had been begun: it would be late by the watermark of that one.
    #[test]
    fn a_file_that_another_reader_had_yet_to_begin_stays_apart_too() {
        assert_eq!(lanes("a b c", &[("b", at(2), 6)], 1), [[r#"b{"byte":2} w6"#, "a c"]]);
    }

    #[test]
    fn what_has_been_read_is_remembered_once_be_it_there_or_not() {
        let kept = [Progress::Done.of_split("gone", Watermark(3)), Progress::Done.of_split("b", Watermark(3))];
        let names = ["a".to_owned(), "b".to_owned()];
        let done = |subtask| {
            let plan = plan_reading("t", &names, &kept, subtask, 2).unwrap();
            plan.done.into_iter().map(|state| state.split).collect::<Vec<_>>()
        };
        assert_eq!((done(0), done(1)), (vec!["gone".to_owned()], vec!["b".to_owned()]));
    }

    #[test]
    fn a_file_that_went_away_half_read_is_named() {
        let kept = [at(3).of_split("b", Watermark::MIN)];
        let error = plan_reading("t", &["a".into()], &kept, 0, 1).unwrap_err().to_string();
        let expected = "table `t`: cannot go on reading b: it is not there any more, but had not been read to its end";
        assert_eq!(error, expected);
    }
}
