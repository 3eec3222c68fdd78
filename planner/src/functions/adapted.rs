//! DataFusion's functions under Flink's names and with Flink's types.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, make_array};
use arrow::buffer::NullBuffer;
use arrow::compute::{cast, is_null, kernels::zip::zip};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::config::ConfigOptions;
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::{ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature};

/// A function of DataFusion's with another name, and what differs in its result.
#[derive(Debug)]
pub(super) struct Adapted {
    name: &'static str,
    inner: Arc<ScalarUDF>,
    cast_to: Option<DataType>,
    absent: Option<ScalarValue>,
    strict: bool,
    check: Option<Check>,
}

/// What arguments must meet before the function may run on so many rows.
pub(super) type Check = fn(&[ColumnarValue], usize) -> Result<()>;

impl Adapted {
    pub fn new(name: &'static str, inner: Arc<ScalarUDF>) -> Self {
        Adapted { name, inner, cast_to: None, absent: None, strict: false, check: None }
    }

    /// The result is cast to this type.
    pub fn returning(self, data_type: DataType) -> Self {
        Adapted { cast_to: Some(data_type), ..self }
    }

    /// The result is this value where the function gives NULL for arguments that are not NULL.
    pub fn or_else(self, absent: ScalarValue) -> Self {
        Adapted { absent: Some(absent), ..self }
    }

    /// The result is NULL if any argument is.
    pub fn null_if_any_null(self) -> Self {
        Adapted { strict: true, ..self }
    }

    /// The arguments are looked at before the function runs.
    pub fn checked(self, check: Check) -> Self {
        Adapted { check: Some(check), ..self }
    }

    pub fn into_udf(self) -> Arc<ScalarUDF> {
        Arc::new(ScalarUDF::new_from_impl(self))
    }
}

impl PartialEq for Adapted {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Adapted {}

impl Hash for Adapted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for Adapted {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match &self.cast_to {
            Some(data_type) => Ok(data_type.clone()),
            None => self.inner.return_type(arg_types),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let any_nullable = args.arg_fields.iter().any(|f| f.is_nullable());
        let inner = self.inner.return_field_from_args(args)?;
        let data_type = self.cast_to.as_ref().unwrap_or(inner.data_type()).clone();
        let nullable = (inner.is_nullable() && self.absent.is_none()) || any_nullable;
        Ok(Arc::new(Field::new(self.name, data_type, nullable)))
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arg_types)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|a| matches!(a, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { args.number_rows };
        if let Some(check) = self.check {
            check(&args.args, rows)?;
        }
        let nulls = argument_nulls(&args.args, rows);
        let result = invoke(&self.inner, args.args, args.arg_fields, rows, args.config_options)?;
        let mut result = match &self.cast_to {
            Some(data_type) => cast(&result, data_type)?,
            None => result,
        };
        if let Some(absent) = &self.absent {
            let absent = cast(&absent.to_array()?, result.data_type())?;
            result = zip(&is_null(&result)?, &arrow::array::Scalar::new(absent), &result)?;
        }
        if self.strict || self.absent.is_some() {
            result = with_nulls(&result, nulls)?;
        }
        if constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?));
        }
        Ok(ColumnarValue::Array(result))
    }
}

/// Rows where any argument is NULL.
fn argument_nulls(args: &[ColumnarValue], rows: usize) -> Option<NullBuffer> {
    args.iter().fold(None, |nulls, arg| {
        let own = match arg {
            ColumnarValue::Array(array) => array.logical_nulls(),
            ColumnarValue::Scalar(scalar) => scalar.is_null().then(|| NullBuffer::new_null(rows)),
        };
        NullBuffer::union(nulls.as_ref(), own.as_ref())
    })
}

fn with_nulls(array: &ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let nulls = NullBuffer::union(array.nulls(), nulls.as_ref());
    Ok(make_array(array.to_data().into_builder().nulls(nulls).build()?))
}

/// Runs a function of DataFusion's on arguments that already have the types it takes.
pub(super) fn invoke(
    udf: &ScalarUDF,
    args: Vec<ColumnarValue>,
    arg_fields: Vec<FieldRef>,
    rows: usize,
    config_options: Arc<ConfigOptions>,
) -> Result<ArrayRef> {
    let literals: Vec<Option<&ScalarValue>> = args
        .iter()
        .map(|arg| match arg {
            ColumnarValue::Scalar(scalar) => Some(scalar),
            ColumnarValue::Array(_) => None,
        })
        .collect();
    let return_field =
        udf.return_field_from_args(ReturnFieldArgs { arg_fields: &arg_fields, scalar_arguments: &literals })?;
    udf.invoke_with_args(ScalarFunctionArgs { args, arg_fields, number_rows: rows, return_field, config_options })?
        .into_array(rows)
}
