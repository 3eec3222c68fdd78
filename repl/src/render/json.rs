//! JSON: one object a row, either a line each or together in one array.
//!
//! Numbers and booleans are JSON's own, decimals with all their digits; arrays, maps and rows are nested; everything
//! else is the text that the other formats print.

use std::collections::HashSet;
use std::io::Write;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema};

use super::cells::Cells;
use super::{RenderError, RowWriter, Zone};

/// Writes objects, each as soon as its row comes.
pub struct JsonWriter {
    layout: Layout,
    columns: Vec<Column>,
    zone: Zone,
    rows: u64,
    line: String,
    cell: String,
}

enum Layout {
    Lines,
    Array,
}

struct Column {
    /// The key with its quotes and colon.
    key: String,
    kind: ValueKind,
}

/// How a value's text becomes JSON.
#[derive(Clone, Copy)]
enum ValueKind {
    /// It is JSON already.
    Json,
    /// It is a JSON number unless it is NaN or infinite.
    Float,
    /// It becomes a string.
    Text,
}

impl JsonWriter {
    /// `{…}` a line.
    pub fn lines(schema: &Schema, zone: Zone) -> Self {
        Self::new(Layout::Lines, schema, zone)
    }

    /// `[{…}, …]`
    pub fn array(schema: &Schema, zone: Zone) -> Self {
        Self::new(Layout::Array, schema, zone)
    }

    fn new(layout: Layout, schema: &Schema, zone: Zone) -> Self {
        let keys = distinct_keys(schema);
        let columns = keys.iter().zip(schema.fields()).map(|(key, field)| {
            let mut quoted = String::new();
            push_string(&mut quoted, key);
            quoted.push(':');
            Column { key: quoted, kind: ValueKind::of(field.data_type()) }
        });
        let columns = columns.collect();
        Self { layout, columns, zone, rows: 0, line: String::new(), cell: String::new() }
    }

    fn push_object(&mut self, cells: &Cells, row: usize) {
        self.line.push('{');
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                self.line.push(',');
            }
            self.line.push_str(&column.key);
            self.cell.clear();
            if !cells.write(index, row, &mut self.cell) {
                self.line.push_str("null");
                continue;
            }
            match column.kind {
                ValueKind::Json => self.line.push_str(&self.cell),
                ValueKind::Float if is_number(&self.cell) => self.line.push_str(&self.cell),
                ValueKind::Float | ValueKind::Text => push_string(&mut self.line, &self.cell),
            }
        }
        self.line.push('}');
    }
}

impl RowWriter for JsonWriter {
    fn begin(&mut self, out: &mut dyn Write) -> Result<(), RenderError> {
        match self.layout {
            Layout::Lines => Ok(()),
            Layout::Array => Ok(out.write_all(b"[")?),
        }
    }

    fn write(&mut self, rows: &RecordBatch, out: &mut dyn Write) -> Result<(), RenderError> {
        let cells = Cells::new(rows, self.zone)?;
        for row in 0..rows.num_rows() {
            self.line.clear();
            match self.layout {
                Layout::Lines => {}
                Layout::Array => self.line.push_str(if self.rows == 0 { "\n" } else { ",\n" }),
            }
            self.push_object(&cells, row);
            if let Layout::Lines = self.layout {
                self.line.push('\n');
            }
            self.rows += 1;
            out.write_all(self.line.as_bytes())?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> Result<(), RenderError> {
        match self.layout {
            Layout::Lines => Ok(()),
            Layout::Array if self.rows == 0 => Ok(out.write_all(b"]\n")?),
            Layout::Array => Ok(out.write_all(b"\n]\n")?),
        }
    }
}

impl ValueKind {
    fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Dictionary(_, values) => ValueKind::of(values),
            DataType::Float16 | DataType::Float32 | DataType::Float64 => ValueKind::Float,
            DataType::Null | DataType::Boolean => ValueKind::Json,
            DataType::List(_) | DataType::Struct(_) | DataType::Map(_, _) => ValueKind::Json,
            t if t.is_numeric() => ValueKind::Json,
            _ => ValueKind::Text,
        }
    }
}

/// The columns' names; a name that repeats gets `_2`, `_3`, …: a JSON object holds a key once.
fn distinct_keys(schema: &Schema) -> Vec<String> {
    let mut taken: HashSet<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
    let mut seen = HashSet::new();
    let mut distinct = |name: &String| {
        if seen.insert(name.clone()) {
            return name.clone();
        }
        let mut numbered = (2..).map(|n| format!("{name}_{n}"));
        numbered.find(|key| taken.insert(key.clone())).expect("there are more numbers than columns")
    };
    schema.fields().iter().map(|f| distinct(f.name())).collect()
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.as_bytes().first().is_some_and(u8::is_ascii_digit)
}

fn push_string(line: &mut String, text: &str) {
    line.push('"');
    let mut plain = 0;
    for (i, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "",
            _ => continue,
        };
        line.push_str(&text[plain..i]);
        plain = i + 1;
        if escape.is_empty() {
            line.push_str(&format!("\\u{byte:04x}"));
        } else {
            line.push_str(escape);
        }
    }
    line.push_str(&text[plain..]);
    line.push('"');
}

#[cfg(test)]
mod tests;
