//! Expressions compiled against a lowered relation, and the calc nodes made of them.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, TimeUnit};
use datafusion_common::config::ConfigOptions;
use datafusion_common::tree_node::{Transformed, TreeNode};
use datafusion_common::{Column, DFSchema, DFSchemaRef, Result};
use datafusion_expr::execution_props::ExecutionProps;
use datafusion_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion_expr::{BinaryExpr, Cast, Expr, ExprSchemable};
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr::create_physical_expr;
use datafusion_physical_expr::expressions::Column as PhysicalColumn;
use datafusion_sql::unparser::Unparser;
use datafusion_sql::unparser::dialect::{CustomDialectBuilder, Dialect};

use super::attribute::Attribute;
use super::fixed_interval::to_duration;
use super::{Lowered, Lowering, Relation};
use crate::compiled_expr::CompiledExpr;
use crate::functions::decimal;
use crate::functions::marker::{Marker, marker_of};
use crate::functions::not_null::passed_on as passed_on_by;
use crate::overflow::checked;
use crate::stream_plan::{CalcNode, Distribution, HiddenColumn, NodeKind};

/// Compiles expressions over one relation; collects the hidden columns that they ask for.
pub(crate) struct ExprCompiler<'r> {
    schema: DFSchema,
    columns: &'r [usize],
    width: usize,
    time_zone: &'r str,
    pub hidden: Vec<HiddenColumn>,
    props: ExecutionProps,
}

const HIDDEN: [(HiddenColumn, &str); 2] =
    [(HiddenColumn::ProcessingTime, "$processing_time"), (HiddenColumn::RowWatermark, "$row_watermark")];

fn instant_type() -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()))
}

impl<'r> ExprCompiler<'r> {
    /// For expressions over the columns of `schema`, found in a batch of `width` columns at `columns`.
    pub fn new(schema: &DFSchema, columns: &'r [usize], width: usize, time_zone: &'r str) -> Result<Self> {
        let hidden = HIDDEN.map(|(_, name)| (None, Arc::new(Field::new(name, instant_type(), true))));
        let fields = schema.iter().map(|(q, f)| (q.cloned(), Arc::clone(f))).chain(hidden).collect();
        let mut props = ExecutionProps::new();
        props.config_options = Some(Arc::new(ConfigOptions::new()));
        let schema = DFSchema::new_with_metadata(fields, schema.metadata().clone())?;
        Ok(Self { schema, columns, width, time_zone, hidden: vec![], props })
    }

    /// Compiles `expr` to a column named `name`.
    pub fn compile(&mut self, expr: &Expr, name: &str) -> Result<CompiledExpr> {
        let expr = expr.clone().unalias();
        let resolved = self.resolve_markers(expr.clone())?;
        let (_, field) = resolved.to_field(&self.schema)?;
        let physical = create_physical_expr(&resolved, &self.schema, &self.props, &PhysicalPlanningContext::default())?;
        let physical = physical.transform_up(|e| to_duration(e, self.schema.as_arrow())).map(|t| t.data)?;
        let physical = physical.transform_up(|e| checked(e, self.schema.as_arrow())).map(|t| t.data)?;
        let physical = physical.transform_up(|e| self.place(e)).map(|t| t.data)?;
        let column = physical.downcast_ref::<PhysicalColumn>().map(PhysicalColumn::index);
        let field = Arc::new(Field::new(name, field.data_type().clone(), field.is_nullable()));
        Ok(CompiledExpr { text: sql_text(&expr), physical, field, column })
    }

    /// Calls whose value only the task knows become hidden columns.
    fn resolve_markers(&self, expr: Expr) -> Result<Expr> {
        expr.transform_up(|e| {
            if matches!(e, Expr::ScalarSubquery(_)) {
                return datafusion_common::not_impl_err!("a subquery as a value is not supported yet");
            }
            if matches!(e, Expr::InSubquery(_) | Expr::Exists(_) | Expr::SetComparison(_)) {
                return datafusion_common::not_impl_err!(
                    "IN and EXISTS with a subquery stand in WHERE or HAVING, joined with other conditions by AND"
                );
            }
            let Expr::ScalarFunction(call) = &e else { return Ok(Transformed::no(e)) };
            let Some(marker) = marker_of(&call.func) else { return Ok(Transformed::no(e)) };
            let (_, field) = e.to_field(&self.schema)?;
            let column = |name: &str| Expr::Column(Column::from_name(name));
            let now = || column(HIDDEN[0].1);
            // Wall-clock values follow the session's zone.
            let local_now = || {
                let zoned = DataType::Timestamp(TimeUnit::Millisecond, Some(self.time_zone.into()));
                crate::functions::to_local_time(Expr::Cast(Cast::new(Box::new(now()), zoned)))
            };
            let value = match marker {
                Marker::Proctime | Marker::Now => now(),
                Marker::LocalTimestamp | Marker::CurrentDate | Marker::LocalTime => local_now(),
                Marker::CurrentWatermark => column(HIDDEN[1].1),
                Marker::GroupWindow(_) | Marker::WindowProperty(_, _) => {
                    let name = call.func.name().to_uppercase();
                    return datafusion_common::plan_err!(
                        "{name} stands only in GROUP BY, or in SELECT of such a query"
                    );
                }
            };
            Ok(Transformed::yes(Expr::Cast(Cast::new(Box::new(value), field.data_type().clone()))))
        })
        .map(|t| t.data)
    }

