//! The rows of `SHOW`, `DESCRIBE` and `SET`.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow::datatypes::Fields;
use tidemark_parser::Diagnostic;
use tidemark_planner::catalog::table::{Column, ColumnKind, TableDef, ViewDef};
use tidemark_planner::functions::FunctionRegistry;
use tidemark_planner::settings::Settings;
use tidemark_planner::types::sql_name;

use super::Outcome;

type Answer = Result<Outcome, Vec<Diagnostic>>;

/// One column of names.
pub fn names(heading: &str, names: Vec<String>) -> Answer {
    answer(vec![(heading, texts(names.into_iter().map(Some)))])
}

/// All settings, with their values.
pub fn settings(settings: &Settings) -> Answer {
    let rows: Vec<_> = settings.iter().collect();
    let keys = texts(rows.iter().map(|(spec, _)| Some(spec.key)));
    let values = texts(rows.iter().map(|(_, value)| Some(*value)));
    let helps = texts(rows.iter().map(|(spec, _)| Some(spec.help)));
    answer(vec![("key", keys), ("value", values), ("description", helps)])
}

/// All functions.
pub fn functions(time_zone: &str) -> Answer {
    let rows = FunctionRegistry::new(time_zone).names();
    let names = texts(rows.iter().map(|f| Some(f.name.to_uppercase())));
    let kinds = texts(rows.iter().map(|f| Some(f.kind.to_string())));
    let signatures = texts(rows.iter().map(|f| Some(f.signature.as_str())));
    answer(vec![("function name", names), ("kind", kinds), ("signature", signatures)])
}

/// A column as DESCRIBE shows it.
pub struct DescribedColumn {
    name: String,
    type_name: String,
    nullable: bool,
    key: Option<String>,
    extras: Option<String>,
    watermark: Option<String>,
    comment: Option<String>,
}

/// The columns of a table.
pub fn of_table(table: &TableDef) -> Vec<DescribedColumn> {
    let key = (!table.primary_key.is_empty()).then(|| format!("PRI({})", table.primary_key.join(", ")));
    let describe = |column: &Column| {
        let watermark = table.watermark.as_ref().filter(|w| w.column == column.name);
        DescribedColumn {
            name: column.name.clone(),
            type_name: format!("{}{}", column.type_name, if watermark.is_some() { " *ROWTIME*" } else { "" }),
            nullable: column.nullable,
            key: key.clone().filter(|_| table.primary_key.contains(&column.name)),
            extras: extras(column),
            watermark: watermark.map(|w| w.text.clone()),
            comment: column.comment.clone(),
        }
    };
    table.columns.iter().map(describe).collect()
}

fn extras(column: &Column) -> Option<String> {
    match &column.kind {
        ColumnKind::Physical => None,
        ColumnKind::Computed { text, .. } => Some(format!("AS {text}")),
        ColumnKind::Metadata { key, is_virtual } => {
            let from = if *key == column.name { String::new() } else { format!(" FROM '{key}'") };
            Some(format!("METADATA{from}{}", if *is_virtual { " VIRTUAL" } else { "" }))
        }
    }
}

/// The columns of a view whose query yields `fields`.
pub fn of_view(view: &ViewDef, fields: &Fields) -> Vec<DescribedColumn> {
    let describe = |(index, field): (usize, &Arc<arrow::datatypes::Field>)| DescribedColumn {
        name: view.columns.get(index).unwrap_or(field.name()).clone(),
        type_name: sql_name(field.data_type()),
        nullable: field.is_nullable(),
        key: None,
        extras: None,
        watermark: None,
        comment: None,
    };
    fields.iter().enumerate().map(describe).collect()
}

/// Columns as rows; comments only when there are any.
pub fn columns(columns: &[DescribedColumn]) -> Answer {
    let text = |of: fn(&DescribedColumn) -> Option<&String>| texts(columns.iter().map(of));
    let nullable: ArrayRef = Arc::new(columns.iter().map(|c| Some(c.nullable)).collect::<BooleanArray>());
    let mut answer_columns = vec![
        ("name", text(|c| Some(&c.name))),
        ("type", text(|c| Some(&c.type_name))),
        ("null", nullable),
        ("key", text(|c| c.key.as_ref())),
        ("extras", text(|c| c.extras.as_ref())),
        ("watermark", text(|c| c.watermark.as_ref())),
    ];
    if columns.iter().any(|c| c.comment.is_some()) {
        answer_columns.push(("comment", text(|c| c.comment.as_ref())));
    }
    answer(answer_columns)
}

fn texts<T: AsRef<str>>(values: impl Iterator<Item = Option<T>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

fn answer(columns: Vec<(&str, ArrayRef)>) -> Answer {
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)));
    Ok(Outcome::Answer(batch.expect("the columns of an answer have equal length")))
}
