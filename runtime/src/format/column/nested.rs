//! Columns of arrays, rows and maps, which every text format writes as JSON.
//!
//! A nested column finds the values within its own and hands them on, all rows of a block at once, to the columns that
//! it consists of.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListArray, MapArray, NullBufferBuilder, StructArray};
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, FieldRef, Fields};

use super::super::cell::{BadCells, Cell, CellSource, quote_value};
use super::super::json::scan::{Cursor, JsonSource};
use super::super::type_name::a_type;
use super::super::zone::Zone;
use super::{ColumnBuilder, column_builder, null_reason};

type Builder = Box<dyn ColumnBuilder<JsonSource>>;

/// A builder for a column of arrays, rows or maps in JSON.
pub(crate) fn json_nested_builder(field: &Field, zone: Zone) -> Builder {
    match field.data_type() {
        DataType::Struct(fields) => Box::new(RowColumn {
            nulls: NullBufferBuilder::new(0),
            fields: fields.clone(),
            columns: fields.iter().map(|f| column_builder(f, zone)).collect(),
            outer: Outer::new(field),
            rows: 0,
        }),
        DataType::Map(entries, is_sorted) => Box::new(ListColumn::new(field, entries, Some(*is_sorted), zone)),
        DataType::List(item) => Box::new(ListColumn::new(field, item, None, zone)),
        other => unreachable!("{other} is not nested"),
    }
}

/// What all nested columns know of themselves.
struct Outer {
    data_type: DataType,
    is_nullable: bool,
}

impl Outer {
    fn new(field: &Field) -> Self {
        Self { data_type: field.data_type().clone(), is_nullable: field.is_nullable() }
    }

    /// A cursor behind the bracket that opens a value, or what is to stand in its place.
    fn open<'a>(&self, row: usize, cell: Cell, input: &'a [u8], bracket: u8, bad: &mut BadCells) -> Opened<'a> {
        match cell.of(input) {
            Some([first, ..]) if *first == bracket => Opened::Value(Cursor::new(input, cell.start() + 1)),
            Some([b'n', ..]) | None if self.is_nullable => Opened::Null,
            Some([b'n', ..]) | None => {
                bad.push(row, null_reason(&self.data_type));
                Opened::Filler
            }
            Some(raw) => {
                bad.push(row, format!("{} is not {}", quote_value(raw), a_type(&self.data_type)));
                Opened::Filler
            }
        }
    }
}

enum Opened<'a> {
    Value(Cursor<'a>),
    Null,
    Filler,
}

/// A column of rows: JSON objects.
struct RowColumn {
    outer: Outer,
    fields: Fields,
    columns: Vec<Builder>,
    nulls: NullBufferBuilder,
    rows: usize,
}

impl RowColumn {
    fn position(&self, name: Option<&[u8]>) -> Option<usize> {
        self.fields.iter().position(|f| Some(f.name().as_bytes()) == name)
    }
}

impl ColumnBuilder<JsonSource> for RowColumn {
    fn append(&mut self, cells: &[Cell], input: &[u8], source: &JsonSource, bad: &mut BadCells) {
        let mut inner = vec![vec![Cell::MISSING; cells.len()]; self.fields.len()];
        // Rows whose fields do not count: NULL, or unreadable as a whole.
        let mut is_void = vec![false; cells.len()];
        let mut key = Vec::new();
        for (row, cell) in cells.iter().enumerate() {
            match self.outer.open(row, *cell, input, b'{', bad) {
                Opened::Value(mut cursor) => {
                    self.nulls.append_non_null();
                    while let Ok(Some((name, value))) = cursor.next_entry() {
                        if let Some(i) = self.position(name.of(input).and_then(|n| source.string(n, &mut key))) {
                            inner[i][row] = value;
                        }
                    }
                }
                Opened::Null => {
                    self.nulls.append_null();
                    is_void[row] = true;
                }
                Opened::Filler => {
                    self.nulls.append_non_null();
                    is_void[row] = true;
                }
            }
        }
        let mut bad_fields = BadCells::default();
        for (i, column) in self.columns.iter_mut().enumerate() {
            column.append(&inner[i], input, source, &mut bad_fields);
            bad_fields.retain(|row| !is_void[row]);
            let step = format!(".{}", self.fields[i].name());
            bad.adopt(&mut bad_fields, |row| (row, step.clone()));
        }
        self.rows += cells.len();
    }

    fn finish(&mut self) -> ArrayRef {
        let arrays: Vec<_> = self.columns.iter_mut().map(|c| c.finish()).collect();
        let rows = std::mem::take(&mut self.rows);
        let array = StructArray::try_new_with_length(self.fields.clone(), arrays, self.nulls.finish(), rows);
        Arc::new(array.expect("each field got one value a row"))
    }
}

