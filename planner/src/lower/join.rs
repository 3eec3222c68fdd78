//! Joins: regular ones keep both inputs, interval and window joins keep what event time may still need.
//!
//! A join is an interval join when its condition bounds the difference of two event times on both sides, a window
//! join when it equates both bounds of the windows of both inputs; either only over inputs that never take rows back.

mod condition;
mod interval;
mod side;

use std::sync::Arc;

use arrow::datatypes::{Field, FieldRef, Schema};
use datafusion_expr::{Expr, Join, JoinType as LogicalJoinType, LogicalPlan};
use tidemark_parser::Diagnostic;

use super::attribute::Attribute;
use super::{Lowered, Lowering, Reason, Relation};
use crate::changelog::ChangelogMode;
use crate::codes::{UNBOUNDED_STATE, UNSUPPORTED};
use crate::stream_plan::{Distribution, JoinBound, JoinNode, JoinType, NodeId, NodeKind, WindowAssignment};
use condition::{Condition, KeyPair};
use side::Side;

/// The type, and whether the inputs change places.
fn join_type(join: &Join) -> Option<(JoinType, bool)> {
    Some(match join.join_type {
        LogicalJoinType::Inner => (JoinType::Inner, false),
        LogicalJoinType::Left => (JoinType::Left, false),
        LogicalJoinType::Right => (JoinType::Right, false),
        LogicalJoinType::Full => (JoinType::Full, false),
        LogicalJoinType::LeftSemi => (JoinType::Semi, false),
        LogicalJoinType::RightSemi => (JoinType::Semi, true),
        LogicalJoinType::LeftAnti => (JoinType::Anti, false),
        LogicalJoinType::RightAnti => (JoinType::Anti, true),
        LogicalJoinType::LeftMark | LogicalJoinType::RightMark => return None,
    })
}

