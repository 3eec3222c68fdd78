//! How many windows an operator has fired, over all its subtasks.
//!
//! The keys of one window are spread over the subtasks, and each fires the window for its own keys: the windows are
//! counted as intervals, each once.
//!
//! ```text
//! subtask 1 fires [0, 10) [10, 20)    subtask 2 fires [10, 20) [20, 30)    ->    3
//! ```
//!
//! An interval is remembered until every subtask has come past its last instant and cannot fire it any more: as long
//! as the subtasks are apart in time, not as long as the job runs.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Intervals remembered at most. A subtask that falls back further, such as one of a processing-time window that never
/// gets a row, has what it fires then counted anew.
const MAX_REMEMBERED: usize = 65_536;

/// The part of one subtask in the count.
#[derive(Debug)]
pub struct FiredWindows {
    shared: Arc<Mutex<Fired>>,
    subtask: usize,
}

#[derive(Debug, Default)]
struct Fired {
    count: u64,
    /// `(last instant, start)` of those that some subtask may still fire.
    remembered: BTreeSet<(i64, i64)>,
    /// By subtask: it fires nothing any more whose last instant is there or before.
    passed: Vec<i64>,
}

impl FiredWindows {
    /// Of an operator's first subtask.
    pub fn new() -> Self {
        Self::join(Arc::default())
    }

    /// Of one more subtask of the same operator.
    pub fn of_next_subtask(&self) -> Self {
        Self::join(Arc::clone(&self.shared))
    }

    fn join(shared: Arc<Mutex<Fired>>) -> Self {
        let mut fired = lock(&shared);
        let subtask = fired.passed.len();
        fired.passed.push(i64::MIN);
        drop(fired);
        Self { shared, subtask }
    }

    /// The subtask has fired these windows, given by start and last instant (ms), and will fire none any more whose
    /// last instant is at most `passed`.
    pub fn report(&self, windows: impl IntoIterator<Item = (i64, i64)>, passed: i64) {
        let mut fired = lock(&self.shared);
        for (start, last_instant) in windows {
            fired.count += u64::from(fired.remembered.insert((last_instant, start)));
        }
        let own = &mut fired.passed[self.subtask];
        *own = passed.max(*own);
        fired.forget();
    }

    /// Adds windows that no other subtask fires: those that belong to a key.
    pub fn add(&self, windows: u64) {
        lock(&self.shared).count += windows;
    }

    /// Windows fired by all subtasks together, each counted once.
    pub fn count(&self) -> u64 {
        lock(&self.shared).count
    }
}

impl Default for FiredWindows {
    fn default() -> Self {
        Self::new()
    }
}

impl Fired {
    fn forget(&mut self) {
        let passed = self.passed.iter().min().copied().unwrap_or(i64::MIN);
        while let Some(first) = self.remembered.first()
            && (first.0 <= passed || self.remembered.len() > MAX_REMEMBERED)
        {
            self.remembered.pop_first();
        }
    }
}

/// A panic elsewhere leaves the counts as they were after some report.
fn lock(shared: &Mutex<Fired>) -> MutexGuard<'_, Fired> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remembered(windows: &FiredWindows) -> usize {
        lock(&windows.shared).remembered.len()
    }

    #[test]
    fn a_window_of_several_subtasks_counts_once() {
        let first = FiredWindows::new();
        let second = first.of_next_subtask();
        first.report([(0, 9), (10, 19)], 25);
        assert_eq!((first.count(), remembered(&first)), (2, 2), "the other subtask may still fire them");
        second.report([(10, 19)], 19);
        assert_eq!((second.count(), remembered(&first)), (2, 0));
        second.report([(20, 29), (15, 29)], 29);
        first.report([(20, 29)], i64::MAX);
        assert_eq!(first.count(), 4, "windows of one end and two starts are two");
        second.report([], i64::MAX);
        assert_eq!(remembered(&first), 0);
    }

    #[test]
    fn a_lone_subtask_remembers_nothing() {
        let windows = FiredWindows::new();
        for start in 0..1000 {
            windows.report([(start, start + 9)], start + 9);
            assert_eq!(remembered(&windows), 0);
        }
        windows.add(5);
        assert_eq!(windows.count(), 1005);
    }

    #[test]
    fn a_subtask_that_never_reports_does_not_cost_memory_for_ever() {
        let first = FiredWindows::new();
        let silent = first.of_next_subtask();
        let end = MAX_REMEMBERED as i64 + 10;
        (0..end).for_each(|start| first.report([(start, start)], start));
        assert_eq!((remembered(&first), silent.count()), (MAX_REMEMBERED, end as u64));
    }
}
