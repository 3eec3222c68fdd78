//! The columns of CREATE TABLE, its key and its watermark.

use sqlparser::ast::visit_expressions;
use tidemark_parser::ast::{ColumnDef, ColumnKind as AstColumnKind, CreateTable, Name};
use tidemark_parser::{Diagnostic, suggest};

use crate::bind::query::QueryBinder;
use crate::bind::text::ScriptText;
use crate::catalog::Catalog;
use crate::catalog::table::{Column, ColumnKind, TableDef, WatermarkSpec};
use crate::codes::{BAD_DEFINITION, BAD_TYPE, UNKNOWN_NAME};
use crate::settings::Settings;
use crate::types;

/// A column as declared; the type of a computed one is left open.
pub(super) fn bind_column(
    def: &ColumnDef,
    table: &TableDef,
    settings: &Settings,
    script: &ScriptText,
) -> Result<Column, Diagnostic> {
    let name = &def.name.value;
    if table.column(name).is_some() {
        return Err(Diagnostic::error(BAD_DEFINITION, format!("column `{name}` is declared twice")).at(def.name.span));
    }
    let typed = |sql_type: &tidemark_parser::ast::SqlType| {
        let data_type = types::to_arrow(&sql_type.kind, settings.time_zone())
            .map_err(|e| Diagnostic::error(BAD_TYPE, e).at(sql_type.span))?;
        Ok((data_type, types::spell(&sql_type.kind)))
    };
    let column = |data_type, type_name, nullable, kind| Column {
        name: name.clone(),
        data_type,
        nullable,
        type_name,
        kind,
        comment: def.comment.clone(),
    };
    Ok(match &def.kind {
        AstColumnKind::Physical { data_type, not_null } => {
            let (t, n) = typed(data_type)?;
            column(t, n, !not_null, ColumnKind::Physical)
        }
        AstColumnKind::Metadata { data_type, not_null, from, is_virtual } => {
            let (t, n) = typed(data_type)?;
            let key = from.as_ref().map_or_else(|| name.clone(), |f| f.value.clone());
            column(t, n, !not_null, ColumnKind::Metadata { key, is_virtual: *is_virtual })
        }
        // The type is known once all declared columns are: see `bind_expressions`.
        AstColumnKind::Computed { expr, .. } => {
            let kind = ColumnKind::Computed { expr: expr.clone(), text: script.expr_text(expr) };
            column(arrow::datatypes::DataType::Null, String::new(), true, kind)
        }
    })
}

/// Primary key, number of columns and of watermarks.
pub(super) fn check_keys(statement: &CreateTable, table: &mut TableDef, findings: &mut Vec<Diagnostic>) {
    if table.columns.is_empty() && findings.is_empty() {
        let d = Diagnostic::error(BAD_DEFINITION, format!("table `{}` has no columns", statement.name.display()));
        findings.push(d.at(statement.name.span));
    }
    if let Some(key) = &statement.primary_key {
        if !key.not_enforced {
            findings.push(
                Diagnostic::error(
                    BAD_DEFINITION,
                    "a PRIMARY KEY must be NOT ENFORCED: a stream's rows are not checked",
                )
                .at(key.span)
                .help("write PRIMARY KEY (…) NOT ENFORCED"),
            );
        }
        for column in &key.columns {
            findings.extend(unknown_column(table, column));
        }
        table.primary_key = key.columns.iter().map(|n| n.value.clone()).collect();
        // A key column is never NULL, declared so or not.
        for column in table.columns.iter_mut().filter(|c| key.columns.iter().any(|k| k.value == c.name)) {
            column.nullable = false;
        }
    }
    if let Some(second) = statement.watermarks.get(1) {
        findings.push(Diagnostic::error(BAD_DEFINITION, "a table has one WATERMARK at most").at(second.span));
    }
}

fn unknown_column(table: &TableDef, column: &Name) -> Option<Diagnostic> {
    if table.column(&column.value).is_some() {
        return None;
    }
    let mut d = Diagnostic::error(UNKNOWN_NAME, format!("there is no column `{}`", column.value)).at(column.span);
    d.help =
        suggest(&column.value, table.columns.iter().map(|c| c.name.as_str())).map(|s| format!("did you mean `{s}`?"));
    Some(d)
}

