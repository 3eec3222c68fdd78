//! A time zone: how far a wall clock is from UTC.

use arrow::array::timezone::Tz;
use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeZone};

/// A time zone by name or by offset.
#[derive(Clone, Copy, Debug)]
pub enum Zone {
    /// UTC itself, the common case: nothing to look up.
    Utc,
    /// Any other.
    Other(Tz),
}

impl Zone {
    /// From an IANA name or an offset such as `+02:00`.
    pub fn parse(name: &str) -> Result<Zone, String> {
        match name {
            "UTC" | "Etc/UTC" | "GMT" | "Z" | "+00:00" => Ok(Zone::Utc),
            _ => name.parse().map(Zone::Other).map_err(|_| format!("'{name}' is not a time zone")),
        }
    }

    /// Seconds that the wall clock is ahead of UTC at the instant `utc_seconds`.
    pub fn offset_seconds(&self, utc_seconds: i64) -> i64 {
        match self {
            Zone::Utc => 0,
            Zone::Other(zone) => naive(utc_seconds)
                .map_or(0, |utc| i64::from(zone.offset_from_utc_datetime(&utc).fix().local_minus_utc())),
        }
    }

    /// The instant at which the wall clock shows `wall_seconds`. Of two such instants the earlier; a time that the
    /// clock skips is read with the offset from before the gap, as Java does.
    pub fn to_utc_seconds(&self, wall_seconds: i64) -> i64 {
        let Zone::Other(zone) = self else { return wall_seconds };
        let Some(wall) = naive(wall_seconds) else { return wall_seconds };
        match zone.offset_from_local_datetime(&wall) {
            MappedLocalTime::Single(offset) | MappedLocalTime::Ambiguous(offset, _) => {
                wall_seconds - i64::from(offset.fix().local_minus_utc())
            }
            MappedLocalTime::None => wall_seconds - self.offset_seconds(wall_seconds - 86_400),
        }
    }
}

/// The calendar's view of `seconds`; `None` outside the years that the zone database knows, where no offset is known.
fn naive(seconds: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp(seconds, 0).map(|t| t.naive_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin() -> Zone {
        Zone::parse("Europe/Berlin").expect("a zone")
    }

    #[test]
    fn summer_and_winter() {
        // 2024-01-01 00:00 and 2024-07-01 00:00 UTC
        assert_eq!(berlin().offset_seconds(1_704_067_200), 3_600);
        assert_eq!(berlin().offset_seconds(1_719_792_000), 7_200);
        assert_eq!(berlin().to_utc_seconds(1_719_792_000), 1_719_792_000 - 7_200);
    }

    #[test]
    fn a_skipped_and_a_repeated_hour() {
        // 2024-03-31: 02:00 becomes 03:00; 02:30 is read with +01:00.
        let half_past_two = 1_711_850_400 + 1_800;
        assert_eq!(berlin().to_utc_seconds(half_past_two), half_past_two - 3_600);
        // 2024-10-27: 03:00 becomes 02:00; 02:30 comes first with +02:00.
        let half_past_two = 1_729_994_400 + 1_800;
        assert_eq!(berlin().to_utc_seconds(half_past_two), half_past_two - 7_200);
    }

    #[test]
    fn an_unknown_zone_is_named() {
        assert_eq!(Zone::parse("Mars/Olympus").err().as_deref(), Some("'Mars/Olympus' is not a time zone"));
    }
}
