//! Wall clocks.

use arrow::array::timezone::Tz;
use arrow::buffer::ScalarBuffer;
use chrono::{DateTime, Offset, TimeZone};

use crate::error::OperatorError;

/// Stretches of this length are looked up once when the clock does not change within them.
const STRETCH_MS: i64 = 3_600_000;

/// The clock in which windows are aligned.
#[derive(Clone, Debug)]
pub(crate) struct Zone {
    /// `None` when wall clock and instant are the same number.
    zone: Option<Tz>,
}

impl Zone {
    /// The zone of that IANA name or offset; `None` for times without zone.
    pub(crate) fn new(name: Option<&str>) -> Result<Self, OperatorError> {
        let zone = match name {
            None | Some("UTC" | "Etc/UTC" | "Z" | "+00:00") => None,
            Some(name) => Some(name.parse::<Tz>()?),
        };
        Ok(Self { zone })
    }

    /// What the clock shows at an instant.
    pub(crate) fn wall_of(&self, instant: i64) -> i64 {
        instant + self.zone.map_or(0, |zone| offset_at(zone, instant))
    }

    /// What the clock shows at each instant.
    pub(crate) fn walls_of(&self, instants: &ScalarBuffer<i64>) -> ScalarBuffer<i64> {
        let Some(zone) = self.zone else { return instants.clone() };
        let mut stretch = 0..0;
        let mut offset = 0;
        let wall = |instant: &i64| {
            if !stretch.contains(instant) {
                let start = instant - instant.rem_euclid(STRETCH_MS);
                offset = offset_at(zone, *instant);
                let is_steady = offset_at(zone, start) == offset && offset_at(zone, start + STRETCH_MS - 1) == offset;
                stretch = if is_steady { start..start + STRETCH_MS } else { *instant..instant + 1 };
            }
            instant + offset
        };
        instants.iter().map(wall).collect()
    }

    /// The last instant at which the clock shows less than `end`: when a window that ends there is complete.
    /// Where the clock is set back, that is the second time round; where it is set forward over `end`, the last
    /// instant before.
    pub(crate) fn last_instant_before(&self, end: i64) -> i64 {
        let last_wall = end - 1;
        let Some(zone) = self.zone else { return last_wall };
        let day_ms = 86_400_000;
        let (before, after) = (offset_at(zone, last_wall - day_ms), offset_at(zone, last_wall + day_ms));
        let (earlier, later) = (last_wall - before.max(after), last_wall - before.min(after));
        if later + offset_at(zone, later) == last_wall {
            return later;
        }
        if earlier + offset_at(zone, earlier) == last_wall {
            return earlier;
        }
        // In the gap: the clock jumps from before `end` to after it somewhere between the two.
        let (mut low, mut high) = (earlier, later);
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if middle + offset_at(zone, middle) <= last_wall { low = middle } else { high = middle }
        }
        low
    }
}

/// Wall clock − instant, in ms. Times beyond the calendar have none.
fn offset_at(zone: Tz, instant: i64) -> i64 {
    let offset = |at: DateTime<chrono::Utc>| zone.offset_from_utc_datetime(&at.naive_utc()).fix().local_minus_utc();
    DateTime::from_timestamp_millis(instant).map_or(0, |at| i64::from(offset(at)) * 1000)
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDateTime;

    use super::*;

    fn ms(utc: &str) -> i64 {
        NaiveDateTime::parse_from_str(utc, "%Y-%m-%d %H:%M:%S").unwrap().and_utc().timestamp_millis()
    }

    fn check_end(zone: &str, end: &str, last: &str) {
        let zone = Zone::new(Some(zone)).unwrap();
        assert_eq!(zone.last_instant_before(ms(end)), ms(last) - 1, "window ending at {end}");
    }

    #[test]
    fn a_window_is_complete_when_the_clock_passes_its_end() {
        check_end("UTC", "2026-03-29 02:00:00", "2026-03-29 02:00:00");
        check_end("Asia/Shanghai", "2026-01-02 00:00:00", "2026-01-01 16:00:00");
        check_end("Europe/Berlin", "2026-01-02 00:00:00", "2026-01-01 23:00:00");
        check_end("Europe/Berlin", "2026-07-02 00:00:00", "2026-07-01 22:00:00");
        check_end("+05:30", "2026-07-02 00:00:00", "2026-07-01 18:30:00");
    }

    /// 2026-03-29 02:00 → 03:00 in Berlin, at 01:00 UTC: no wall clock between shows up.
    #[test]
    fn clocks_set_forward() {
        check_end("Europe/Berlin", "2026-03-29 02:00:00", "2026-03-29 01:00:00");
        check_end("Europe/Berlin", "2026-03-29 02:30:00", "2026-03-29 01:00:00");
        check_end("Europe/Berlin", "2026-03-29 03:00:00", "2026-03-29 01:00:00");
        check_end("Europe/Berlin", "2026-03-29 04:00:00", "2026-03-29 02:00:00");
    }

    /// 2026-10-25 03:00 → 02:00 in Berlin, at 01:00 UTC: the hour before is shown twice, 00:00–01:00 and 01:00–02:00.
    #[test]
    fn clocks_set_back() {
        check_end("Europe/Berlin", "2026-10-25 02:00:00", "2026-10-25 00:00:00");
        check_end("Europe/Berlin", "2026-10-25 02:30:00", "2026-10-25 01:30:00");
        check_end("Europe/Berlin", "2026-10-25 03:00:00", "2026-10-25 02:00:00");
    }

    #[test]
    fn wall_clocks_of_a_batch() {
        let zone = Zone::new(Some("Europe/Berlin")).unwrap();
        let instants = ["2026-03-29 00:59:59", "2026-03-29 01:00:00", "2026-10-25 00:59:59", "2026-10-25 01:00:00"];
        let walls = ["2026-03-29 01:59:59", "2026-03-29 03:00:00", "2026-10-25 02:59:59", "2026-10-25 02:00:00"];
        let instants: ScalarBuffer<i64> = instants.iter().map(|t| ms(t)).collect();
        let expected: Vec<i64> = walls.iter().map(|t| ms(t)).collect();
        assert_eq!(zone.walls_of(&instants).to_vec(), expected);
        let one_by_one: Vec<i64> = instants.iter().map(|t| zone.wall_of(*t)).collect();
        assert_eq!(one_by_one, expected);
        assert!(Zone::new(Some("Mars/Olympus")).is_err());
    }
}
