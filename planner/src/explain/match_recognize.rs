//! A pattern's plan as text: what is matched, what it keeps, and what releases a match.

use crate::stream_plan::match_recognize::{MatchExpr, MatchRecognizeNode, MatchRows, MatchSkip};
use crate::stream_plan::{StreamNode, spell_ms};

/// `by (k) order (ts) pattern (A B+), …`
pub(super) fn match_details(node: &MatchRecognizeNode, input: &StreamNode) -> String {
    let mut parts = vec![];
    if !node.partition_by.is_empty() {
        parts.push(format!("by ({})", super::names(input, &node.partition_by)));
    }
    let key = |key: &crate::stream_plan::SortKey| {
        let direction = if key.descending { " DESC" } else { "" };
        format!("{}{direction}", input.schema.field(key.column).name())
    };
    parts.push(format!("order ({})", node.order_by.iter().map(key).collect::<Vec<_>>().join(", ")));
    let within = node.within_ms.map_or_else(String::new, |ms| format!(" within {}", spell_ms(ms)));
    parts.push(format!("pattern ({}){within}", node.pattern.display(&node.variables)));
    let mut define = vec![];
    for variable in &node.variables {
        let texts: Vec<&str> = variable.row.iter().chain(&variable.path).map(|e| e.expr.text.as_str()).collect();
        if !texts.is_empty() {
            let walks = if variable.path.is_some() { " (per match)" } else { "" };
            define.push(format!("{} AS {}{walks}", variable.name, texts.join(" AND ")));
        }
    }
    if !define.is_empty() {
        parts.push(format!("define ({})", define.join(", ")));
    }
    let measure = |m: &MatchExpr| format!("{} AS {}", m.expr.text, m.expr.field.name());
    parts.push(format!("measures ({})", node.measures.iter().map(measure).collect::<Vec<_>>().join(", ")));
    parts.push(rows_text(node.rows).into());
    parts.push(skip_text(&node.skip));
    parts.join(", ")
}

/// What it keeps, and what releases a match.
pub(super) fn match_properties(node: &MatchRecognizeNode) -> Vec<String> {
    let end = "the input ends";
    let bound = node.within_ms.map(|ms| format!("the watermark is {} past its first row", spell_ms(ms)));
    let mut ends: Vec<String> = vec![];
    if node.pattern.may_grow() {
        ends.push("a row cannot continue it".into());
        ends.extend(bound.clone());
        ends.push(end.into());
    }
    let (last, rest) = match ends.split_last() {
        Some((last, rest)) => (last.clone(), rest.join(", ")),
        None => ("its last row has come and nothing that is preferred is open".into(), String::new()),
    };
    let release = if rest.is_empty() { last } else { format!("{rest} or {last}") };
    let state = match bound {
        _ if !node.by_watermark => "all rows, until the input ends".into(),
        Some(_) => format!("rows of open matches, at most {}", spell_ms(node.within_ms.unwrap_or(0))),
        None => "rows of open matches, without limit".to_string(),
    };
    vec![format!("a match leaves when {release}"), format!("state={state}")]
}

fn rows_text(rows: MatchRows) -> &'static str {
    match rows {
        MatchRows::One => "one row per match",
        MatchRows::All { with_unmatched: true, .. } => "all rows per match with unmatched rows",
        MatchRows::All { show_empty: true, .. } => "all rows per match",
        MatchRows::All { .. } => "all rows per match without empty matches",
    }
}

fn skip_text(skip: &MatchSkip) -> String {
    match skip {
        MatchSkip::PastLastRow => "skip past last row".into(),
        MatchSkip::ToNextRow => "skip to next row".into(),
        MatchSkip::ToVariable { to_last: true, name, .. } => format!("skip to last {name}"),
        MatchSkip::ToVariable { name, .. } => format!("skip to first {name}"),
    }
}
