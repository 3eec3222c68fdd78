//! Rows are cast by position, as in Flink; arrow matches fields by name. So fields get the target's names first.
//!
//! ```text
//! CAST(ROW(1, 'x') AS ROW<a BIGINT, b STRING>)     (c0: 1, c1: 'x')  ->  (a: 1, b: 'x')
//! ```

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray};
use arrow::datatypes::{DataType, Field};
use datafusion_common::Result;
use datafusion_expr::{Cast, Expr};

use super::call::Call;
use super::param::Param::Any;
use super::scalar::{Returns, ScalarFunction, takes};

const NAME: &str = "named_as";

/// `CAST(value AS to)` of a `value` of type `from`, by position; `None` when names agree, or shapes do not.
pub(crate) fn cast_by_position(value: &Expr, from: &DataType, to: &DataType) -> Option<Expr> {
    let renamed = with_names(from, to)?;
    if renamed == *from {
        return None;
    }
    let function = ScalarFunction::new(NAME, takes(&[Any]), Returns::Type(renamed), rename).into_udf();
    Some(Expr::Cast(Cast::new(Box::new(function.call(vec![value.clone()])), to.clone())))
}

/// The type `from` with the names of the fields of `to`; `None` when a row has another number of them.
fn with_names(from: &DataType, to: &DataType) -> Option<DataType> {
    let renamed = |own: &Field, other: &Field, name: &str| {
        Some(own.clone().with_name(name).with_data_type(with_names(own.data_type(), other.data_type())?))
    };
    match (from, to) {
        (DataType::Struct(own), DataType::Struct(other)) if own.len() == other.len() => {
            let fields = own.iter().zip(other).map(|(a, b)| renamed(a, b, b.name()));
            Some(DataType::Struct(fields.collect::<Option<Vec<Field>>>()?.into()))
        }
        (DataType::Struct(_), DataType::Struct(_)) => None,
        (DataType::List(own), DataType::List(other)) => {
            Some(DataType::List(Arc::new(renamed(own, other, own.name())?)))
        }
        _ => Some(from.clone()),
    }
}

fn rename(call: &Call<'_>) -> Result<ArrayRef> {
    rename_fields(&call.full(0)?, call.return_type)
}

/// The same values; `to` differs from their type in names only.
fn rename_fields(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    Ok(match to {
        DataType::Struct(fields) => {
            let rows = array.as_struct();
            let columns = rows.columns().iter().zip(fields).map(|(c, f)| rename_fields(c, f.data_type()));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            Arc::new(StructArray::try_new(fields.clone(), columns, rows.nulls().cloned())?)
        }
        DataType::List(item) => {
            let lists = array.as_list::<i32>();
            let values = rename_fields(lists.values(), item.data_type())?;
            Arc::new(ListArray::try_new(Arc::clone(item), lists.offsets().clone(), values, lists.nulls().cloned())?)
        }
        _ => Arc::clone(array),
    })
}