impl Lowering<'_> {
    pub(super) fn join(&mut self, join: &Join) -> Lowered<Relation> {
        let Some((join_type, swapped)) = join_type(join) else {
            return self.unsupported("IN or EXISTS with a subquery inside OR");
        };
        let inputs: [&LogicalPlan; 2] = if swapped { [&join.right, &join.left] } else { [&join.left, &join.right] };
        let relations = [self.lower(inputs[0])?, self.lower(inputs[1])?];
        let mut condition = Condition::split(join, swapped, [&relations[0].schema, &relations[1].schema])
            .map_err(|e| self.finding(e))?;
        if join.null_aware {
            self.make_null_aware(&mut condition, &relations)?;
        }
        let append = relations.iter().all(|r| self.is_append(r));
        let is_window = append && self.is_window_join(&condition.keys, &relations)?;
        let interval = (append && !is_window).then(|| condition.take_interval(&relations)).flatten();
        let bounded_in_time = is_window || interval.is_some();
        let span = condition.exprs().find_map(|e| self.span_of_expr(e));
        if !bounded_in_time {
            self.check_state(&condition, &relations, span)?;
        }
        let is_bounded = relations.iter().all(|r| r.bounded);
        let reason = relations.iter().find_map(|r| r.updating_because.clone());

        let output = [true, !matches!(join_type, JoinType::Semi | JoinType::Anti)];
        let [left, right] = relations;
        let (left_keys, right_keys) = condition.typed_keys().map_err(|e| self.finding(e))?.into_iter().unzip();
        let left = self.join_side(left, left_keys, output[0], &condition.residual)?;
        let right = self.join_side(right, right_keys, output[1], &condition.residual)?;
        let sides = [left, right];
        let bound = match (is_window, interval) {
            (true, _) => window_bound(&condition.keys, &sides),
            (false, Some(interval)) => JoinBound::Interval {
                times: [0, 1].map(|s| sides[s].relation.columns[interval.times[s]]),
                lower_ms: interval.lower_ms,
                upper_ms: interval.upper_ms,
            },
            (false, None) => JoinBound::None,
        };
        let changelog = match join_type {
            _ if bounded_in_time => ChangelogMode::Append,
            JoinType::Inner if append => ChangelogMode::Append,
            _ => ChangelogMode::Retract,
        };
        let upsert_key = if changelog.is_append() { vec![] } else { self.join_key(join_type, &sides) };
        let node = self.join_node(join, join_type, &condition, &sides, bound)?;
        self.set_changelog(node, changelog, upsert_key);
        let attributes = attributes(join_type, bounded_in_time, &sides);
        let reason = reason.or(Some(Reason { what: what_of(join_type), span }));
        Ok(Relation {
            node,
            columns: (0..attributes.len()).collect(),
            attributes,
            schema: Arc::clone(&join.schema),
            bounded: is_bounded,
            updating_because: reason.filter(|_| !changelog.is_append()),
        })
    }

    fn join_node(
        &mut self,
        join: &Join,
        join_type: JoinType,
        condition: &Condition,
        sides: &[Side; 2],
        bound: JoinBound,
    ) -> Lowered<NodeId> {
        let compiled = self.join_condition(&condition.residual, sides)?;
        let fields = sides.iter().flat_map(|side| {
            let schema = self.schema_of(side.relation.node);
            side.node.columns[..side.node.output].iter().map(move |c| schema.field(*c).clone()).collect::<Vec<Field>>()
        });
        // Names and nullability are those of the logical join: an outer join pads with NULL.
        let fields = fields.zip(join.schema.fields()).map(|(field, logical)| {
            Arc::new(field.with_name(logical.name()).with_nullable(logical.is_nullable())) as FieldRef
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let edge = |side: &Side| {
            let distribution = match side.node.keys.is_empty() {
                true => Distribution::Single,
                false => Distribution::Hash(side.node.keys.clone()),
            };
            (side.relation.node, distribution)
        };
        let edges = sides.iter().map(edge).collect();
        let name = match bound {
            JoinBound::None => "join",
            JoinBound::Interval { .. } => "interval-join",
            JoinBound::Window { .. } => "window-join",
        };
        let node = JoinNode {
            join_type,
            sides: [sides[0].node.clone(), sides[1].node.clone()],
            null_safe: condition.keys.iter().map(|k| k.null_safe).collect(),
            condition: compiled,
            bound,
        };
        Ok(self.push(name, NodeKind::Join(node), edges, schema))
    }

    /// `x NOT IN (SELECT y …)` is not true as soon as `x` or some `y` is NULL: `x = y` must then be false for every y.
    fn make_null_aware(&self, condition: &mut Condition, relations: &[Relation; 2]) -> Lowered<()> {
        let refuse = |message: &str| {
            Box::new(
                Diagnostic::error(UNSUPPORTED, message)
                    .at(condition.exprs().find_map(|e| self.span_of_expr(e)))
                    .help("use NOT EXISTS, which does not ask whether a value is NULL, or columns that are NOT NULL"),
            )
        };
        if condition.keys.len() + condition.residual.len() != 1 {
            return Err(refuse("NOT IN over columns that can be NULL, in a subquery that reads the outer row"));
        }
        if relations.iter().any(|r| !r.bounded) {
            return Err(refuse("NOT IN over columns that can be NULL cannot be answered on an unbounded input"));
        }
        condition.compare_with_nulls();
        Ok(())
    }

    /// Refuses what would keep and compare everything with everything for ever, and warns of state that only grows.
    fn check_state(
        &mut self,
        condition: &Condition,
        relations: &[Relation; 2],
        span: Option<tidemark_parser::Span>,
    ) -> Lowered<()> {
        if relations.iter().all(|r| r.bounded) {
            return Ok(());
        }
        const WAYS: &str = "bound it in time: `a.ts BETWEEN b.ts - INTERVAL '1' HOUR AND b.ts + INTERVAL '1' HOUR` over \
                            the event times of both, or join windows of both on window_start and window_end";
        if condition.keys.is_empty() && relations.iter().all(|r| !r.bounded) {
            let message = "a join of two unbounded inputs needs a condition that equates columns of both";
            return Err(Box::new(Diagnostic::error(UNSUPPORTED, message).at(span).help(WAYS)));
        }
        let message = "a join over an unbounded input without a bound in time: it keeps every row of both inputs";
        self.warnings.push(Diagnostic::warning(UNBOUNDED_STATE, message).at(span).help(WAYS));
        Ok(())
    }

    /// Do the keys equate both bounds of windows?
    fn is_window_join(&self, keys: &[KeyPair], relations: &[Relation; 2]) -> Lowered<bool> {
        let both = |wanted: fn(&Attribute) -> bool| {
            keys.iter().any(|key| {
                let [left, right] = key.attributes(relations);
                wanted(&left) && left == right
            })
        };
        let found =
            both(|a| matches!(a, Attribute::WindowStart { .. })) && both(|a| matches!(a, Attribute::WindowEnd { .. }));
        if found && relations.iter().any(|r| self.has_processing_time_window(r.node)) {
            return self.unsupported("a join over the windows of processing time");
        }
        Ok(found)
    }

    /// Is there a window of processing time at or above the node? No watermark says when it ends.
    fn has_processing_time_window(&self, node: NodeId) -> bool {
        let node = self.plan.node(node);
        let window = match &node.kind {
            NodeKind::WindowTvf(tvf) => Some(&tvf.window),
            NodeKind::WindowAggregate(aggregate) => match &aggregate.window {
                WindowAssignment::Time(window) => Some(window),
                WindowAssignment::Attached { .. } => None,
            },
            _ => None,
        };
        window.is_some_and(|w| w.time_column.is_none())
            || node.inputs.iter().any(|input| self.has_processing_time_window(*input))
    }

    /// Columns of the output by which its rows can be told apart.
    fn join_key(&self, join_type: JoinType, sides: &[Side; 2]) -> Vec<usize> {
        let key_of = |side: &Side, offset: usize| -> Option<Vec<usize>> {
            let key = &self.plan.node(side.relation.node).upsert_key;
            let place = |k: &usize| side.node.columns[..side.node.output].iter().position(|c| c == k);
            let places: Option<Vec<usize>> = key.iter().map(|k| place(k).map(|p| p + offset)).collect();
            places.filter(|p| !p.is_empty())
        };
        let is_unique = |side: &Side| {
            let key = &self.plan.node(side.relation.node).upsert_key;
            !key.is_empty() && key.iter().all(|k| side.node.keys.contains(k))
        };
        let [left, right] = sides;
        let left_key = key_of(left, 0);
        match join_type {
            JoinType::Semi | JoinType::Anti => left_key.unwrap_or_default(),
            // Each left row meets one right row at most.
            JoinType::Inner | JoinType::Left if is_unique(right) && left_key.is_some() => left_key.unwrap_or_default(),
            JoinType::Inner | JoinType::Left | JoinType::Right => {
                let both = left_key.zip(key_of(right, left.node.output));
                both.map(|(left, right)| [left, right].concat()).unwrap_or_default()
            }
            // A row padded on the left and one padded on the right may look alike.
            JoinType::Full => vec![],
        }
    }
}

fn what_of(join_type: JoinType) -> &'static str {
    match join_type {
        JoinType::Inner => "a join",
        JoinType::Left => "a LEFT JOIN",
        JoinType::Right => "a RIGHT JOIN",
        JoinType::Full => "a FULL JOIN",
        JoinType::Semi => "IN or EXISTS",
        JoinType::Anti => "NOT IN or NOT EXISTS",
    }
}

