//! One call of a function on a batch: its arguments as typed columns, and builders for its result.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayAccessor, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BooleanArray, Int64Array, PrimitiveArray,
    StringArray, StringBuilder,
};
use arrow::datatypes::{DataType, FieldRef, Float64Type, Int64Type};
use datafusion_common::{Result, exec_err, internal_err};
use datafusion_expr::ColumnarValue;

/// A value a row, or one value for all rows.
pub(super) struct Argument {
    array: ArrayRef,
    constant: bool,
}

impl Argument {
    pub fn try_new(value: ColumnarValue) -> Result<Self> {
        Ok(match value {
            ColumnarValue::Array(array) => Argument { array, constant: false },
            ColumnarValue::Scalar(scalar) => Argument { array: scalar.to_array()?, constant: true },
        })
    }
}

/// A call on a batch.
pub(super) struct Call<'a> {
    pub arguments: Vec<Argument>,
    /// The planned types of the arguments.
    pub fields: Vec<FieldRef>,
    /// Rows of the result.
    pub rows: usize,
    /// The planned type of the result.
    pub return_type: &'a DataType,
    /// The session's time zone.
    pub zone: &'a Arc<str>,
}

/// An argument of known type.
#[derive(Clone, Copy)]
pub(super) struct Column<A> {
    array: A,
    constant: bool,
}

impl<A: ArrayAccessor> Column<A> {
    /// The value of a row; `None` is NULL.
    #[inline]
    pub fn get(&self, row: usize) -> Option<A::Item> {
        let row = if self.constant { 0 } else { row };
        (!self.array.is_null(row)).then(|| self.array.value(row))
    }

    /// The value for all rows, if the argument is constant.
    pub fn constant(&self) -> Option<Option<A::Item>> {
        self.constant.then(|| self.get(0))
    }
}

pub(super) type Texts<'a> = Column<&'a StringArray>;
pub(super) type Longs<'a> = Column<&'a PrimitiveArray<Int64Type>>;
pub(super) type Doubles<'a> = Column<&'a PrimitiveArray<Float64Type>>;
pub(super) type Bytes<'a> = Column<&'a BinaryArray>;

impl<'a> Call<'a> {
    /// Was argument `index` given?
    pub fn has(&self, index: usize) -> bool {
        index < self.arguments.len()
    }

    /// Type of an argument.
    pub fn type_of(&self, index: usize) -> &DataType {
        self.arguments[index].array.data_type()
    }

    /// An argument as it came, and whether it is one value for all rows.
    pub fn raw(&self, index: usize) -> (&ArrayRef, bool) {
        (&self.arguments[index].array, self.arguments[index].constant)
    }

    /// An argument with one value a row.
    pub fn full(&self, index: usize) -> Result<ArrayRef> {
        let argument = &self.arguments[index];
        if !argument.constant {
            return Ok(Arc::clone(&argument.array));
        }
        let all_first = arrow::array::UInt32Array::from_value(0, self.rows);
        Ok(arrow::compute::take(&argument.array, &all_first, None)?)
    }

