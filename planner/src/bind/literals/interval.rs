//! Intervals of several fields, such as `INTERVAL '1 02:03:04' DAY TO SECOND`.

use sqlparser::ast::{DateTimeField, Expr, Interval, Value};
use tidemark_parser::Diagnostic;

use crate::codes::BAD_QUERY;

/// A field with what stands in front of it and the largest value that it has after another field.
const FIELDS: [(DateTimeField, char, u64); 6] = [
    (DateTimeField::Year, ' ', u64::MAX),
    (DateTimeField::Month, '-', 11),
    (DateTimeField::Day, ' ', u64::MAX),
    (DateTimeField::Hour, ' ', 23),
    (DateTimeField::Minute, ':', 59),
    (DateTimeField::Second, ':', 59),
];

/// `INTERVAL '1:30' HOUR TO MINUTE` as `INTERVAL '1 HOUR 30 MINUTE'`. An interval of one field stays as it is.
pub(super) fn rewrite_interval(interval: &mut Interval) -> Result<(), Diagnostic> {
    let (Some(first), Some(last)) = (&interval.leading_field, &interval.last_field) else { return Ok(()) };
    let kind = format!("{first} TO {last}");
    let Expr::Value(literal) = interval.value.as_mut() else {
        return Err(Diagnostic::error(BAD_QUERY, format!("INTERVAL … {kind} takes a text")));
    };
    let Value::SingleQuotedString(text) = &literal.value else {
        return Err(Diagnostic::error(BAD_QUERY, format!("INTERVAL … {kind} takes a text")));
    };
    let Some(spelled) = spell(text, first, last) else {
        let d = Diagnostic::error(BAD_QUERY, format!("'{text}' is no interval {kind}"));
        return Err(d.help("for example INTERVAL '1 02:03:04' DAY TO SECOND, or INTERVAL '1-6' YEAR TO MONTH"));
    };
    literal.value = Value::SingleQuotedString(spelled);
    (interval.leading_field, interval.last_field) = (None, None);
    Ok(())
}

fn spell(text: &str, first: &DateTimeField, last: &DateTimeField) -> Option<String> {
    let place = |field: &DateTimeField| FIELDS.iter().position(|(f, _, _)| f == field);
    let (first, last) = (place(first)?, place(last)?);
    // Years and months do not go together with days and shorter fields: the length of a month differs.
    if first >= last || (first < 2) != (last < 2) {
        return None;
    }
    let text = text.trim();
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let mut parts = vec![];
    for (field, _, most) in &FIELDS[first..=last] {
        let is_first = parts.is_empty();
        let separator = FIELDS.get(first + parts.len() + 1).filter(|_| first + parts.len() < last).map(|(_, c, _)| *c);
        let digits = match separator {
            Some(separator) => {
                let (digits, after) = rest.split_once(separator)?;
                rest = after.trim_start();
                digits
            }
            None => rest,
        };
        let (whole, fraction) = match field {
            DateTimeField::Second => digits.split_once('.').unwrap_or((digits, "0")),
            _ => (digits, "0"),
        };
        let is_number = |d: &str| !d.is_empty() && d.chars().all(|c| c.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) || (!is_first && whole.parse::<u64>().ok()? > *most) {
            return None;
        }
        parts.push(format!("{sign}{digits} {field}"));
    }
    Some(parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_spelled_out() {
        use DateTimeField::{Day, Hour, Minute, Month, Second, Year};
        let check = |text, first, last, expected: Option<&str>| {
            assert_eq!(spell(text, &first, &last).as_deref(), expected, "{text}");
        };
        check("1 02:03:04.5", Day, Second, Some("1 DAY 02 HOUR 03 MINUTE 04.5 SECOND"));
        check("-1 2:3", Day, Minute, Some("-1 DAY -2 HOUR -3 MINUTE"));
        check("10  5", Day, Hour, Some("10 DAY 5 HOUR"));
        check("36:30", Hour, Minute, Some("36 HOUR 30 MINUTE"));
        check("90:15", Minute, Second, Some("90 MINUTE 15 SECOND"));
        check("1-6", Year, Month, Some("1 YEAR 6 MONTH"));
        check("1:60", Hour, Minute, None);
        check("1", Hour, Minute, None);
        check("1:30:00", Hour, Minute, None);
        check("1 x:00", Day, Minute, None);
        check("1", Day, Year, None);
        check("1 1", Month, Day, None);
    }
}
