//! What a run counts. Written by operators and sources with relaxed atomics, read for the summary at the end.

pub mod fired_windows;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use fired_windows::FiredWindows;

/// Counters of one operator in one subtask.
#[derive(Debug)]
pub struct OperatorMetrics {
    /// The operator's uid.
    pub uid: String,
    /// Rows it took.
    pub rows_in: AtomicU64,
    /// Rows it emitted.
    pub rows_out: AtomicU64,
    /// Rows dropped because every window they belong to had fired.
    pub late_rows: AtomicU64,
    /// Largest `row's watermark − row's event time` (ms) over dropped late rows; [`i64::MIN`] when there are none.
    pub max_behind_ms: AtomicI64,
    /// Largest `row's watermark − (end of its last window − 1 ms) + 1 ms` over dropped late rows: so much more
    /// delay would have kept each in its window. [`i64::MIN`] when there are none.
    pub max_window_behind_ms: AtomicI64,
    /// Windows that fired with at least one row: one per window of the operator, not per key or subtask.
    pub windows_fired: FiredWindows,
    /// Rows dropped because their event time was NULL.
    pub null_rowtime_rows: AtomicU64,
    /// `largest event time − watermark` (ms) as the watermark expression makes it; [`i64::MIN`] before any row.
    pub watermark_delay_ms: AtomicI64,
}

impl OperatorMetrics {
    /// All zero; of the operator's first subtask.
    pub fn new(uid: impl Into<String>) -> Self {
        Self::with(uid, FiredWindows::new())
    }

    /// All zero; of one more subtask of the same operator.
    pub fn of_next_subtask(&self) -> Self {
        Self::with(&self.uid, self.windows_fired.of_next_subtask())
    }

    fn with(uid: impl Into<String>, windows_fired: FiredWindows) -> Self {
        Self {
            uid: uid.into(),
            rows_in: AtomicU64::new(0),
            rows_out: AtomicU64::new(0),
            late_rows: AtomicU64::new(0),
            max_behind_ms: AtomicI64::new(i64::MIN),
            max_window_behind_ms: AtomicI64::new(i64::MIN),
            windows_fired,
            null_rowtime_rows: AtomicU64::new(0),
            watermark_delay_ms: AtomicI64::new(i64::MIN),
        }
    }
}

/// Counters of one source in one subtask.
#[derive(Debug, Default)]
pub struct SourceMetrics {
    /// The table read.
    pub table: String,
    /// Rows read.
    pub rows: AtomicU64,
    /// Bytes read, where the connector knows.
    pub bytes: AtomicU64,
    /// Rows skipped because they could not be read.
    pub unreadable_rows: AtomicU64,
    /// The first few unreadable rows, as sentences that name file, line and column.
    pub unreadable_examples: std::sync::Mutex<Vec<String>>,
}

/// How many unreadable rows are kept as examples.
pub const MAX_UNREADABLE_EXAMPLES: usize = 10;

impl SourceMetrics {
    /// Counts a skipped row and keeps it as an example while there are few.
    pub fn unreadable(&self, sentence: impl FnOnce() -> String) {
        self.unreadable_rows.fetch_add(1, Ordering::Relaxed);
        let mut examples = self.unreadable_examples.lock().unwrap_or_else(|e| e.into_inner());
        if examples.len() < MAX_UNREADABLE_EXAMPLES {
            examples.push(sentence());
        }
    }
}
