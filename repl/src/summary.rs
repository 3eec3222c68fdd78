//! What a run that ended has to say: rows in, rows left out and why, windows fired.
//!
//! One line when nothing was left out; nothing at all when nothing was read.
//!
//! ```text
//! read 6,099 rows from flights, 30 windows fired, in 0.041 seconds
//! 5,403 rows came too late and were left out: all their windows had fired; a watermark delay of 18 hours would have
//! kept them all
//! ```

pub mod words;

use std::fmt::Write;

use tidemark_runtime::summary::{JobSummary, SourceSummary, WindowSummary};
use words::{count, counted, duration_ms};

/// The summary as lines, each with its line end; empty when no source ran. `is_insert` tells a job that writes tables
/// from one that hands its rows to the caller, who can see them.
pub fn describe(summary: &JobSummary, is_insert: bool) -> String {
    let mut text = String::new();
    match &summary.recovery {
        Some(recovery) if recovery.is_complete => {
            let _ = writeln!(text, "nothing to do: the job had ended with checkpoint {}", recovery.checkpoint);
        }
        Some(recovery) => {
            let _ = writeln!(text, "went on from checkpoint {}", recovery.checkpoint);
        }
        None => {}
    }
    if summary.sources.is_empty() {
        return text;
    }
    push_headline(&mut text, summary, is_insert);
    for source in summary.sources.iter().filter(|s| s.unreadable_rows > 0) {
        push_unreadable(&mut text, source);
    }
    if summary.null_rowtime_rows > 0 {
        let rows = counted(summary.null_rowtime_rows, "row", "rows");
        let _ = writeln!(text, "{rows} had no event time (NULL) and {} left out", were(summary.null_rowtime_rows));
    }
    for window in summary.windows.iter().filter(|w| w.late_rows > 0) {
        push_late(&mut text, window, summary.windows.len() > 1);
    }
    text
}

fn push_headline(text: &mut String, summary: &JobSummary, is_insert: bool) {
    text.push_str("read ");
    for (i, source) in summary.sources.iter().enumerate() {
        text.push_str(if i > 0 { ", " } else { "" });
        let _ = write!(text, "{} from {}", counted(source.rows, "row", "rows"), source.table);
    }
    if summary.windows.iter().any(has_windows) {
        let fired = summary.windows.iter().map(|w| w.windows_fired).sum();
        let _ = write!(text, ", {} fired", counted(fired, "window", "windows"));
    }
    if is_insert {
        let _ = write!(text, ", wrote {}", counted(summary.rows_out, "row", "rows"));
    }
    let elapsed_ms = u64::try_from(summary.elapsed.as_millis()).unwrap_or(u64::MAX);
    let _ = writeln!(text, ", in {}", duration_ms(elapsed_ms));
}

fn push_unreadable(text: &mut String, source: &SourceSummary) {
    let rows = counted(source.unreadable_rows, "row", "rows");
    let _ =
        writeln!(text, "{rows} of {} could not be read and {} left out:", source.table, were(source.unreadable_rows));
    for example in &source.examples {
        let _ = writeln!(text, "  {example}");
    }
    let more = source.unreadable_rows.saturating_sub(source.examples.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "  and {} more", count(more));
    }
}

/// Says how many rows were late and which delay would have kept them. The delay that would have put every row in
/// order is named first; long windows are content with less, which is said when it is much less.
fn push_late(text: &mut String, window: &WindowSummary, is_one_of_several: bool) {
    let rows = counted(window.late_rows, "row", "rows");
    let place = if is_one_of_several { format!(" for {}", window.uid) } else { String::new() };
    let _ = write!(text, "{rows} came too late{place} and {} left out", were(window.late_rows));
    let _ = match kind_of(window) {
        "sort" => write!(text, ": later rows had been put out in order already"),
        "match-recognize" => write!(text, ": later rows had been matched in order already"),
        "interval-join" => write!(text, ": the rows that could match had been let go"),
        _ => write!(text, ": all {} windows had fired", if window.late_rows == 1 { "its" } else { "their" }),
    };
    let kept = if window.late_rows == 1 { "it" } else { "them all" };
    let for_order = window.sufficient_delay_ms.and_then(|ms| u64::try_from(ms).ok());
    let for_windows = window.sufficient_window_delay_ms.and_then(|ms| u64::try_from(ms).ok());
    if let Some(delay) = for_order.max(for_windows) {
        let _ = write!(text, "; a watermark delay of {} would have kept {kept}", duration_ms(delay));
        if let Some(less) = for_windows.filter(|less| less.saturating_mul(2) < delay) {
            let what = if kind_of(window) == "interval-join" { "this join" } else { "these windows" };
            let _ = write!(text, ", and so would {} for {what}", duration_ms(less));
        }
    }
    text.push('\n');
}

/// Operators that take rows in order of event time leave out late rows too, but have no windows.
fn has_windows(operator: &WindowSummary) -> bool {
    !matches!(kind_of(operator), "sort" | "match-recognize" | "interval-join")
}

/// The uid without the table before it and the number behind it.
fn kind_of(operator: &WindowSummary) -> &str {
    let own = operator.uid.rsplit_once('/').map_or(operator.uid.as_str(), |(_, own)| own);
    own.rsplit_once('-').map_or(own, |(kind, _)| kind)
}

fn were(rows: u64) -> &'static str {
    if rows == 1 { "was" } else { "were" }
}

#[cfg(test)]
mod tests;
