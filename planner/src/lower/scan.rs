//! A table scan: connector, computed columns, watermark.
//!
//! ```text
//! source [physical, metadata columns] -> calc [computed columns] -> watermark assigner -> …
//! ```
//! Only what the query, the watermark and the computed columns need is read.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::datatypes::{Field, Schema};
use datafusion_common::{Column, DFSchema, DFSchemaRef, TableReference};
use datafusion_expr::{Cast, Expr, LogicalPlan, TableScan};
use tidemark_parser::Diagnostic;

use super::attribute::Attribute;
use super::{Lowered, Lowering, Relation};
use crate::bind::{CatalogTable, option_diagnostic};
use crate::catalog::connector::{ConnectorFactory, SourceInfo};
use crate::catalog::table::{ColumnKind, TableDef};
use crate::codes::{BAD_OPTION, BAD_WINDOW, NO_TIME_ATTRIBUTE};
use crate::functions::marker::{Marker, marker_of};
use crate::logical::window_tvf::WindowTvf;
use crate::stream_plan::{Distribution, NodeKind, SourceNode, TimeWindow, WatermarkNode, WindowTvfNode};

impl Lowering<'_> {
    pub(super) fn scan(&mut self, scan: &TableScan) -> Lowered<Relation> {
        let Some(table) = scan.source.downcast_ref::<CatalogTable>() else {
            return self.unsupported(&format!("the relation {}", scan.table_name));
        };
        let def = Arc::clone(&table.def);
        let (connector, info) = self.open_source(&def)?;
        let wanted: Vec<usize> = match &scan.projection {
            Some(indices) => indices.clone(),
            None => (0..def.columns.len()).collect(),
        };
        let needs = Needs::of(self, &def, &wanted)?;
        let source = self.source_node(&def, connector.as_ref(), &needs, info.bounded);
        let computed = self.computed_columns(source, &def, &needs)?;
        let mut relation = self.watermark_assigner(computed, &def, &needs)?;
        self.set_changelog(relation.node, info.changelog, vec![]);
        // `needs.output` may hold more than was asked for: the query sees its own columns only.
        let places: Vec<usize> = wanted.iter().filter_map(|w| needs.output.iter().position(|o| o == w)).collect();
        relation.columns = places.iter().map(|p| relation.columns[*p]).collect();
        relation.attributes = places.iter().map(|p| relation.attributes[*p].clone()).collect();
        relation.schema = Arc::clone(&scan.projected_schema);
        Ok(relation)
    }

    fn open_source(&self, def: &TableDef) -> Lowered<(Arc<dyn ConnectorFactory>, SourceInfo)> {
        let Some(connector) = self.catalog.connector(def.connector()) else {
            let message = format!(
                "table `{}` uses the connector '{}', which this session does not have",
                def.name,
                def.connector()
            );
            return Err(Box::new(Diagnostic::error(BAD_OPTION, message)));
        };
        let info = connector.source(def).map_err(|e| {
            let mut d = option_diagnostic(e, &[], self.places.get(&def.name).copied());
            d.message = format!("table `{}`: {}", def.name, d.message);
            Box::new(d)
        })?;
        Ok((Arc::clone(connector), info))
    }

    fn source_node(
        &mut self,
        def: &Arc<TableDef>,
        connector: &dyn ConnectorFactory,
        needs: &Needs,
        bounded: bool,
    ) -> Relation {
        let physical: Vec<Field> =
            needs.stored(def, |k| matches!(k, ColumnKind::Physical)).map(|c| c.field()).collect();
        let types = connector.metadata();
        let mut metadata = vec![];
        let mut fields = physical.clone();
        for column in needs.stored(def, |k| matches!(k, ColumnKind::Metadata { .. })) {
            let ColumnKind::Metadata { key, .. } = &column.kind else { continue };
            let data_type = types.iter().find(|(k, _)| k == key).map_or(&column.data_type, |(_, t)| t);
            fields.push(Field::new(&column.name, data_type.clone(), true));
            metadata.push(key.clone());
        }
        let schema = Arc::new(Schema::new(fields));
        let kind = NodeKind::Source(SourceNode {
            table: Arc::clone(def),
            physical: Arc::new(Schema::new(physical)),
            metadata,
            bounded,
        });
        let node = self.push("source", kind, vec![], Arc::clone(&schema));
        let width = schema.fields().len();
        Relation {
            node,
            columns: (0..width).collect(),
            attributes: vec![Attribute::None; width],
            schema: df_schema(&schema),
            bounded,
            updating_because: None,
        }
    }

    /// The columns of `needs.output`, computed where they are.
    fn computed_columns(&mut self, source: Relation, def: &Arc<TableDef>, needs: &Needs) -> Lowered<Relation> {
        let binder = self.binder();
        let mut exprs = vec![];
        let mut attributes = vec![];
        for &index in &needs.output {
            let column = &def.columns[index];
            let stored = || Expr::Column(Column::from_name(&column.name));
            let (expr, attribute) = match &column.kind {
                ColumnKind::Physical => (stored(), Attribute::None),
                ColumnKind::Metadata { .. } => {
                    (Expr::Cast(Cast::new(Box::new(stored()), column.data_type.clone())), Attribute::None)
                }
                ColumnKind::Computed { expr, .. } => {
                    let (logical, _) = binder.table_expr(def, expr).map_err(Box::new)?;
                    let attribute = if is_proctime(&logical) { Attribute::Proctime } else { Attribute::None };
                    (logical, attribute)
                }
            };
            exprs.push(expr);
            attributes.push(attribute);
        }
        let fields: Vec<Field> = needs.output.iter().map(|i| def.columns[*i].field()).collect();
        let relation = self.calc(source, None, &exprs, &df_schema(&Schema::new(fields)))?;
        Ok(Relation { attributes, ..relation })
    }

    fn watermark_assigner(&mut self, mut input: Relation, def: &Arc<TableDef>, needs: &Needs) -> Lowered<Relation> {
        let Some(watermark) = &def.watermark else { return Ok(input) };
        let (logical, _) = self.binder().table_expr(def, &watermark.expr).map_err(Box::new)?;
        let expr = {
            let mut compiler = self.compiler(&input)?;
            let mut compiled = compiler.compile(&logical, "watermark").map_err(|e| self.finding(e))?;
            compiled.text.clone_from(&watermark.text);
            if !compiler.hidden.is_empty() {
                let d = Diagnostic::error(
                    BAD_WINDOW,
                    format!("table `{}`: a watermark may not depend on the clock", def.name),
                );
                return Err(Box::new(d));
            }
            compiled
        };
        let place = needs.output.iter().position(|i| def.columns[*i].name == watermark.column);
        let Some(place) = place else { return Ok(input) };
        let own_timeout = def.options.get_duration("scan.watermark.idle-timeout").filter(|d| !d.is_zero());
        let idle_timeout = own_timeout.or(self.settings.idle_timeout());
        let node = WatermarkNode {
            rowtime: input.columns[place],
            rowtime_name: watermark.column.clone(),
            table: def.name.clone(),
            expr,
            idle_timeout_ms: idle_timeout.map(|d| d.as_millis() as u64),
            always_attach: false,
            null_rowtime: self.settings.null_rowtime(),
        };
        let schema = self.schema_of(input.node);
        let edge = vec![(input.node, Distribution::Forward)];
        input.node = self.push("watermark", NodeKind::WatermarkAssigner(node), edge, schema);
        input.attributes[place] = Attribute::Rowtime;
        Ok(input)
    }

    /// A window function without an aggregate on top.
    pub(super) fn window_tvf(&mut self, tvf: &WindowTvf) -> Lowered<Relation> {
        let input = self.lower(&tvf.input)?;
        if !self.is_append(&input) {
            return self.unsupported("a window over an updating input");
        }
        let (window, time) = self.time_window(tvf, &input)?;
        let own = self.schema_of(input.node);
        let width = own.fields().len();
        let appended = tvf.input_width()..tvf.input_width() + 3;
        let windows =
            appended.clone().map(|i| Arc::clone(&datafusion_expr::UserDefinedLogicalNodeCore::schema(tvf).fields()[i]));
        let schema = Arc::new(Schema::new(own.fields().iter().cloned().chain(windows).collect::<Vec<_>>()));
        let zone = window.zone.clone();
        let partition = self.partition_columns(tvf, &input)?;
        let distribution = match (window.kind.is_session(), partition.is_empty()) {
            (false, _) => Distribution::Forward,
            (true, true) => Distribution::Single,
            (true, false) => Distribution::Hash(partition.clone()),
        };
        let kind = NodeKind::WindowTvf(WindowTvfNode { window, partition });
        let node = self.push("window", kind, vec![(input.node, distribution)], schema);
        let mut columns = input.columns;
        columns.extend(width..width + 3);
        // The input's own time column is an ordinary one from here on: window_time takes its place.
        let mut attributes: Vec<Attribute> =
            input.attributes.into_iter().map(|a| if a == time { Attribute::None } else { a }).collect();
        attributes.extend([Attribute::WindowStart { zone: zone.clone() }, Attribute::WindowEnd { zone }, time]);
        let schema = Arc::clone(datafusion_expr::UserDefinedLogicalNodeCore::schema(tvf));
        Ok(Relation { node, columns, attributes, schema, ..input })
    }

    fn partition_columns(&self, tvf: &WindowTvf, input: &Relation) -> Lowered<Vec<usize>> {
        let place = |key: &Expr| match key {
            Expr::Column(c) => input.schema.index_of_column(c).map(|i| input.columns[i]).map_err(|e| self.finding(e)),
            _ => self.unsupported("sessions of a computed key whose rows are not aggregated"),
        };
        tvf.partition.iter().map(place).collect()
    }

    /// The window over its lowered input, and which time it is in.
    pub(super) fn time_window(&self, tvf: &WindowTvf, input: &Relation) -> Lowered<(TimeWindow, Attribute)> {
        let attribute = Attribute::of_expr(&tvf.time, &input.schema, &input.attributes);
        let column = match &tvf.time {
            Expr::Column(c) => input.schema.index_of_column(c).ok().map(|i| (c, i)),
            _ => None,
        };
        let Some((name, index)) = column else {
            return self.unsupported("a window over a computed time");
        };
        let zone = match input.schema.field(index).data_type() {
            arrow::datatypes::DataType::Timestamp(_, Some(zone)) => Some(zone.to_string()),
            _ => None,
        };
        let time_column = match attribute {
            Attribute::Rowtime => Some(input.columns[index]),
            Attribute::Proctime => None,
            _ => return Err(Box::new(self.no_time_attribute(name, tvf, input))),
        };
        Ok((TimeWindow { time_column, kind: tvf.kind, zone }, attribute))
    }

    fn no_time_attribute(&self, name: &Column, tvf: &WindowTvf, input: &Relation) -> Diagnostic {
        let timed = input.attributes.iter().position(|a| matches!(a, Attribute::Rowtime | Attribute::Proctime));
        let help = match timed {
            Some(index) => format!("the time attribute of this input is `{}`", input.schema.field(index).name()),
            None => format!(
                "declare WATERMARK FOR `{0}` AS `{0}` - INTERVAL '5' SECOND on the table; \
                 a column loses its attribute when it is computed from another, in a join that is not bounded in time, \
                 and where an outer join pads it with NULL",
                name.name
            ),
        };
        Diagnostic::error(
            NO_TIME_ATTRIBUTE,
            format!("`{}` is not a time attribute: no watermark speaks of it", name.name),
        )
        .at(tvf.span)
        .help(help)
    }
}

