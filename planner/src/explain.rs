//! Plans as text.

mod match_recognize;

use std::fmt::Write;

use crate::planner::Planned;
use crate::stream_plan::{
    AggregateCall, CalcNode, Distribution, GroupingSet, JoinBound, JoinNode, NodeId, NodeKind, SortNode, StreamNode,
    StreamPlan, TimeWindow, WindowAssignment, spell_ms,
};
use match_recognize::{match_details, match_properties};

impl Planned {
    /// The logical plan, the stream plan and the job graph, as `EXPLAIN` shows them.
    pub fn explain(&self) -> String {
        let mut text = String::from("== Logical plan ==\n");
        for plan in &self.logical {
            let _ = writeln!(text, "{}", plan.display_indent());
        }
        text.push_str("\n== Stream plan ==\n");
        for root in roots(&self.graph.plan) {
            write_tree(&self.graph.plan, root, 0, &mut text);
        }
        text.push_str("\n== Job graph ==\n");
        for vertex in &self.graph.vertices {
            let _ = writeln!(text, "vertex {}: {} (parallelism {})", vertex.id.0 + 1, vertex.name, vertex.parallelism);
            for edge in &vertex.inputs {
                let producer = &self.graph.vertices[edge.from.0];
                let schema = producer.chain.last().map(|n| self.graph.plan.node(*n));
                let how = schema.map_or_else(String::new, |n| spell_distribution(&edge.distribution, n));
                let _ = writeln!(text, "  from vertex {}: {how}", edge.from.0 + 1);
            }
        }
        text
    }
}

/// Nodes nobody reads: the sinks.
fn roots(plan: &StreamPlan) -> Vec<NodeId> {
    let read: Vec<NodeId> = plan.nodes.iter().flat_map(|n| n.inputs.clone()).collect();
    plan.nodes.iter().map(|n| n.id).filter(|id| !read.contains(id)).collect()
}

fn write_tree(plan: &StreamPlan, id: NodeId, depth: usize, text: &mut String) {
    let node = plan.node(id);
    let _ = write!(text, "{}{}", "  ".repeat(depth), node.uid);
    let details = details(plan, node);
    if !details.is_empty() {
        let _ = write!(text, ": {details}");
    }
    let _ = writeln!(text, " [{}]", properties(plan, node));
    for input in &node.inputs {
        write_tree(plan, *input, depth + 1, text);
    }
}

/// Changelog mode, key, state: what matters about any node.
fn properties(plan: &StreamPlan, node: &StreamNode) -> String {
    let mut parts = vec![format!("changelog={}", node.changelog)];
    if !node.upsert_key.is_empty() {
        parts.push(format!("upsert key=({})", names(node, &node.upsert_key)));
    }
    let waits = match &node.kind {
        NodeKind::WindowAggregate(_) | NodeKind::Sort(_) | NodeKind::Union | NodeKind::MatchRecognize(_) => true,
        NodeKind::WindowTvf(tvf) => tvf.window.kind.is_session(),
        NodeKind::Join(join) => join.bound != JoinBound::None,
        _ => false,
    };
    if let (true, Some(watermark)) = (waits, watermark_of(plan, node)) {
        parts.push(format!("watermark={watermark}"));
    }
    match &node.kind {
        NodeKind::WindowTvf(tvf) if tvf.window.kind.is_session() => {
            parts.push("state=rows, until the watermark passes their session's end".into());
        }
        NodeKind::WindowAggregate(_) => parts.push("state=until the watermark passes the window's end".into()),
        NodeKind::GroupAggregate(_) => parts.push("state=one row a key, kept for ever".into()),
        NodeKind::MatchRecognize(m) => parts.extend(match_properties(m)),
        NodeKind::Join(j) => parts.push(format!("state={}", join_state(j))),
        NodeKind::Sort(s) if s.by_watermark => parts.push("state=rows ahead of the watermark".into()),
        NodeKind::Sort(_) => parts.push("state=all rows, until the input ends".into()),
        _ => {}
    }
    parts.join(", ")
}

