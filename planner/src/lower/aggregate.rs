//! GROUP BY and DISTINCT: over a window when the keys name one, otherwise an updating result.
//!
//! Two shapes of windowed aggregate:
//! - directly above a window function, whose rows are then never multiplied: the operator assigns slices itself;
//! - over columns that already are a window's bounds (the result of an earlier window, or a window function with
//!   something in between that reads its columns): the operator reads the bounds from the row.

pub(super) mod arguments;
mod grouping;

use std::sync::Arc;

use arguments::Arguments;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, TimeUnit};
use datafusion_expr::{Aggregate, Expr, ExprSchemable, LogicalPlan};
use grouping::Grouping;
use tidemark_parser::{Diagnostic, Span};

use super::attribute::Attribute;
use super::expression::sql_text;
use super::scan::strip_to_window;
use super::{Lowered, Lowering, Reason, Relation};
use crate::changelog::ChangelogMode;
use crate::codes::UNBOUNDED_STATE;
use crate::logical::window_tvf::{WINDOW_END, WINDOW_START, WINDOW_TIME, WindowTvf};
use crate::stream_plan::{
    AggregateCall, Distribution, GroupAggregateNode, GroupingSet, NodeKind, TimeWindow, WindowAggregateNode,
    WindowAssignment, WindowColumn,
};

/// What a key column of a windowed aggregate is.
#[derive(Clone, Copy, PartialEq)]
enum KeyRole {
    Key,
    Window(WindowColumn),
}

/// How rows find their windows, and what the time of the result is.
type AssignedWindow = (WindowAssignment, Attribute);

