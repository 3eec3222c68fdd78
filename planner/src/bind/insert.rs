//! INSERT: the query's columns against the sink's.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion_common::ScalarValue;
use datafusion_expr::{Cast, Expr, LogicalPlan, LogicalPlanBuilder};
use sqlparser::ast::{SetExpr, Spanned};
use tidemark_parser::ast::Insert;
use tidemark_parser::{Diagnostic, suggest};

use super::coerce::rounded_down;
use super::ddl::unknown_relation;
use super::query::QueryBinder;
use super::table_options::merge_hint;
use super::text::ScriptText;
use crate::catalog::table::{Column, ColumnKind, TableDef};
use crate::catalog::{Catalog, Relation};
use crate::codes::{SINK_MISMATCH, UNKNOWN_NAME};
use crate::functions::not_null::not_null;
use crate::functions::row::cast_by_position;
use crate::settings::Settings;
use crate::types::sql_name;

/// An INSERT whose plan yields exactly the sink's physical columns.
#[derive(Clone, Debug)]
pub struct BoundInsert {
    /// The sink, hints merged in.
    pub table: Arc<TableDef>,
    /// The rows to write.
    pub plan: LogicalPlan,
}

/// Binds one INSERT of the script `text`.
pub fn bind_insert(
    catalog: &Catalog,
    settings: &Settings,
    insert: &Insert,
    text: &str,
) -> Result<BoundInsert, Vec<Diagnostic>> {
    let name = insert.table.display();
    let table = match catalog.relation(&name) {
        Some(Relation::Table(table)) => {
            Arc::new(merge_hint(catalog, &table.in_zone(settings.time_zone()), &insert.options)?)
        }
        Some(Relation::View(_)) => {
            let d = Diagnostic::error(SINK_MISMATCH, format!("`{name}` is a view: rows cannot be inserted into it"));
            return Err(vec![d.at(insert.table.span)]);
        }
        None => return Err(vec![unknown_relation(catalog, &name, insert.table.span)]),
    };
    let targets = target_columns(&table, insert)?;
    let query = QueryBinder::new(catalog, settings, text).bind(&insert.query)?;
    let script = ScriptText::new(text);
    let width = query.schema().fields().len();
    if width != targets.len() {
        let wanted: Vec<_> = targets.iter().map(|c| c.name.as_str()).collect();
        let d = Diagnostic::error(
            SINK_MISMATCH,
            format!(
                "the query yields {}, but `{name}` takes {} ({})",
                columns(width),
                columns(targets.len()),
                wanted.join(", ")
            ),
        );
        return Err(vec![d.at(insert.table.span)]);
    }
    let mut findings = vec![];
    let mut outputs = vec![];
    for column in table.columns.iter().filter(|c| matches!(c.kind, ColumnKind::Physical)) {
        match targets.iter().position(|t| t.name == column.name) {
            Some(index) => match assign(&query, index, column) {
                Ok(expr) => outputs.push(demanded(expr, &query, index, column, &table.name)),
                Err(d) => findings.push(d.at(item_span(insert, index, &script).unwrap_or(insert.table.span))),
            },
            None if column.nullable => outputs.push(null_of(column)),
            None => findings.push(
                Diagnostic::error(
                    SINK_MISMATCH,
                    format!("column `{}` of `{name}` is NOT NULL and gets no value", column.name),
                )
                .at(insert.table.span),
            ),
        }
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    let plan = LogicalPlanBuilder::from(query).project(outputs).and_then(LogicalPlanBuilder::build);
    let plan = plan.map_err(|e| super::diagnose(&e, &script))?;
    Ok(BoundInsert { table, plan })
}

fn columns(count: usize) -> String {
    if count == 1 { "1 column".into() } else { format!("{count} columns") }
}

fn target_columns<'t>(table: &'t TableDef, insert: &Insert) -> Result<Vec<&'t Column>, Vec<Diagnostic>> {
    let physical = || table.columns.iter().filter(|c| matches!(c.kind, ColumnKind::Physical));
    if insert.columns.is_empty() {
        return Ok(physical().collect());
    }
    let mut findings = vec![];
    let mut targets: Vec<&Column> = vec![];
    for name in &insert.columns {
        match table.column(&name.value) {
            Some(c) if targets.iter().any(|t| t.name == c.name) => {
                findings.push(
                    Diagnostic::error(SINK_MISMATCH, format!("column `{}` is named twice", c.name)).at(name.span),
                );
            }
            Some(c) if matches!(c.kind, ColumnKind::Physical) => targets.push(c),
            Some(c) => {
                let d =
                    Diagnostic::error(SINK_MISMATCH, format!("column `{}` is computed: it cannot be written", c.name));
                findings.push(d.at(name.span));
            }
            None => {
                let mut d = Diagnostic::error(UNKNOWN_NAME, format!("`{}` has no column `{}`", table.name, name.value))
                    .at(name.span);
                d.help =
                    suggest(&name.value, physical().map(|c| c.name.as_str())).map(|s| format!("did you mean `{s}`?"));
                findings.push(d);
            }
        }
    }
    if findings.is_empty() { Ok(targets) } else { Err(findings) }
}