    pub fn texts(&self, index: usize) -> Result<Texts<'_>> {
        self.typed(index, |a| a.as_string_opt::<i32>())
    }

    /// A text argument that may be left out.
    pub fn optional_texts(&self, index: usize) -> Result<Option<Texts<'_>>> {
        if self.has(index) { self.texts(index).map(Some) } else { Ok(None) }
    }

    pub fn longs(&self, index: usize) -> Result<Longs<'_>> {
        self.primitives(index)
    }

    /// An integer argument that may be left out.
    pub fn optional_longs(&self, index: usize) -> Result<Option<Longs<'_>>> {
        if self.has(index) { self.longs(index).map(Some) } else { Ok(None) }
    }

    pub fn doubles(&self, index: usize) -> Result<Doubles<'_>> {
        self.primitives(index)
    }

    pub fn bytes(&self, index: usize) -> Result<Bytes<'_>> {
        self.typed(index, |a| a.as_binary_opt::<i32>())
    }

    pub fn primitives<T: ArrowPrimitiveType>(&self, index: usize) -> Result<Column<&PrimitiveArray<T>>> {
        self.typed(index, |a| a.as_primitive_opt::<T>())
    }

    fn typed<'s, A: ?Sized>(
        &'s self,
        index: usize,
        downcast: impl Fn(&'s dyn Array) -> Option<&'s A>,
    ) -> Result<Column<&'s A>> {
        let argument = &self.arguments[index];
        match downcast(argument.array.as_ref()) {
            Some(array) => Ok(Column { array, constant: argument.constant }),
            None => internal_err!("argument {} arrived as {}", index + 1, argument.array.data_type()),
        }
    }

    /// Text from `write`, which fills the (empty) buffer and says `None` for NULL.
    ///
    /// # Errors
    /// The text, or that of all rows together, is too long.
    pub fn build_texts(&self, mut write: impl FnMut(usize, &mut String) -> Option<()>) -> Result<ArrayRef> {
        self.try_build_texts(|row, out| Ok(write(row, out)))
    }

    /// As [`Call::build_texts`], where an error ends the query.
    pub fn try_build_texts(&self, mut write: impl FnMut(usize, &mut String) -> Result<Option<()>>) -> Result<ArrayRef> {
        let mut builder = StringBuilder::with_capacity(self.rows, self.rows * 16);
        let mut buffer = String::new();
        for row in 0..self.rows {
            buffer.clear();
            match write(row, &mut buffer)? {
                Some(()) => {
                    check_value_bytes(buffer.len())?;
                    check_batch_bytes(builder.values_slice().len() + buffer.len())?;
                    builder.append_value(&buffer);
                }
                None => builder.append_null(),
            }
        }
        Ok(Arc::new(builder.finish()))
    }

    /// Text that is part of an argument.
    pub fn build_slices<'s>(&self, slice: impl FnMut(usize) -> Option<&'s str>) -> ArrayRef {
        Arc::new((0..self.rows).map(slice).collect::<StringArray>())
    }

    /// As [`Call::build_slices`], where an error ends the query.
    pub fn try_build_slices<'s>(&self, slice: impl FnMut(usize) -> Result<Option<&'s str>>) -> Result<ArrayRef> {
        Ok(Arc::new((0..self.rows).map(slice).collect::<Result<StringArray>>()?))
    }

    /// Primitive values of the planned type.
    pub fn build<T: ArrowPrimitiveType>(&self, value: impl FnMut(usize) -> Option<T::Native>) -> ArrayRef {
        let array: PrimitiveArray<T> = (0..self.rows).map(value).collect();
        if array.data_type() == self.return_type {
            return Arc::new(array);
        }
        Arc::new(array.with_data_type(self.return_type.clone()))
    }

    /// Primitive values whose computation may fail; the error ends the query.
    pub fn try_build<T: ArrowPrimitiveType>(
        &self,
        mut value: impl FnMut(usize) -> Result<Option<T::Native>>,
    ) -> Result<ArrayRef> {
        let array = (0..self.rows).map(&mut value).collect::<Result<PrimitiveArray<T>>>()?;
        Ok(Arc::new(array.with_data_type(self.return_type.clone())))
    }

    /// Integers before they get the planned type.
    pub fn try_build_longs(&self, value: impl FnMut(usize) -> Result<Option<i64>>) -> Result<Int64Array> {
        (0..self.rows).map(value).collect()
    }

    pub fn build_bools(&self, value: impl FnMut(usize) -> Option<bool>) -> ArrayRef {
        Arc::new((0..self.rows).map(value).collect::<BooleanArray>())
    }

    pub fn try_build_bools(&self, value: impl FnMut(usize) -> Result<Option<bool>>) -> Result<ArrayRef> {
        Ok(Arc::new((0..self.rows).map(value).collect::<Result<BooleanArray>>()?))
    }

    /// As [`Call::build_bytes`], where an error ends the query.
    pub fn try_build_bytes(
        &self,
        mut write: impl FnMut(usize, &mut Vec<u8>) -> Result<Option<()>>,
    ) -> Result<ArrayRef> {
        let mut builder = arrow::array::BinaryBuilder::with_capacity(self.rows, self.rows * 16);
        let mut buffer = Vec::new();
        for row in 0..self.rows {
            buffer.clear();
            match write(row, &mut buffer)? {
                Some(()) => {
                    check_value_bytes(buffer.len())?;
                    check_batch_bytes(builder.values_slice().len() + buffer.len())?;
                    builder.append_value(&buffer);
                }
                None => builder.append_null(),
            }
        }
        Ok(Arc::new(builder.finish()))
    }

    /// Bytes from `write`, as [`Call::build_texts`].
    pub fn build_bytes(&self, mut write: impl FnMut(usize, &mut Vec<u8>) -> Option<()>) -> Result<ArrayRef> {
        self.try_build_bytes(|row, out| Ok(write(row, out)))
    }
}

/// The most bytes that a function may build for one value.
pub(super) const MAX_VALUE_BYTES: usize = 64 << 20;

/// Refuses a value that would be longer than [`MAX_VALUE_BYTES`]; better asked before it is built.
pub(super) fn check_value_bytes(bytes: usize) -> Result<()> {
    if bytes > MAX_VALUE_BYTES {
        return exec_err!("a function may build at most {} MiB for one value", MAX_VALUE_BYTES >> 20);
    }
    Ok(())
}

/// Arrow's offsets into the values of a column are 32 bits wide.
pub(super) fn check_batch_bytes(bytes: usize) -> Result<()> {
    if i32::try_from(bytes).is_err() {
        return exec_err!(
            "a function built more than 2 GiB for the rows of one batch; a smaller 'execution.batch-size' helps"
        );
    }
    Ok(())
}