    /// Points columns at their place in the batch.
    fn place(&mut self, expr: Arc<dyn PhysicalExpr>) -> Result<Transformed<Arc<dyn PhysicalExpr>>> {
        if let Some(column) = expr.downcast_ref::<PhysicalColumn>() {
            let index = match self.columns.get(column.index()) {
                Some(index) => *index,
                None => self.width + self.hidden_index(column.name()),
            };
            return Ok(Transformed::yes(Arc::new(PhysicalColumn::new(column.name(), index))));
        }
        Ok(Transformed::no(expr))
    }

    fn hidden_index(&mut self, name: &str) -> usize {
        let kind = HIDDEN.iter().find(|(_, n)| *n == name).map_or(HiddenColumn::ProcessingTime, |(k, _)| *k);
        match self.hidden.iter().position(|h| *h == kind) {
            Some(index) => index,
            None => {
                self.hidden.push(kind);
                self.hidden.len() - 1
            }
        }
    }
}

/// An expression as SQL, for EXPLAIN and errors.
pub(crate) fn sql_text(expr: &Expr) -> String {
    let written = expr.clone().transform_up(as_operator).map(|t| t.data);
    let expr = written.as_ref().unwrap_or(expr);
    let dialect: Box<dyn Dialect> = Box::new(CustomDialectBuilder::new().build());
    match Unparser::new(dialect.as_ref()).with_pretty(true).expr_to_sql(expr) {
        Ok(sql) => sql.to_string(),
        Err(_) => expr.human_display().to_string(),
    }
}

/// A function that stands for an operator, as that operator; a check of ours, as what it checks.
fn as_operator(expr: Expr) -> Result<Transformed<Expr>> {
    let Expr::ScalarFunction(call) = &expr else { return Ok(Transformed::no(expr)) };
    if let Some(value) = passed_on_by(call.func.name(), &call.args) {
        return Ok(Transformed::yes(value.clone()));
    }
    Ok(match (decimal::operator_of(call.func.name()), call.args.as_slice()) {
        (Some(operator), [left, right]) => {
            let (left, right) = (Box::new(left.clone()), Box::new(right.clone()));
            Transformed::yes(Expr::BinaryExpr(BinaryExpr::new(left, operator, right)))
        }
        _ => Transformed::no(expr),
    })
}

