//! `MATCH_RECOGNIZE` to its operator: expressions compiled, the order checked against the stream's time.

mod expression;

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion_expr::{Expr, SortExpr};
use tidemark_parser::{Diagnostic, Severity};

use super::attribute::Attribute;
use super::{Lowered, Lowering, Relation};
use crate::codes::{NO_TIME_ATTRIBUTE, PATTERN_NOTE, UNBOUNDED_ORDER, UNBOUNDED_STATE, UNSUPPORTED};
use crate::logical::match_recognize::{BoundExpr, BoundLeaf, MATCH_NUMBER, MatchRecognize, MatchSpec, OutputColumn};
use crate::stream_plan::match_recognize::{MatchColumn, MatchRecognizeNode, MatchRows, MatchSkip, PatternVariable};
use crate::stream_plan::{Distribution, NodeKind, SortKey};

impl Lowering<'_> {
    pub(super) fn match_recognize(&mut self, node: &MatchRecognize) -> Lowered<Relation> {
        let input = self.lower(&node.input)?;
        let spec = &node.spec;
        if !self.is_append(&input) {
            let what = input.updating_because.as_ref().map_or("its input", |reason| reason.what);
            let d = Diagnostic::error(UNSUPPORTED, "MATCH_RECOGNIZE needs rows that are never taken back");
            let d = d.at(spec.places.pattern);
            return Err(Box::new(
                d.help(format!("{what} makes an updating result: use a window, whose rows are final")),
            ));
        }
        let by_watermark = self.check_order(node, &input)?;
        self.note(spec, &input);
        let kind = self.match_node(node, &input, by_watermark)?;
        let distribution = match kind.partition_by.is_empty() {
            true => Distribution::Single,
            false => Distribution::Hash(kind.partition_by.clone()),
        };
        let schema = Arc::new(datafusion_expr::UserDefinedLogicalNodeCore::schema(node).as_arrow().clone());
        let attributes = node.output.iter().map(|column| self.match_attribute(*column, node, &input, by_watermark));
        let attributes = attributes.collect();
        let kind = NodeKind::MatchRecognize(Box::new(kind));
        let id = self.push("match-recognize", kind, vec![(input.node, distribution)], schema);
        Ok(Relation {
            node: id,
            columns: (0..node.output.len()).collect(),
            attributes,
            schema: Arc::clone(datafusion_expr::UserDefinedLogicalNodeCore::schema(node)),
            bounded: input.bounded,
            updating_because: None,
        })
    }

    /// Can the rows be taken as the watermark passes them? Refuses an order that no stream can give.
    fn check_order(&self, node: &MatchRecognize, input: &Relation) -> Lowered<bool> {
        let Some(first) = node.spec.order_by.first() else { return Ok(false) };
        let attribute = Attribute::of_expr(&first.expr, &input.schema, &input.attributes);
        if attribute == Attribute::Rowtime && first.asc {
            return Ok(true);
        }
        if input.bounded {
            return Ok(false);
        }
        let span = node.spec.places.order;
        let name = super::expression::sql_text(&first.expr);
        if attribute == Attribute::Rowtime {
            let message = "an unbounded stream can only be matched in ascending order of time";
            return Err(Box::new(Diagnostic::error(UNBOUNDED_ORDER, message).at(span).help("leave out DESC")));
        }
        let message =
            format!("`{name}` is not a time attribute: an unbounded stream is matched in the order of its time");
        let timed = input.attributes.iter().position(|a| *a == Attribute::Rowtime);
        let help = match timed {
            Some(index) => format!("put `{}` first in ORDER BY", input.schema.field(index).name()),
            None => "put the time attribute of the table first in ORDER BY".into(),
        };
        Err(Box::new(Diagnostic::error(NO_TIME_ATTRIBUTE, message).at(span).help(help)))
    }

    /// What is worth knowing before it runs.
    fn note(&mut self, spec: &MatchSpec, input: &Relation) {
        if spec.places.default_skip {
            let (meaning, other) = match spec.skip {
                MatchSkip::ToNextRow => ("TO NEXT ROW, as in Flink: matches may overlap", "PAST LAST ROW"),
                _ => ("PAST LAST ROW, as 'match.default-skip' says", "TO NEXT ROW"),
            };
            let message = format!("without AFTER MATCH SKIP the search goes on {meaning}");
            let mut d = Diagnostic::warning(PATTERN_NOTE, message).at(spec.places.pattern);
            d.severity = Severity::Note;
            self.warnings.push(d.help(format!("write AFTER MATCH SKIP; the other choice is {other}")));
        }
        let waits = spec.pattern.length().1 != Some(1) || spec.pattern.may_grow();
        if !input.bounded && spec.within_ms.is_none() && waits {
            let message = "a match that has begun is kept until a row decides it, for ever when its key falls silent";
            let d = Diagnostic::warning(UNBOUNDED_STATE, message).at(spec.places.pattern);
            self.warnings.push(d.help("bound it behind PATTERN (…): WITHIN INTERVAL '1' HOUR"));
        }
        if !input.bounded && reads_match_number(spec) && !spec.partition_by.is_empty() {
            let message = "MATCH_NUMBER() keeps a count for every key that ever had a match";
            let d = Diagnostic::warning(UNBOUNDED_STATE, message).at(spec.places.pattern);
            self.warnings.push(d.help("leave it out, or number the matches downstream"));
        }
    }

    fn match_node(&self, node: &MatchRecognize, input: &Relation, by_watermark: bool) -> Lowered<MatchRecognizeNode> {
        let spec = &node.spec;
        let index_of = |column: &datafusion_common::Column| {
            input.schema.index_of_column(column).map(|i| input.columns[i]).map_err(|e| self.finding(e))
        };
        let key = |key: &SortExpr| match &key.expr {
            Expr::Column(column) => {
                Ok(SortKey { column: index_of(column)?, descending: !key.asc, nulls_first: key.nulls_first })
            }
            other => self.unsupported(&format!("ORDER BY {other} in MATCH_RECOGNIZE")),
        };
        let order_by = spec.order_by.iter().map(key).collect::<Lowered<Vec<_>>>()?;
        let is_time = |key: &&SortKey| {
            let schema = self.schema_of(input.node);
            !key.descending && matches!(schema.field(key.column).data_type(), DataType::Timestamp(_, _))
        };
        let time_column = order_by.first().filter(is_time).map(|key| key.column);
        let needs_time =
            spec.within_ms.map(|_| spec.places.within).or_else(|| reads_rowtime(spec).then_some(spec.places.order));
        if let (None, Some(span)) = (time_column, needs_time) {
            let message = "WITHIN and MATCH_ROWTIME() need rows in ascending order of a time";
            let d = Diagnostic::error(NO_TIME_ATTRIBUTE, message).at(span);
            return Err(Box::new(d.help("put a TIMESTAMP column first in ORDER BY")));
        }
        let optional = |expr: &Option<BoundExpr>| expr.as_ref().map(|e| self.match_expr(e, input)).transpose();
        let variables = spec.variables.iter().map(|variable| {
            let (row, path) = (optional(&variable.row)?, optional(&variable.path)?);
            Ok(PatternVariable { name: variable.name.clone(), row, path })
        });
        let output = node.output.iter().map(|column| match column {
            OutputColumn::Input(index) => MatchColumn::Input(input.columns[*index]),
            OutputColumn::Measure(index) => MatchColumn::Measure(*index),
        });
        Ok(MatchRecognizeNode {
            partition_by: spec.partition_by.iter().map(index_of).collect::<Lowered<_>>()?,
            order_by,
            time_column,
            by_watermark,
            pattern: spec.pattern.clone(),
            variables: variables.collect::<Lowered<_>>()?,
            within_ms: spec.within_ms,
            skip: spec.skip.clone(),
            skip_leniently: self.settings.skips_leniently(),
            rows: spec.rows,
            measures: spec.measures.iter().map(|m| self.match_expr(m, input)).collect::<Lowered<_>>()?,
            output: output.collect(),
            reads_match_number: reads_match_number(spec),
        })
    }

    /// What an output column means for time. A match is one row of the time of its last row; of all its rows each
    /// keeps its own, and the watermark waits for them.
    fn match_attribute(
        &self,
        column: OutputColumn,
        node: &MatchRecognize,
        input: &Relation,
        by_watermark: bool,
    ) -> Attribute {
        match column {
            OutputColumn::Measure(index) => {
                let measure = &node.spec.measures[index];
                let is_rowtime = measure.leaves == [BoundLeaf::MatchRowtime]
                    && matches!(&measure.expr, Expr::Column(column) if column.name == "$0");
                if is_rowtime && by_watermark { Attribute::Rowtime } else { Attribute::None }
            }
            OutputColumn::Input(index) => match &input.attributes[index] {
                Attribute::Rowtime if node.spec.rows == MatchRows::One => Attribute::None,
                Attribute::Rowtime if by_watermark => Attribute::Rowtime,
                window @ (Attribute::WindowStart { .. } | Attribute::WindowEnd { .. }) => window.clone(),
                _ => Attribute::None,
            },
        }
    }
}

fn leaves(spec: &MatchSpec) -> impl Iterator<Item = &BoundLeaf> {
    let conditions = spec.variables.iter().flat_map(|v| v.row.iter().chain(&v.path));
    conditions.chain(&spec.measures).flat_map(|expr| &expr.leaves)
}

fn reads_match_number(spec: &MatchSpec) -> bool {
    leaves(spec).any(|leaf| match leaf {
        BoundLeaf::MatchNumber => true,
        BoundLeaf::Value { value: expr, .. } | BoundLeaf::Aggregate { call: expr, .. } => {
            expr.column_refs().iter().any(|column| column.name == MATCH_NUMBER)
        }
        BoundLeaf::MatchRowtime => false,
    })
}

fn reads_rowtime(spec: &MatchSpec) -> bool {
    leaves(spec).any(|leaf| *leaf == BoundLeaf::MatchRowtime)
}
