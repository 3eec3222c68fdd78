//! Numbers and durations as people write them.

/// `1,234,567`
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.char_indices() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 row`, `1,234 rows`
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Milliseconds as `18 hours`, `10.002 seconds`, `1 day 2 hours`.
pub fn duration_ms(ms: u64) -> String {
    const UNITS: [(u64, &str, &str); 3] =
        [(86_400_000, "day", "days"), (3_600_000, "hour", "hours"), (60_000, "minute", "minutes")];
    let mut rest = ms;
    let mut parts = Vec::new();
    for (length_ms, one, many) in UNITS {
        if rest >= length_ms {
            parts.push(counted(rest / length_ms, one, many));
            rest %= length_ms;
        }
    }
    if rest > 0 || parts.is_empty() {
        parts.push(match (rest / 1000, rest % 1000) {
            (seconds, 0) => counted(seconds, "second", "seconds"),
            (seconds, ms) => format!("{seconds}.{} seconds", format!("{ms:03}").trim_end_matches('0')),
        });
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (5_403, "5,403"), (1_234_567, "1,234,567")];
        for (number, expected) in cases {
            assert_eq!(count(number), expected);
        }
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn durations_are_words() {
        let hour = 3_600_000;
        let cases = [
            (0, "0 seconds"),
            (1, "0.001 seconds"),
            (1_000, "1 second"),
            (1_500, "1.5 seconds"),
            (10_002, "10.002 seconds"),
            (60_000, "1 minute"),
            (18 * hour, "18 hours"),
            (26 * hour, "1 day 2 hours"),
            (hour + 61_000, "1 hour 1 minute 1 second"),
            (17 * hour + 2, "17 hours 0.002 seconds"),
            (48 * hour, "2 days"),
        ];
        for (ms, expected) in cases {
            assert_eq!(duration_ms(ms), expected);
        }
    }
}