/// The watermark expressions that reach the node.
fn watermark_of(plan: &StreamPlan, node: &StreamNode) -> Option<String> {
    let mut found: Vec<String> = vec![];
    let mut open = vec![node.id];
    while let Some(id) = open.pop() {
        let node = plan.node(id);
        match &node.kind {
            NodeKind::WatermarkAssigner(w) => {
                let text = format!("{}.{} AS {}", w.table, w.rowtime_name, w.expr.text);
                if !found.contains(&text) {
                    found.push(text);
                }
            }
            _ => open.extend(&node.inputs),
        }
    }
    (!found.is_empty()).then(|| if found.len() == 1 { found.remove(0) } else { format!("min({})", found.join("; ")) })
}

fn input<'p>(plan: &'p StreamPlan, node: &StreamNode) -> Option<&'p StreamNode> {
    node.inputs.first().map(|id| plan.node(*id))
}

fn names(node: &StreamNode, columns: &[usize]) -> String {
    columns.iter().map(|c| node.schema.field(*c).name().as_str()).collect::<Vec<_>>().join(", ")
}

fn details(plan: &StreamPlan, node: &StreamNode) -> String {
    let below = input(plan, node).unwrap_or(node);
    match &node.kind {
        NodeKind::Source(s) => {
            let columns: Vec<&str> = node.schema.fields().iter().map(|f| f.name().as_str()).collect();
            let end = if s.bounded { "bounded" } else { "unbounded" };
            format!("`{}` ({}), {end}, columns ({})", s.table.name, s.table.connector(), columns.join(", "))
        }
        NodeKind::Values { rows } => format!("{} rows", rows.num_rows()),
        NodeKind::WatermarkAssigner(w) => {
            let idle = w.idle_timeout_ms.map_or_else(String::new, |ms| format!(", idle after {}", spell_ms(ms as i64)));
            format!("{} AS {}{idle}", w.rowtime_name, w.expr.text)
        }
        NodeKind::Calc(c) => calc_details(c),
        NodeKind::WindowTvf(w) if w.partition.is_empty() => spell_window(&w.window, below),
        NodeKind::WindowTvf(w) => format!("{}, keys ({})", spell_window(&w.window, below), names(below, &w.partition)),
        NodeKind::WindowAggregate(w) => {
            let window = match &w.window {
                WindowAssignment::Time(window) => spell_window(window, below),
                WindowAssignment::Attached { start, end, .. } => {
                    format!("the window of ({})", names(below, &[*start, *end]))
                }
            };
            format!("{window}, {}", spell_groups(&w.keys, &w.grouping_sets, &w.aggregates, below))
        }
        NodeKind::GroupAggregate(g) => spell_groups(&g.keys, &g.grouping_sets, &g.aggregates, below),
        NodeKind::MatchRecognize(m) => match_details(m, below),
        NodeKind::Join(j) => join_details(plan, j, node),
        NodeKind::Union | NodeKind::Collect => String::new(),
        NodeKind::Sort(s) => sort_details(s, node),
        NodeKind::Limit { offset, fetch } => spell_range(*offset, *fetch),
        NodeKind::Sink(s) => format!("`{}` ({})", s.table.name, s.table.connector()),
    }
}

fn calc_details(calc: &CalcNode) -> String {
    let columns: Vec<String> = calc
        .projection
        .iter()
        .map(|e| if e.text == *e.field.name() { e.text.clone() } else { format!("{} AS {}", e.text, e.field.name()) })
        .collect();
    let filter = calc.predicate.as_ref().map_or_else(String::new, |p| format!(" where {}", p.text));
    format!("select {}{filter}", columns.join(", "))
}

fn join_state(join: &JoinNode) -> String {
    let by_bound = match &join.bound {
        JoinBound::None => "all rows of both inputs, kept for ever",
        JoinBound::Interval { .. } => "rows until the watermark passes what they could match",
        JoinBound::Window { .. } => "rows until the watermark passes the window's end",
    };
    by_bound.into()
}