/// A column of arrays, or of maps, which are arrays of entries.
struct ListColumn {
    outer: Outer,
    item: FieldRef,
    /// The items; of a map, keys and values.
    columns: Vec<Builder>,
    /// For a map: are its keys sorted?
    map: Option<bool>,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl ListColumn {
    fn new(field: &Field, item: &FieldRef, map: Option<bool>, zone: Zone) -> Self {
        let columns = match item.data_type() {
            DataType::Struct(entry) if map.is_some() => entry.iter().map(|f| column_builder(f, zone)).collect(),
            _ => vec![column_builder(item, zone)],
        };
        let nulls = NullBufferBuilder::new(0);
        Self { outer: Outer::new(field), item: item.clone(), columns, map, offsets: vec![0], nulls }
    }

    /// Collects the items' values, of a map the keys' too.
    fn collect(&self, cursor: &mut Cursor<'_>, items: &mut [Vec<Cell>; 2]) {
        if self.map.is_none() {
            while let Ok(Some(value)) = cursor.next_item() {
                items[0].push(value);
            }
            return;
        }
        while let Ok(Some((key, value))) = cursor.next_entry() {
            items[0].push(key);
            items[1].push(value);
        }
    }
}

impl ColumnBuilder<JsonSource> for ListColumn {
    fn append(&mut self, cells: &[Cell], input: &[u8], source: &JsonSource, bad: &mut BadCells) {
        let mut items = [vec![], vec![]];
        let first = self.offsets.last().copied().unwrap_or(0);
        let first_row = self.offsets.len() - 1;
        for (row, cell) in cells.iter().enumerate() {
            let opened = self.outer.open(row, *cell, input, if self.map.is_some() { b'{' } else { b'[' }, bad);
            self.nulls.append(!matches!(opened, Opened::Null));
            if let Opened::Value(mut cursor) = opened {
                self.collect(&mut cursor, &mut items);
            }
            // A block's bytes, and so its items, are far fewer than 2^31; so are a batch's blocks.
            self.offsets.push(first + items[0].len() as i32);
        }
        let mut bad_items = BadCells::default();
        for (i, column) in self.columns.iter_mut().enumerate() {
            column.append(&items[i], input, source, &mut bad_items);
            let starts = &self.offsets[first_row..];
            bad.adopt(&mut bad_items, |item| {
                let at = first + item as i32;
                let row = starts.partition_point(|start| *start <= at) - 1;
                let step = match self.map {
                    Some(_) => format!("[{}]", String::from_utf8_lossy(items[0][item].of(input).unwrap_or(b""))),
                    None => format!("[{}]", at - starts[row] + 1),
                };
                (row, step)
            });
        }
    }

    fn finish(&mut self) -> ArrayRef {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(&mut self.offsets, vec![0])));
        let mut arrays: Vec<_> = self.columns.iter_mut().map(|c| c.finish()).collect();
        let nulls = self.nulls.finish();
        match (self.map, self.item.data_type()) {
            (Some(is_sorted), DataType::Struct(entry)) => {
                let entries = StructArray::new(entry.clone(), arrays, None);
                Arc::new(MapArray::new(self.item.clone(), offsets, entries, nulls, is_sorted))
            }
            _ => Arc::new(ListArray::new(self.item.clone(), offsets, arrays.swap_remove(0), nulls)),
        }
    }
}

/// A nested column within a text format other than JSON: the text of each value is JSON.
pub(crate) struct JsonInText {
    inner: Builder,
    data_type: DataType,
    texts: Vec<u8>,
    scratch: Vec<u8>,
}

impl JsonInText {
    /// A builder for `field`.
    pub fn new(field: &Field, zone: Zone) -> Self {
        let inner = json_nested_builder(field, zone);
        Self { inner, data_type: field.data_type().clone(), texts: vec![], scratch: vec![] }
    }
}

impl<S: CellSource> ColumnBuilder<S> for JsonInText {
    fn append(&mut self, cells: &[Cell], input: &[u8], source: &S, bad: &mut BadCells) {
        self.texts.clear();
        let mut inner = Vec::with_capacity(cells.len());
        let mut is_void = vec![false; cells.len()];
        for (row, cell) in cells.iter().enumerate() {
            let Some(text) = cell.of(input).and_then(|raw| source.value(raw, &mut self.scratch)) else {
                inner.push(Cell::MISSING);
                continue;
            };
            let start = self.texts.len();
            self.texts.extend_from_slice(text.trim_ascii());
            let mut cursor = Cursor::new(&self.texts, start);
            let is_json = cursor.skip_value().is_ok() && cursor.is_at_end();
            inner.push(if is_json { Cell::new(start, self.texts.len()) } else { Cell::MISSING });
            if !is_json {
                is_void[row] = true;
                bad.push(row, format!("{} is not {} in JSON", quote_value(text), a_type(&self.data_type)));
            }
        }
        let mut bad_inner = BadCells::default();
        self.inner.append(&inner, &self.texts, &JsonSource, &mut bad_inner);
        bad_inner.retain(|row| !is_void[row]);
        bad.adopt(&mut bad_inner, |row| (row, String::new()));
    }

    fn finish(&mut self) -> ArrayRef {
        self.inner.finish()
    }
}