impl Lowering<'_> {
    pub(super) fn compiler<'r>(&'r self, relation: &'r Relation) -> Lowered<ExprCompiler<'r>> {
        let width = self.plan.node(relation.node).schema.fields().len();
        ExprCompiler::new(&relation.schema, &relation.columns, width, self.settings.time_zone())
            .map_err(|e| self.finding(e))
    }

    /// `SELECT exprs FROM input WHERE predicate`, as a relation of `schema`.
    pub(super) fn calc(
        &mut self,
        input: Relation,
        predicate: Option<&Expr>,
        exprs: &[Expr],
        schema: &DFSchemaRef,
    ) -> Lowered<Relation> {
        let attributes = exprs.iter().map(|e| Attribute::of_expr(e, &input.schema, &input.attributes)).collect();
        if predicate.is_none()
            && let Some(columns) = passed_on(exprs, &input)
        {
            return Ok(Relation { columns, attributes, schema: Arc::clone(schema), ..input });
        }
        let (input, earlier) = self.below_filter(input, predicate.is_none());
        let (calc, fields) = {
            let mut compiler = self.compiler(&input)?;
            let mut compile = |e: &Expr, name: &str| compiler.compile(e, name).map_err(|e| self.finding(e));
            let predicate = predicate.map(|p| compile(p, "predicate")).transpose()?.or(earlier);
            let mut projection = vec![];
            for (expr, field) in exprs.iter().zip(schema.fields()) {
                projection.push(compile(expr, field.name())?);
            }
            let fields: Vec<FieldRef> = projection.iter().map(|e| Arc::clone(&e.field)).collect();
            (CalcNode { hidden: compiler.hidden, predicate, projection }, fields)
        };
        let upsert_key = self.mapped_key(&input, exprs);
        let changelog = self.plan.node(input.node).changelog;
        let edge = vec![(input.node, Distribution::Forward)];
        let node = self.push("calc", NodeKind::Calc(calc), edge, Arc::new(Schema::new(fields)));
        self.set_changelog(node, changelog, upsert_key);
        let columns = (0..exprs.len()).collect();
        Ok(Relation { node, columns, attributes, schema: Arc::clone(schema), ..input })
    }

    /// When the last node only filters, takes it away and returns what lies below it with its predicate: filter and
    /// projection then are one pass.
    fn below_filter(&mut self, input: Relation, can_merge: bool) -> (Relation, Option<CompiledExpr>) {
        let last = input.node.0 + 1 == self.plan.nodes.len();
        let node = self.plan.node(input.node);
        let NodeKind::Calc(calc) = &node.kind else { return (input, None) };
        let below: Option<Vec<usize>> = input.columns.iter().map(|c| calc.projection[*c].column).collect();
        let (Some(columns), Some(predicate), true) =
            (below, &calc.predicate, can_merge && last && calc.hidden.is_empty())
        else {
            return (input, None);
        };
        let (predicate, node) = (predicate.clone(), node.inputs[0]);
        self.pop();
        (Relation { node, columns, ..input }, Some(predicate))
    }

    /// A calc whose output has exactly the names and types of `schema`.
    pub(super) fn calc_as(&mut self, input: Relation, exprs: &[Expr], schema: &DFSchemaRef) -> Lowered<Relation> {
        let cast = |(expr, field): (&Expr, &FieldRef)| -> Result<Expr> {
            let (_, own) = expr.to_field(&input.schema)?;
            Ok(match own.data_type() == field.data_type() {
                true => expr.clone(),
                false => Expr::Cast(Cast::new(Box::new(expr.clone()), field.data_type().clone())),
            })
        };
        let cast: Result<Vec<Expr>> = exprs.iter().zip(schema.fields()).map(cast).collect();
        let exprs = cast.map_err(|e| self.finding(e))?;
        let relation = self.calc(input, None, &exprs, schema)?;
        self.materialise(relation)
    }

    /// Makes the node's columns exactly the relation's, in order and by name.
    pub(super) fn materialise(&mut self, relation: Relation) -> Lowered<Relation> {
        let own = self.schema_of(relation.node);
        let same = relation.columns.iter().copied().eq(0..own.fields().len())
            && own.fields().iter().zip(relation.schema.fields()).all(|(a, b)| a.name() == b.name());
        if same {
            return Ok(relation);
        }
        let fields: Vec<FieldRef> = relation
            .columns
            .iter()
            .zip(relation.schema.fields())
            .map(|(&index, field)| Arc::new(own.field(index).clone().with_name(field.name())))
            .collect();
        let key = &self.plan.node(relation.node).upsert_key;
        let key: Option<Vec<usize>> = key.iter().map(|k| relation.columns.iter().position(|c| c == k)).collect();
        let (key, columns) = (key.unwrap_or_default(), (0..relation.columns.len()).collect());
        let last = relation.node.0 + 1 == self.plan.nodes.len();
        let node = &mut self.plan.nodes[relation.node.0];
        if let (NodeKind::Calc(calc), true) = (&mut node.kind, last) {
            // The calc right below yields them itself.
            let picked = relation.columns.iter().zip(&fields);
            let picked =
                picked.map(|(i, field)| CompiledExpr { field: Arc::clone(field), ..calc.projection[*i].clone() });
            calc.projection = picked.collect();
            node.schema = Arc::new(Schema::new(fields));
            node.upsert_key = key;
            return Ok(Relation { columns, ..relation });
        }
        let pick = |(&index, field): (&usize, &FieldRef)| CompiledExpr {
            text: own.field(index).name().clone(),
            physical: Arc::new(PhysicalColumn::new(own.field(index).name(), index)),
            field: Arc::clone(field),
            column: Some(index),
        };
        let projection: Vec<CompiledExpr> = relation.columns.iter().zip(&fields).map(pick).collect();
        let changelog = node.changelog;
        let calc = NodeKind::Calc(CalcNode { hidden: vec![], predicate: None, projection });
        let edge = vec![(relation.node, Distribution::Forward)];
        let node = self.push("calc", calc, edge, Arc::new(Schema::new(fields)));
        self.set_changelog(node, changelog, key);
        Ok(Relation { node, columns, ..relation })
    }

    /// Where the input's upsert key is found among `exprs`; empty when a column of it is lost.
    fn mapped_key(&self, input: &Relation, exprs: &[Expr]) -> Vec<usize> {
        let place_of = |expr: &Expr| match expr.clone().unalias() {
            Expr::Column(c) => input.schema.index_of_column(&c).ok().map(|i| input.columns[i]),
            _ => None,
        };
        let places: Vec<Option<usize>> = exprs.iter().map(place_of).collect();
        let key = &self.plan.node(input.node).upsert_key;
        key.iter().map(|k| places.iter().position(|p| *p == Some(*k))).collect::<Option<Vec<_>>>().unwrap_or_default()
    }
}

/// The physical columns of `exprs` when all of them are plain columns: nothing needs to be computed.
fn passed_on(exprs: &[Expr], input: &Relation) -> Option<Vec<usize>> {
    let place = |expr: &Expr| match expr.clone().unalias() {
        Expr::Column(c) => input.schema.index_of_column(&c).ok().map(|i| input.columns[i]),
        _ => None,
    };
    exprs.iter().map(place).collect()
}
