//! Rows that come too late for all their windows.

use std::sync::atomic::Ordering;

use crate::metrics::OperatorMetrics;

/// Rows all of whose windows were complete when they arrived, and how much they were behind.
#[derive(Debug)]
pub(crate) struct LateRows {
    pub(crate) rows: u64,
    pub(crate) max_behind_ms: i64,
    pub(crate) max_window_behind_ms: i64,
}

impl Default for LateRows {
    fn default() -> Self {
        Self { rows: 0, max_behind_ms: i64::MIN, max_window_behind_ms: i64::MIN }
    }
}

impl LateRows {
    /// A row of that time whose last window was complete at `last_instant`.
    pub(crate) fn add(&mut self, watermark: i64, time: i64, last_instant: i64) {
        self.rows += 1;
        self.max_behind_ms = self.max_behind_ms.max(watermark.saturating_sub(time));
        let window_behind_ms = watermark.saturating_sub(last_instant).saturating_add(1);
        self.max_window_behind_ms = self.max_window_behind_ms.max(window_behind_ms);
    }

    /// Adds them to the operator's counts.
    pub(crate) fn report(&self, metrics: &OperatorMetrics) {
        if self.rows > 0 {
            metrics.late_rows.fetch_add(self.rows, Ordering::Relaxed);
            metrics.max_behind_ms.fetch_max(self.max_behind_ms, Ordering::Relaxed);
            metrics.max_window_behind_ms.fetch_max(self.max_window_behind_ms, Ordering::Relaxed);
        }
    }
}