impl Lowering<'_> {
    pub(super) fn aggregate(&mut self, aggregate: &Aggregate) -> Lowered<Relation> {
        let grouping = self.grouping(aggregate)?;
        self.lower_grouping(&aggregate.input, &grouping)
    }

    pub(super) fn distinct(&mut self, input: &LogicalPlan) -> Lowered<Relation> {
        let keys = input.schema().columns().into_iter().map(Expr::Column).collect();
        let grouping = Grouping { keys, sets: vec![], calls: vec![], schema: Arc::clone(input.schema()) };
        self.lower_grouping(input, &grouping)
    }

    fn lower_grouping(&mut self, input: &LogicalPlan, grouping: &Grouping) -> Lowered<Relation> {
        if let Some(fused) = self.fused_window(input, grouping)? {
            return Ok(fused);
        }
        let relation = self.lower(input)?;
        if !self.is_append(&relation) {
            return self.unsupported("an aggregate over an updating result (GROUP BY over GROUP BY)");
        }
        match self.attached_window(&relation, grouping)? {
            Some((window, roles)) => {
                self.window_aggregate(relation, window, grouping, &grouping.keys, &grouping.calls, &roles, vec![])
            }
            None => self.group_aggregate(relation, grouping),
        }
    }

    /// The window function right below, when keys and calls read its columns as bare keys only.
    fn fused_window(&mut self, input: &LogicalPlan, grouping: &Grouping) -> Lowered<Option<Relation>> {
        let exprs = grouping.keys.iter().chain(&grouping.calls).cloned().collect();
        let Some((tvf, mut exprs, predicates)) = strip_to_window(input, exprs) else { return Ok(None) };
        let calls = exprs.split_off(grouping.keys.len());
        let keys = exprs;
        let roles: Vec<KeyRole> = keys.iter().map(|k| role_in(tvf, k)).collect();
        let has = |column| roles.contains(&KeyRole::Window(column));
        let plain_keys = keys.iter().zip(&roles).filter(|(_, r)| **r == KeyRole::Key).map(|(k, _)| k);
        let reads_window = plain_keys.chain(&calls).chain(&predicates).any(|e| reads_window_columns(tvf, e));
        if !has(WindowColumn::Start) || !has(WindowColumn::End) || reads_window || !sets_keep_window(grouping, &roles) {
            return Ok(None);
        }
        if tvf.kind.is_session()
            && !(predicates.is_empty() && grouping.sets.is_empty() && is_partition(tvf, &keys, &roles))
        {
            return Ok(None);
        }
        let relation = self.lower(&tvf.input)?;
        if !self.is_append(&relation) {
            return self.unsupported("a window over an updating input");
        }
        let (window, time) = self.time_window(tvf, &relation)?;
        let assignment = WindowAssignment::Time(window);
        self.window_aggregate(relation, (assignment, time), grouping, &keys, &calls, &roles, predicates).map(Some)
    }

    /// Keys that are the bounds of a window assigned earlier.
    fn attached_window(
        &mut self,
        relation: &Relation,
        grouping: &Grouping,
    ) -> Lowered<Option<(AssignedWindow, Vec<KeyRole>)>> {
        let attributes: Vec<Attribute> =
            grouping.keys.iter().map(|k| Attribute::of_expr(k, &relation.schema, &relation.attributes)).collect();
        let role = |a: &Attribute| match a {
            Attribute::WindowStart { .. } => KeyRole::Window(WindowColumn::Start),
            Attribute::WindowEnd { .. } => KeyRole::Window(WindowColumn::End),
            _ => KeyRole::Key,
        };
        let roles: Vec<KeyRole> = attributes.iter().map(role).collect();
        let place = |column| roles.iter().position(|r| *r == KeyRole::Window(column));
        let (start, end) = match (place(WindowColumn::Start), place(WindowColumn::End)) {
            (Some(start), Some(end)) => (start, end),
            (None, None) => return Ok(None),
            _ => {
                self.warnings.push(
                    Diagnostic::warning(UNBOUNDED_STATE, "grouping by only one bound of the window makes an updating result whose state is never dropped")
                        .at(self.span_of_bound(&grouping.keys, &attributes))
                        .help("group by both window_start and window_end"),
                );
                return Ok(None);
            }
        };
        if !sets_keep_window(grouping, &roles) {
            return self.unsupported("GROUPING SETS of which some leave out the window");
        }
        // The result of a processing-time window has no event time to close the next one by.
        if !relation.attributes.contains(&Attribute::Rowtime) && relation.attributes.contains(&Attribute::Proctime) {
            return self.unsupported("an aggregate over the windows of processing time");
        }
        let column = |key: usize| match grouping.keys[key].clone().unalias() {
            Expr::Column(c) => relation.schema.index_of_column(&c).ok().map(|i| relation.columns[i]),
            _ => None,
        };
        let (Some(start_column), Some(end_column)) = (column(start), column(end)) else { return Ok(None) };
        let zone = match &attributes[end] {
            Attribute::WindowEnd { zone } => zone.clone(),
            _ => None,
        };
        let assignment = WindowAssignment::Attached { start: start_column, end: end_column, zone };
        Ok(Some(((assignment, Attribute::Rowtime), roles)))
    }

    /// Where GROUP BY names the only bound of a window that it names.
    fn span_of_bound(&self, keys: &[Expr], attributes: &[Attribute]) -> Option<Span> {
        let is_bound = |a: &Attribute| matches!(a, Attribute::WindowStart { .. } | Attribute::WindowEnd { .. });
        let key = keys.iter().zip(attributes).find(|(_, a)| is_bound(a)).map(|(key, _)| key)?;
        let name = key.clone().unalias();
        let of_name = name.try_as_col().and_then(|column| self.group_places.get(&column.name).copied());
        of_name.or_else(|| self.span_of_expr(key))
    }

    #[allow(clippy::too_many_arguments)]
    fn window_aggregate(
        &mut self,
        input: Relation,
        (window, time): AssignedWindow,
        grouping: &Grouping,
        keys: &[Expr],
        calls: &[Expr],
        roles: &[KeyRole],
        predicates: Vec<Expr>,
    ) -> Lowered<Relation> {
        let calls = self.calls(calls, grouping)?;
        let mut args = Arguments::new(&input);
        // The time or window columns come first, so that their place is known whatever the keys are.
        let window = match window {
            WindowAssignment::Time(w) => {
                WindowAssignment::Time(TimeWindow { time_column: w.time_column.map(|c| args.keep(c)), ..w })
            }
            WindowAssignment::Attached { start, end, zone } => {
                WindowAssignment::Attached { start: args.keep(start), end: args.keep(end), zone }
            }
        };
        let plain: Vec<usize> = (0..keys.len()).filter(|i| roles[*i] == KeyRole::Key).collect();
        let key_columns: Vec<usize> = plain.iter().map(|i| args.add(&keys[*i])).collect();
        let aggregates = calls.into_iter().map(|c| args.call(c)).collect::<Vec<_>>();
        let sets: Vec<GroupingSet> = grouping
            .sets
            .iter()
            .map(|s| GroupingSet { present: plain.iter().map(|i| s.present[*i]).collect(), id: s.id })
            .collect();
        let mut window_columns: Vec<WindowColumn> = vec![];
        for role in roles {
            if let KeyRole::Window(column) = role
                && !window_columns.contains(column)
            {
                window_columns.push(*column);
            }
        }
        if !window_columns.contains(&WindowColumn::Time) {
            window_columns.push(WindowColumn::Time);
        }
        let zone = match &window {
            WindowAssignment::Time(w) => w.zone.clone(),
            WindowAssignment::Attached { zone, .. } => zone.clone(),
        };
        let arguments = self.arguments(&input, args, predicates)?;
        let fields = self.output_fields(grouping, &plain, &aggregates, &window_columns, &zone);
        let distribution = distribution(&key_columns, &sets);
        let node = WindowAggregateNode {
            window,
            keys: key_columns,
            grouping_sets: sets,
            aggregates,
            window_columns: window_columns.clone(),
        };
        let edge = vec![(arguments.node, distribution)];
        let node = self.push("window-aggregate", NodeKind::WindowAggregate(node), edge, Arc::new(Schema::new(fields)));
        // Logical order: the keys as written, the grouping id, the aggregates.
        let id_width = usize::from(grouping.has_sets());
        let call_count = grouping.calls.len();
        let window_base = plain.len() + id_width + call_count;
        let mut columns = vec![];
        let mut attributes = vec![];
        for (index, role) in roles.iter().enumerate() {
            match role {
                KeyRole::Key => {
                    columns.push(plain.iter().position(|p| *p == index).unwrap_or(0));
                    attributes.push(Attribute::None);
                }
                KeyRole::Window(column) => {
                    columns.push(window_base + window_columns.iter().position(|c| c == column).unwrap_or(0));
                    attributes.push(match column {
                        WindowColumn::Start => Attribute::WindowStart { zone: zone.clone() },
                        WindowColumn::End => Attribute::WindowEnd { zone: zone.clone() },
                        WindowColumn::Time => time.clone(),
                    });
                }
            }
        }
        columns.extend(plain.len()..window_base);
        attributes.resize(columns.len(), Attribute::None);
        Ok(Relation {
            node,
            columns,
            attributes,
            schema: Arc::clone(&grouping.schema),
            bounded: input.bounded,
            updating_because: None,
        })
    }

    fn group_aggregate(&mut self, input: Relation, grouping: &Grouping) -> Lowered<Relation> {
        let calls = self.calls(&grouping.calls, grouping)?;
        let mut args = Arguments::new(&input);
        let keys: Vec<usize> = grouping.keys.iter().map(|k| args.add(k)).collect();
        let aggregates: Vec<AggregateCall> = calls.into_iter().map(|c| args.call(c)).collect();
        let span = grouping.keys.iter().chain(&grouping.calls).find_map(|e| self.span_of_expr(e));
        let what = match (grouping.calls.is_empty(), grouping.keys.is_empty()) {
            (true, _) => "DISTINCT without a window",
            (false, true) => "an aggregate without a window",
            (false, false) => "GROUP BY without a window",
        };
        if !input.bounded && !keys.is_empty() {
            self.warnings.push(
                Diagnostic::warning(
                    UNBOUNDED_STATE,
                    format!("{what} on an unbounded input: its state grows with every new key"),
                )
                .at(span)
                .help("group by a window (window_start, window_end of TUMBLE, HOP or CUMULATE)"),
            );
        }
        let arguments = self.arguments(&input, args, vec![])?;
        let plain: Vec<usize> = (0..keys.len()).collect();
        let fields = self.output_fields(grouping, &plain, &aggregates, &[], &None);
        let distribution = distribution(&keys, &grouping.sets);
        let width = keys.len();
        let is_distinct = aggregates.is_empty();
        let node = GroupAggregateNode { keys, grouping_sets: grouping.sets.clone(), aggregates };
        let schema = Arc::new(Schema::new(fields));
        let columns: Vec<usize> = (0..schema.fields().len()).collect();
        let node =
            self.push("group-aggregate", NodeKind::GroupAggregate(node), vec![(arguments.node, distribution)], schema);
        // Without aggregates a key, once seen, never changes: only its first row is emitted.
        let changelog = if is_distinct { ChangelogMode::Append } else { ChangelogMode::Retract };
        self.set_changelog(node, changelog, (0..width + usize::from(grouping.has_sets())).collect());
        Ok(Relation {
            node,
            attributes: vec![Attribute::None; columns.len()],
            columns,
            schema: Arc::clone(&grouping.schema),
            bounded: input.bounded,
            updating_because: (!is_distinct).then_some(Reason { what, span }),
        })
    }

    /// The calc that computes keys, arguments and filters.
    fn arguments(&mut self, input: &Relation, args: Arguments, predicates: Vec<Expr>) -> Lowered<Relation> {
        let predicate = predicates.into_iter().reduce(Expr::and);
        let mut names: Vec<String> = vec![];
        let mut field_of = |expr: &Expr| {
            let text = sql_text(expr);
            let name = if names.contains(&text) { format!("{text}#{}", names.len()) } else { text };
            names.push(name.clone());
            expr.to_field(&input.schema).map(|(_, f)| (None, Arc::new(f.as_ref().clone().with_name(name))))
        };
        let fields: Result<Vec<_>, _> = args.exprs.iter().map(&mut field_of).collect();
        let schema = fields.and_then(|f| datafusion_common::DFSchema::new_with_metadata(f, Default::default()));
        let schema = schema.map_err(|e| self.finding(e))?;
        let relation = self.calc(input.clone(), predicate.as_ref(), &args.exprs, &Arc::new(schema))?;
        self.materialise(relation)
    }

    fn output_fields(
        &self,
        grouping: &Grouping,
        plain: &[usize],
        aggregates: &[AggregateCall],
        window_columns: &[WindowColumn],
        zone: &Option<String>,
    ) -> Vec<FieldRef> {
        let mut fields: Vec<FieldRef> = plain.iter().map(|i| Arc::clone(&grouping.schema.fields()[*i])).collect();
        if grouping.has_sets() {
            fields.push(Arc::clone(&grouping.schema.fields()[grouping.keys.len()]));
        }
        fields.extend(aggregates.iter().map(|a| Arc::clone(&a.field)));
        let wall = DataType::Timestamp(TimeUnit::Millisecond, None);
        let instant = DataType::Timestamp(TimeUnit::Millisecond, zone.as_deref().map(Arc::from));
        fields.extend(window_columns.iter().map(|c| {
            let (name, data_type) = match c {
                WindowColumn::Start => (WINDOW_START, wall.clone()),
                WindowColumn::End => (WINDOW_END, wall.clone()),
                WindowColumn::Time => (WINDOW_TIME, instant.clone()),
            };
            Arc::new(Field::new(name, data_type, false))
        }));
        fields
    }
}

