//! So many rows a second.

use std::time::{Duration, Instant};

/// Shortest wait: at a high pace rows come in batches and not one by one.
const MIN_WAIT: Duration = Duration::from_millis(10);

/// When rows are due.
pub(super) struct Pace {
    start: Instant,
    rows_per_second: u64,
    /// Row that is due at the start.
    first_row: u64,
}

impl Pace {
    /// From now on, `rows_per_second`, which is not 0, beginning with row `first_row`.
    pub fn start(rows_per_second: u64, first_row: u64) -> Self {
        Self { start: Instant::now(), rows_per_second, first_row }
    }

    /// How many rows should have been given by now; the first at once.
    pub fn rows_due(&self) -> u64 {
        self.rows_due_after(self.start.elapsed())
    }

    /// Milliseconds until row `row` is due.
    pub fn wait_ms(&self, row: u64) -> u64 {
        self.wait_ms_after(row, self.start.elapsed())
    }

    fn rows_due_after(&self, elapsed: Duration) -> u64 {
        let rows = elapsed.as_nanos() * u128::from(self.rows_per_second) / 1_000_000_000;
        u64::try_from(rows).unwrap_or(u64::MAX).saturating_add(self.first_row).saturating_add(1)
    }

    fn wait_ms_after(&self, row: u64, elapsed: Duration) -> u64 {
        let due_ms = u128::from(row.saturating_sub(self.first_row)) * 1_000 / u128::from(self.rows_per_second);
        let wait_ms = due_ms.saturating_sub(elapsed.as_millis()).max(MIN_WAIT.as_millis());
        u64::try_from(wait_ms).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fall_due_evenly() {
        let pace = Pace::start(4, 0);
        assert_eq!(pace.rows_due_after(Duration::ZERO), 1);
        assert_eq!(pace.rows_due_after(Duration::from_millis(249)), 1);
        assert_eq!(pace.rows_due_after(Duration::from_millis(250)), 2);
        assert_eq!(pace.rows_due_after(Duration::from_secs(10)), 41);
        assert_eq!(pace.wait_ms_after(2, Duration::from_millis(100)), 400);
        assert_eq!(pace.wait_ms_after(2, Duration::from_millis(495)), 10);
    }

    #[test]
    fn a_pace_goes_on_where_it_was_left() {
        let pace = Pace::start(4, 1_000);
        assert_eq!(pace.rows_due_after(Duration::from_millis(250)), 1_002);
        assert_eq!(pace.wait_ms_after(1_002, Duration::from_millis(100)), 400);
    }
}