fn join_details(plan: &StreamPlan, join: &JoinNode, node: &StreamNode) -> String {
    let inputs: Vec<&StreamNode> = node.inputs.iter().map(|id| plan.node(*id)).collect();
    let name = |side: usize, column: usize| inputs[side].schema.field(column).name().as_str();
    let key = |((left, right), null_safe): ((&usize, &usize), &bool)| {
        let op = if *null_safe { "IS NOT DISTINCT FROM" } else { "=" };
        format!("{} {op} {}", name(0, *left), name(1, *right))
    };
    let [left, right] = &join.sides;
    let keys: Vec<String> = left.keys.iter().zip(&right.keys).zip(&join.null_safe).map(key).collect();
    let mut text = join.join_type.name().to_owned();
    match &join.bound {
        JoinBound::None => {}
        JoinBound::Window { .. } => text.push_str(" of windows"),
        JoinBound::Interval { times: [l, r], lower_ms, upper_ms } => {
            let (lower, upper) = (spell_ms(*lower_ms), spell_ms(*upper_ms));
            let _ = write!(text, " within {lower} <= left {} - right {} <= {upper}", name(0, *l), name(1, *r));
        }
    }
    let on = if keys.is_empty() { "without a key".to_owned() } else { format!("on {}", keys.join(" and ")) };
    let _ = write!(text, ", {on}");
    if let Some(condition) = &join.condition {
        let _ = write!(text, ", where {}", condition.expr.text);
    }
    text
}

fn sort_details(sort: &SortNode, node: &StreamNode) -> String {
    let key = |k: &crate::stream_plan::SortKey| {
        let direction = if k.descending { " DESC" } else { "" };
        format!("{}{direction}", node.schema.field(k.column).name())
    };
    let keys: Vec<String> = sort.keys.iter().map(key).collect();
    let when = if sort.by_watermark { "as the watermark advances" } else { "when the input ends" };
    let range = spell_range(sort.offset, sort.fetch);
    let range = if range.is_empty() { range } else { format!(", {range}") };
    format!("by ({}) {when}{range}", keys.join(", "))
}

fn spell_range(offset: u64, fetch: Option<u64>) -> String {
    let fetch = fetch.map(|n| format!("the first {n} rows"));
    let skip = (offset > 0).then(|| format!("after skipping {offset}"));
    fetch.into_iter().chain(skip).collect::<Vec<_>>().join(" ")
}

fn spell_window(window: &TimeWindow, input: &StreamNode) -> String {
    let time = window.time_column.map_or("processing time", |c| input.schema.field(c).name().as_str());
    let zone = window.zone.as_ref().map_or_else(String::new, |z| format!(" in {z}"));
    format!("{} on {time}{zone}", window.kind)
}

fn spell_groups(keys: &[usize], sets: &[GroupingSet], calls: &[AggregateCall], input: &StreamNode) -> String {
    let set = |s: &GroupingSet| {
        let present: Vec<usize> = keys.iter().zip(&s.present).filter(|(_, p)| **p).map(|(k, _)| *k).collect();
        format!("({})", names(input, &present))
    };
    let keys = match sets.is_empty() {
        true => format!("keys ({})", names(input, keys)),
        false => format!("grouping sets ({})", sets.iter().map(set).collect::<Vec<_>>().join(", ")),
    };
    let calls: Vec<&str> = calls.iter().map(|c| c.text.as_str()).collect();
    format!("{keys}, aggregates ({})", calls.join(", "))
}

fn spell_distribution(distribution: &Distribution, producer: &StreamNode) -> String {
    match distribution {
        Distribution::Forward => "forward".into(),
        Distribution::Single => "all to one subtask".into(),
        Distribution::Hash(columns) => format!("by key group of ({})", names(producer, columns)),
    }
}