/// What the output's columns mean for time. A join that is bounded in time keeps event time where it pads nothing; of
/// any other the watermark says nothing, for a match can come at any time.
fn attributes(join_type: JoinType, bounded_in_time: bool, sides: &[Side; 2]) -> Vec<Attribute> {
    let padded = match join_type {
        JoinType::Inner | JoinType::Semi | JoinType::Anti => [false, false],
        JoinType::Left => [false, true],
        JoinType::Right => [true, false],
        JoinType::Full => [true, true],
    };
    let of_side = |(side, padded): (&Side, bool)| {
        let attributes = side.output_attributes();
        attributes.into_iter().map(move |a| if bounded_in_time && !padded { a } else { Attribute::None })
    };
    sides.iter().zip(padded).flat_map(of_side).collect()
}

/// The window columns of both sides: keys whose attributes say so.
fn window_bound(keys: &[KeyPair], sides: &[Side; 2]) -> JoinBound {
    let mut starts = [0; 2];
    let mut ends = [0; 2];
    let mut window_zone = None;
    for (index, key) in keys.iter().enumerate() {
        match key.attribute_of(0, &sides[0].relation) {
            Attribute::WindowStart { .. } => starts = [0, 1].map(|s: usize| sides[s].node.keys[index]),
            Attribute::WindowEnd { zone } => {
                ends = [0, 1].map(|s: usize| sides[s].node.keys[index]);
                window_zone = zone;
            }
            _ => {}
        }
    }
    JoinBound::Window { starts, ends, zone: window_zone }
}

/// Is it a bare column of the relation? Its place there.
fn place_of(expr: &Expr, relation: &Relation) -> Option<usize> {
    match expr.clone().unalias() {
        Expr::Column(column) => relation.schema.index_of_column(&column).ok(),
        _ => None,
    }
}
