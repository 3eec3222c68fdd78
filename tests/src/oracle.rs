//! Streams against batches: random windowed queries over random out-of-order events, once through Tidemark and once
//! through DataFusion over the complete input.
//!
//! The watermark's delay is larger than the disorder, so that no row is late and both must agree. DataFusion knows no
//! windows: their bounds are computed there by plain arithmetic over the event time in milliseconds.

pub mod batch;
pub mod chance;
pub mod events;
pub mod joins;
pub mod query;
pub mod row_pattern;
pub mod stream;

use std::fmt::Write;

/// A result: its rows as texts, NULL as `None`, in any order.
pub type Rows = Vec<Vec<Option<String>>>;

/// What tells two results apart, or nothing.
pub fn difference(stream: Rows, batch: Rows) -> Option<String> {
    let (stream, batch) = (sorted(stream), sorted(batch));
    if stream == batch {
        return None;
    }
    let mut text = format!("{} rows of the stream, {} rows of the batch\n", stream.len(), batch.len());
    let only = |these: &Rows, those: &Rows| {
        let mut those = those.clone();
        let is_extra = |row: &&Vec<Option<String>>| match those.iter().position(|r| r == *row) {
            Some(found) => {
                those.swap_remove(found);
                false
            }
            None => true,
        };
        these.iter().filter(is_extra).take(5).cloned().collect::<Rows>()
    };
    for (name, rows) in [("stream", only(&stream, &batch)), ("batch", only(&batch, &stream))] {
        for row in rows {
            let cells: Vec<_> = row.into_iter().map(|c| c.unwrap_or_else(|| "NULL".into())).collect();
            // A String takes all that is written to it.
            let _ = writeln!(text, "only in the {name}: {}", cells.join(" | "));
        }
    }
    Some(text)
}

fn sorted(mut rows: Rows) -> Rows {
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter_and_number_does() {
        let row = |text: &str| vec![Some(text.to_string()), None];
        assert_eq!(difference(vec![row("a"), row("b")], vec![row("b"), row("a")]), None);
        let told = difference(vec![row("a"), row("a")], vec![row("a")]);
        assert_eq!(told.as_deref(), Some("2 rows of the stream, 1 rows of the batch\nonly in the stream: a | NULL\n"));
    }
}