/// Output column `index` of the query as a value of `column`.
fn assign(query: &LogicalPlan, index: usize, column: &Column) -> Result<Expr, Diagnostic> {
    let (qualifier, field) = query.schema().qualified_field(index);
    let value = Expr::Column(datafusion_common::Column::from((qualifier, field)));
    if field.data_type() == &column.data_type {
        return Ok(value.alias(&column.name));
    }
    if !is_assignable(field.data_type(), &column.data_type) {
        return Err(Diagnostic::error(
            SINK_MISMATCH,
            format!(
                "`{}` is {}, but column `{}` is {}",
                field.name(),
                sql_name(field.data_type()),
                column.name,
                column.type_name
            ),
        )
        .help(format!("write CAST(… AS {})", column.type_name)));
    }
    let cast = cast_by_position(&value, field.data_type(), &column.data_type);
    let cast = cast.or_else(|| rounded_down(&value, field.data_type(), &column.data_type));
    let cast = cast.unwrap_or_else(|| Expr::Cast(Cast::new(Box::new(value), column.data_type.clone())));
    Ok(cast.alias(&column.name))
}

/// `value`, checked not to be NULL where the sink's column is NOT NULL and the query's may be NULL.
fn demanded(value: Expr, query: &LogicalPlan, index: usize, column: &Column, table: &str) -> Expr {
    if column.nullable || !query.schema().field(index).is_nullable() {
        return value;
    }
    not_null(value.unalias(), table, &column.name).alias(&column.name)
}

/// May a value be stored without an explicit cast: is nothing lost but fractions of a second or of a decimal?
fn is_assignable(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    let rank = |t: &DataType| match t {
        Int8 => Some(1),
        Int16 => Some(2),
        Int32 => Some(3),
        Int64 => Some(4),
        Decimal128(_, _) => Some(5),
        Float32 => Some(6),
        Float64 => Some(7),
        _ => None,
    };
    match (from, to) {
        (Null, _) => true,
        (Timestamp(_, a), Timestamp(_, b)) => a.is_some() == b.is_some(),
        (Time32(_) | Time64(_), Time32(_) | Time64(_)) => true,
        (Utf8 | Utf8View | LargeUtf8, Utf8) | (Binary | BinaryView | LargeBinary, Binary) => true,
        (List(a), List(b)) => is_assignable(a.data_type(), b.data_type()),
        (Struct(a), Struct(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| is_assignable(x.data_type(), y.data_type()))
        }
        (Map(_, _), Map(_, _)) => true,
        _ => from == to || matches!((rank(from), rank(to)), (Some(a), Some(b)) if a <= b),
    }
}

fn null_of(column: &Column) -> Expr {
    let null = ScalarValue::try_from(&column.data_type).unwrap_or(ScalarValue::Null);
    Expr::Literal(null, None).alias(&column.name)
}

fn item_span(insert: &Insert, index: usize, script: &ScriptText) -> Option<tidemark_parser::Span> {
    match insert.query.body.as_ref() {
        SetExpr::Select(select) => select.projection.get(index).and_then(|item| script.span(item.span())),
        _ => None,
    }
}