/// Which columns of a table a scan needs, by index into its columns.
struct Needs {
    /// Columns behind the calc: those asked for, and those that the watermark reads.
    output: Vec<usize>,
    /// Columns that the connector must fill.
    stored: BTreeSet<usize>,
}

impl Needs {
    fn of(lowering: &Lowering, def: &TableDef, wanted: &[usize]) -> Lowered<Needs> {
        let index_of = |name: &str| def.columns.iter().position(|c| c.name == name);
        let mut output = wanted.to_vec();
        let mut add = |index: usize| {
            if !output.contains(&index) {
                output.push(index);
            }
        };
        if let Some(watermark) = &def.watermark {
            let (logical, _) = lowering.binder().table_expr(def, &watermark.expr).map_err(Box::new)?;
            index_of(&watermark.column).into_iter().for_each(&mut add);
            logical.column_refs().iter().filter_map(|c| index_of(&c.name)).for_each(&mut add);
        }
        let mut stored = BTreeSet::new();
        for &index in &output {
            match &def.columns[index].kind {
                ColumnKind::Computed { expr, .. } => {
                    let (logical, _) = lowering.binder().table_expr(def, expr).map_err(Box::new)?;
                    stored.extend(logical.column_refs().iter().filter_map(|c| index_of(&c.name)));
                }
                _ => drop(stored.insert(index)),
            }
        }
        Ok(Needs { output, stored })
    }

