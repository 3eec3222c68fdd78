//! Columns of values of fixed width.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, BooleanBufferBuilder, NullBufferBuilder, PrimitiveArray,
};
use arrow::datatypes::{DataType, Field};

use super::super::cell::{BadCells, Cell, CellSource, quote_value};
use super::super::scalar::{ParseBool, ParseScalar};
use super::super::type_name::a_type;
use super::{ColumnBuilder, null_reason};

/// A column of numbers, dates or times.
pub(super) struct PrimitiveColumn<A: ArrowPrimitiveType, P> {
    data_type: DataType,
    is_nullable: bool,
    parser: P,
    values: Vec<A::Native>,
    nulls: NullBufferBuilder,
    scratch: Vec<u8>,
}

impl<A: ArrowPrimitiveType, P: ParseScalar<Value = A::Native>> PrimitiveColumn<A, P> {
    /// An empty column of `field`'s type.
    pub fn new(field: &Field, parser: P) -> Self {
        Self {
            data_type: field.data_type().clone(),
            is_nullable: field.is_nullable(),
            parser,
            values: vec![],
            nulls: NullBufferBuilder::new(0),
            scratch: vec![],
        }
    }

    #[cold]
    fn push_null(&mut self, row: usize, bad: &mut BadCells) {
        self.values.push(A::Native::default());
        match self.is_nullable {
            true => self.nulls.append_null(),
            false => {
                self.nulls.append_non_null();
                bad.push(row, null_reason(&self.data_type));
            }
        }
    }
}

impl<A, P, S> ColumnBuilder<S> for PrimitiveColumn<A, P>
where
    A: ArrowPrimitiveType,
    P: ParseScalar<Value = A::Native>,
    S: CellSource,
{
    fn append(&mut self, cells: &[Cell], input: &[u8], source: &S, bad: &mut BadCells) {
        self.values.reserve(cells.len());
        for (row, cell) in cells.iter().enumerate() {
            let text = cell.of(input).and_then(|raw| source.value(raw, &mut self.scratch));
            let Some(text) = text else {
                self.push_null(row, bad);
                continue;
            };
            let value = self.parser.parse(text).unwrap_or_else(|| {
                let remark = self.parser.remark(text).map(|remark| format!(": {remark}")).unwrap_or_default();
                bad.push(row, format!("{} is not {}{remark}", quote_value(text), a_type(&self.data_type)));
                A::Native::default()
            });
            self.values.push(value);
            self.nulls.append_non_null();
        }
    }

    fn finish(&mut self) -> ArrayRef {
        let capacity = self.values.len();
        let values = std::mem::replace(&mut self.values, Vec::with_capacity(capacity));
        let array = PrimitiveArray::<A>::new(values.into(), self.nulls.finish());
        Arc::new(array.with_data_type(self.data_type.clone()))
    }
}

/// A column of truth values.
pub(super) struct BooleanColumn {
    is_nullable: bool,
    values: BooleanBufferBuilder,
    nulls: NullBufferBuilder,
    scratch: Vec<u8>,
}

impl BooleanColumn {
    /// An empty column.
    pub fn new(field: &Field) -> Self {
        Self {
            is_nullable: field.is_nullable(),
            values: BooleanBufferBuilder::new(0),
            nulls: NullBufferBuilder::new(0),
            scratch: vec![],
        }
    }
}

impl<S: CellSource> ColumnBuilder<S> for BooleanColumn {
    fn append(&mut self, cells: &[Cell], input: &[u8], source: &S, bad: &mut BadCells) {
        for (row, cell) in cells.iter().enumerate() {
            let text = cell.of(input).and_then(|raw| source.value(raw, &mut self.scratch));
            let value = text.and_then(|text| ParseBool.parse(text));
            match (text, value) {
                (Some(text), None) => bad.push(row, format!("{} is not a BOOLEAN", quote_value(text))),
                (None, _) if !self.is_nullable => bad.push(row, null_reason(&DataType::Boolean)),
                _ => {}
            }
            self.values.append(value.unwrap_or_default());
            self.nulls.append(text.is_some() || !self.is_nullable);
        }
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(BooleanArray::new(self.values.finish(), self.nulls.finish()))
    }
}