fn role_in(tvf: &WindowTvf, key: &Expr) -> KeyRole {
    match window_column(tvf, key) {
        Some(0) => KeyRole::Window(WindowColumn::Start),
        Some(1) => KeyRole::Window(WindowColumn::End),
        Some(2) => KeyRole::Window(WindowColumn::Time),
        _ => KeyRole::Key,
    }
}

/// Which of the three window columns of `tvf` the expression is.
fn window_column(tvf: &WindowTvf, expr: &Expr) -> Option<usize> {
    let Expr::Column(column) = expr.clone().unalias() else { return None };
    let index = datafusion_expr::UserDefinedLogicalNodeCore::schema(tvf).index_of_column(&column).ok()?;
    index.checked_sub(tvf.input_width())
}

/// Are the keys beside the window's own columns those that the sessions are of?
fn is_partition(tvf: &WindowTvf, keys: &[Expr], roles: &[KeyRole]) -> bool {
    let plain = keys.iter().zip(roles).filter(|(_, role)| **role == KeyRole::Key);
    let plain: Vec<Expr> = plain.map(|(key, _)| key.clone().unalias()).collect();
    tvf.partition.iter().all(|p| plain.contains(p)) && plain.iter().all(|k| tvf.partition.contains(k))
}

fn reads_window_columns(tvf: &WindowTvf, expr: &Expr) -> bool {
    expr.column_refs().into_iter().any(|c| window_column(tvf, &Expr::Column(c.clone())).is_some())
}

fn sets_keep_window(grouping: &Grouping, roles: &[KeyRole]) -> bool {
    let window_keys: Vec<usize> = (0..roles.len()).filter(|i| roles[*i] != KeyRole::Key).collect();
    grouping.sets.iter().all(|s| window_keys.iter().all(|i| s.present[*i]))
}

/// Rows of one group must meet in one subtask; a row of several grouping sets belongs to groups of different keys.
fn distribution(keys: &[usize], sets: &[GroupingSet]) -> Distribution {
    if keys.is_empty() || !sets.is_empty() { Distribution::Single } else { Distribution::Hash(keys.to_vec()) }
}
