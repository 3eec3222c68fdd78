//! ORDER BY and LIMIT on a stream.
//!
//! An order that starts with the ascending time attribute can be given as the watermark advances. Any other order is
//! only known when the input has ended: given for bounded inputs, refused for others.

use std::sync::Arc;

use datafusion_common::DFSchemaRef;
use datafusion_expr::{Expr, FetchType, Limit, LogicalPlan, SkipType, SortExpr};
use tidemark_parser::Diagnostic;

use super::attribute::Attribute;
use super::{Lowered, Lowering, Relation};
use crate::changelog::ChangelogMode;
use crate::codes::{BAD_QUERY, UNBOUNDED_ORDER};
use crate::stream_plan::{Distribution, NodeKind, SortKey, SortNode};

impl Lowering<'_> {
    pub(super) fn limit(&mut self, limit: &Limit) -> Lowered<Relation> {
        let skip = limit.get_skip_type().map_err(|e| self.finding(e))?;
        let fetch = limit.get_fetch_type().map_err(|e| self.finding(e))?;
        let (SkipType::Literal(skip), FetchType::Literal(fetch)) = (skip, fetch) else {
            return Err(Box::new(Diagnostic::error(BAD_QUERY, "LIMIT and OFFSET take whole numbers")));
        };
        match limit.input.as_ref() {
            LogicalPlan::Sort(sort) => self.sort(&sort.expr, &sort.input, skip, fetch),
            LogicalPlan::Projection(p) if matches!(p.input.as_ref(), LogicalPlan::Sort(_)) => {
                let LogicalPlan::Sort(sort) = p.input.as_ref() else { return self.unsupported("such a LIMIT") };
                let sorted = self.sort(&sort.expr, &sort.input, skip, fetch)?;
                self.calc(sorted, None, &p.expr, &p.schema)
            }
            input => self.plain_limit(input, skip, fetch),
        }
    }

    fn plain_limit(&mut self, input: &LogicalPlan, skip: usize, fetch: Option<usize>) -> Lowered<Relation> {
        let input = self.lower(input)?;
        if !self.is_append(&input) {
            // Which rows are the first is known when no row changes any more.
            return self.sort_node(input, vec![], false, skip, fetch);
        }
        let schema = self.schema_of(input.node);
        let kind = NodeKind::Limit { offset: skip as u64, fetch: fetch.map(|f| f as u64) };
        let node = self.push("limit", kind, vec![(input.node, Distribution::Single)], schema);
        Ok(Relation { node, bounded: input.bounded || fetch.is_some(), ..input })
    }

    pub(super) fn sort(
        &mut self,
        order: &[SortExpr],
        input: &LogicalPlan,
        skip: usize,
        fetch: Option<usize>,
    ) -> Lowered<Relation> {
        let input = self.lower(input)?;
        let visible = Arc::clone(&input.schema);
        let width = visible.fields().len();
        let attribute = order.first().map(|s| Attribute::of_expr(&s.expr, &input.schema, &input.attributes));
        let by_time = self.is_append(&input)
            && matches!(attribute, Some(Attribute::Rowtime))
            && order.first().is_some_and(|s| s.asc);
        let input = self.with_sort_columns(input, order)?;
        let places = order.iter().enumerate().map(|(i, s)| {
            let place = match &s.expr {
                Expr::Column(c) => visible.index_of_column(c).ok(),
                _ => None,
            };
            let extra = order[..i].iter().filter(|s| !is_column_of(&s.expr, &visible)).count();
            SortKey {
                column: input.columns[place.unwrap_or(width + extra)],
                descending: !s.asc,
                nulls_first: s.nulls_first,
            }
        });
        let keys: Vec<SortKey> = places.collect();
        let mut sorted = self.sort_node(input, keys, by_time, skip, fetch)?;
        sorted.columns.truncate(width);
        sorted.attributes.truncate(width);
        sorted.schema = visible;
        Ok(sorted)
    }

    /// Appends a column for each sort key that is not one already.
    fn with_sort_columns(&mut self, input: Relation, order: &[SortExpr]) -> Lowered<Relation> {
        let computed: Vec<&Expr> = order.iter().map(|s| &s.expr).filter(|e| !is_column_of(e, &input.schema)).collect();
        if computed.is_empty() {
            return Ok(input);
        }
        let mut exprs: Vec<Expr> = input.schema.columns().into_iter().map(Expr::Column).collect();
        let mut fields: Vec<_> = input.schema.iter().map(|(q, f)| (q.cloned(), Arc::clone(f))).collect();
        for (index, expr) in computed.into_iter().enumerate() {
            let (_, field) =
                datafusion_expr::ExprSchemable::to_field(expr, &input.schema).map_err(|e| self.finding(e))?;
            fields.push((None, Arc::new(field.as_ref().clone().with_name(format!("$order{index}")))));
            exprs.push(expr.clone());
        }
        let schema = datafusion_common::DFSchema::new_with_metadata(fields, Default::default());
        let schema = Arc::new(schema.map_err(|e| self.finding(e))?);
        self.calc(input, None, &exprs, &schema)
    }

    fn sort_node(
        &mut self,
        input: Relation,
        keys: Vec<SortKey>,
        by_watermark: bool,
        skip: usize,
        fetch: Option<usize>,
    ) -> Lowered<Relation> {
        if !by_watermark && !input.bounded {
            let d = match keys.is_empty() {
                true => {
                    Diagnostic::error(UNBOUNDED_ORDER, "LIMIT over a result that keeps changing needs a bounded input")
                }
                false => Diagnostic::error(
                    UNBOUNDED_ORDER,
                    "an unbounded stream can only be ordered by its time attribute, ascending",
                )
                .help("put the time attribute first in ORDER BY, or read a bounded input"),
            };
            return Err(Box::new(d));
        }
        let schema = self.schema_of(input.node);
        let node = SortNode { keys, by_watermark, offset: skip as u64, fetch: fetch.map(|f| f as u64) };
        let node = self.push("sort", NodeKind::Sort(node), vec![(input.node, Distribution::Single)], schema);
        // Sorted once, at the end of a bounded input or of event time: no row changes afterwards.
        self.set_changelog(node, ChangelogMode::Append, vec![]);
        Ok(Relation { node, updating_because: None, ..input })
    }
}

fn is_column_of(expr: &Expr, schema: &DFSchemaRef) -> bool {
    matches!(expr, Expr::Column(c) if schema.index_of_column(c).is_ok())
}