/// Metadata columns against those that the connector can fill.
pub(super) fn check_metadata(
    statement: &CreateTable,
    connector: &dyn crate::catalog::connector::ConnectorFactory,
    findings: &mut Vec<Diagnostic>,
) {
    let known = connector.metadata();
    for column in &statement.columns {
        let AstColumnKind::Metadata { from, .. } = &column.kind else { continue };
        let key = from.as_ref().unwrap_or(&column.name);
        if known.iter().any(|(k, _)| *k == key.value) {
            continue;
        }
        let mut d = Diagnostic::error(
            UNKNOWN_NAME,
            format!("connector '{}' has no metadata '{}'", connector.name(), key.value),
        )
        .at(key.span);
        d.help = Some(match known.is_empty() {
            true => "it has no metadata columns at all".into(),
            false => format!("it has: {}", known.iter().map(|(k, _)| *k).collect::<Vec<_>>().join(", ")),
        });
        findings.push(d);
    }
}

/// Types the computed columns and the watermark, now that all columns are known.
pub(super) fn bind_expressions(
    catalog: &Catalog,
    settings: &Settings,
    statement: &CreateTable,
    table: &mut TableDef,
    script: &ScriptText,
    findings: &mut Vec<Diagnostic>,
) {
    let binder = QueryBinder::new(catalog, settings, script.text);
    for index in 0..table.columns.len() {
        let ColumnKind::Computed { expr, .. } = &table.columns[index].kind else { continue };
        if !table.columns[index].type_name.is_empty() {
            continue;
        }
        let expr = expr.clone();
        let name = table.columns[index].name.clone();
        match refuse_computed_reference(table, &expr, &name, script).and_then(|()| binder.bind_table_expr(table, &expr))
        {
            Ok(field) => {
                let column = &mut table.columns[index];
                column.data_type = field.data_type().clone();
                column.nullable = field.is_nullable();
                column.type_name = types::sql_name(field.data_type());
            }
            Err(d) => findings.push(d.at_if_none(script.span_of(&*expr))),
        }
    }
    if let (true, Some(watermark)) = (findings.is_empty(), statement.watermarks.first()) {
        match bind_watermark(&binder, table, watermark, script) {
            Ok(spec) => table.watermark = Some(spec),
            Err(d) => findings.push(d),
        }
    }
}

/// A computed column may read physical and metadata columns only, as in Flink.
fn refuse_computed_reference(
    table: &TableDef,
    expr: &sqlparser::ast::Expr,
    own_name: &str,
    script: &ScriptText,
) -> Result<(), Diagnostic> {
    let mut found = None;
    let _ = visit_expressions(expr, |e| {
        if let sqlparser::ast::Expr::Identifier(ident) = e
            && let Some(column) = table.column(&ident.value)
            && matches!(column.kind, ColumnKind::Computed { .. })
        {
            found = Some((ident.clone(), script.span(ident.span)));
            return std::ops::ControlFlow::Break(());
        }
        std::ops::ControlFlow::Continue(())
    });
    match found {
        None => Ok(()),
        Some((ident, span)) => Err(Diagnostic::error(
            BAD_DEFINITION,
            format!("the computed column `{own_name}` reads `{}`, which is computed itself", ident.value),
        )
        .at(span)
        .help("repeat the expression, or compute it in a view")),
    }
}

fn bind_watermark(
    binder: &QueryBinder,
    table: &TableDef,
    watermark: &tidemark_parser::ast::WatermarkDef,
    script: &ScriptText,
) -> Result<WatermarkSpec, Diagnostic> {
    if let Some(d) = unknown_column(table, &watermark.column) {
        return Err(d);
    }
    let name = &watermark.column.value;
    let column = table.column(name).filter(|c| !types::is_timestamp(&c.data_type));
    if let Some(column) = column {
        return Err(Diagnostic::error(
            BAD_TYPE,
            format!("event time needs a TIMESTAMP or TIMESTAMP_LTZ column, but `{name}` is {}", column.type_name),
        )
        .at(watermark.column.span)
        .help(format!("compute one: `event_time AS TO_TIMESTAMP_LTZ(`{name}`, 3)`, then WATERMARK FOR event_time")));
    }
    let field = binder.bind_table_expr(table, &watermark.expr).map_err(|d| d.at_if_none(watermark.expr_span))?;
    if !types::is_timestamp(field.data_type()) {
        return Err(Diagnostic::error(
            BAD_TYPE,
            format!("a watermark is a timestamp, but this expression is {}", types::sql_name(field.data_type())),
        )
        .at(watermark.expr_span)
        .help(format!("for example `{name}` - INTERVAL '5' SECOND")));
    }
    Ok(WatermarkSpec {
        column: name.clone(),
        expr: watermark.expr.clone(),
        text: watermark.expr_span.slice(script.text).to_string(),
    })
}