    fn stored<'t>(
        &'t self,
        def: &'t TableDef,
        is_kind: impl Fn(&ColumnKind) -> bool + 't,
    ) -> impl Iterator<Item = &'t crate::catalog::table::Column> + 't {
        self.stored.iter().map(|i| &def.columns[*i]).filter(move |c| is_kind(&c.kind))
    }
}

fn is_proctime(expr: &Expr) -> bool {
    match expr {
        Expr::ScalarFunction(call) => marker_of(&call.func) == Some(Marker::Proctime),
        _ => false,
    }
}

fn df_schema(schema: &Schema) -> DFSchemaRef {
    let fields = schema.fields().iter().map(|f| (None::<TableReference>, Arc::clone(f))).collect();
    let built = DFSchema::new_with_metadata(fields, Default::default());
    Arc::new(built.expect("a table's columns have distinct names, as CREATE TABLE checks"))
}

/// Strips the projections, filters and aliases between an aggregate and a window function, expressing `exprs` over
/// the window function's output. `None` when something else lies between.
pub(super) fn strip_to_window(
    mut plan: &LogicalPlan,
    mut exprs: Vec<Expr>,
) -> Option<(&WindowTvf, Vec<Expr>, Vec<Expr>)> {
    let mut predicates: Vec<Expr> = vec![];
    loop {
        match plan {
            LogicalPlan::Projection(p) => {
                if p.expr.iter().any(Expr::is_volatile) {
                    return None;
                }
                let replace = |e: Expr| replace_columns(e, &p.schema, &|i| p.expr[i].clone().unalias());
                exprs = exprs.into_iter().map(replace).collect::<Option<_>>()?;
                predicates = predicates.into_iter().map(replace).collect::<Option<_>>()?;
                plan = &p.input;
            }
            LogicalPlan::SubqueryAlias(a) => {
                let inner = a.input.schema();
                let replace =
                    |e: Expr| replace_columns(e, &a.schema, &|i| Expr::Column(Column::from(inner.qualified_field(i))));
                exprs = exprs.into_iter().map(replace).collect::<Option<_>>()?;
                predicates = predicates.into_iter().map(replace).collect::<Option<_>>()?;
                plan = &a.input;
            }
            LogicalPlan::Filter(f) => {
                predicates.push(f.predicate.clone());
                plan = &f.input;
            }
            LogicalPlan::Extension(extension) => {
                let tvf = extension.node.as_any().downcast_ref::<WindowTvf>()?;
                return Some((tvf, exprs, predicates));
            }
            _ => return None,
        }
    }
}

fn replace_columns(expr: Expr, schema: &DFSchema, by: &dyn Fn(usize) -> Expr) -> Option<Expr> {
    use datafusion_common::tree_node::{Transformed, TreeNode};
    let replaced = expr.transform_up(|e| match &e {
        Expr::Column(c) => schema.index_of_column(c).map(|i| Transformed::yes(by(i))),
        _ => Ok(Transformed::no(e)),
    });
    replaced.ok().map(|t| t.data)
}
