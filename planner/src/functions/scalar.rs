//! What Tidemark's own scalar functions share: parameters, result types, and the road from arguments to rows.
//!
//! A function is a row of a theme's table: a name, parameters, a result type and a kernel over whole columns.
//! Constants stay one-row columns, so a kernel compiles a pattern or a path once a batch.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{Result, ScalarValue, plan_err};
use datafusion_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::call::{Argument, Call};
use super::param::{Param, Parameters};

/// The vectorised body of a function: one value a row of the call.
pub(super) type Kernel = fn(&Call<'_>) -> Result<ArrayRef>;

/// How the result's type follows from the arguments.
#[derive(Clone, Debug)]
pub(super) enum Returns {
    /// Always this type.
    Type(DataType),
    /// The type of that argument, after coercion.
    Argument(usize),
    /// Computed; the error is a sentence.
    Computed(fn(&Arguments<'_>) -> std::result::Result<DataType, String>),
}

/// When the result may be NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nulls {
    /// Only if an argument is.
    FromArguments,
    /// Also for arguments that are not, such as text that cannot be parsed.
    Possible,
    /// Never.
    Never,
}

/// What is known of the arguments when a query is planned.
pub(super) struct Arguments<'a> {
    /// Their types after coercion.
    pub types: Vec<&'a DataType>,
    /// Their values where they are literals.
    pub literals: &'a [Option<&'a ScalarValue>],
    /// The session's time zone.
    pub zone: &'a Arc<str>,
}

/// A scalar function of Tidemark's own.
#[derive(Debug)]
pub(super) struct ScalarFunction {
    name: &'static str,
    parameters: Parameters,
    returns: Returns,
    nulls: Nulls,
    signature: Signature,
    kernel: Kernel,
    zone: Arc<str>,
}

impl ScalarFunction {
    /// A deterministic function whose result is NULL only when an argument is.
    pub fn new(name: &'static str, parameters: Parameters, returns: Returns, kernel: Kernel) -> Self {
        ScalarFunction {
            name,
            parameters,
            returns,
            nulls: Nulls::FromArguments,
            signature: Signature::user_defined(Volatility::Immutable),
            kernel,
            zone: Arc::from("UTC"),
        }
    }

    /// The result may be NULL for other reasons.
    pub fn nullable(self) -> Self {
        ScalarFunction { nulls: Nulls::Possible, ..self }
    }

    /// The result is never NULL.
    pub fn not_null(self) -> Self {
        ScalarFunction { nulls: Nulls::Never, ..self }
    }

    /// Evaluated anew for every row.
    pub fn volatile(self) -> Self {
        ScalarFunction { signature: Signature::user_defined(Volatility::Volatile), ..self }
    }

    /// Reads the session's time zone.
    pub fn in_zone(self, zone: &Arc<str>) -> Self {
        ScalarFunction { zone: Arc::clone(zone), ..self }
    }

    /// As the registry keeps it.
    pub fn into_udf(self) -> Arc<ScalarUDF> {
        Arc::new(ScalarUDF::new_from_impl(self))
    }

    /// The parameters as SHOW FUNCTIONS prints them.
    pub fn parameter_text(&self) -> String {
        self.parameters.to_string()
    }
}

/// Two functions are the same if they have one name, one zone and one fixed type: names are unique in the registry.
impl PartialEq for ScalarFunction {
    fn eq(&self, other: &Self) -> bool {
        let one_type = match (&self.returns, &other.returns) {
            (Returns::Type(own), Returns::Type(others)) => own == others,
            _ => true,
        };
        self.name == other.name && self.zone == other.zone && one_type
    }
}

impl Eq for ScalarFunction {}

impl Hash for ScalarFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.zone.hash(state);
    }
}

impl ScalarUDFImpl for ScalarFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        let literals = vec![None; arg_types.len()];
        self.result_type(&Arguments { types: arg_types.iter().collect(), literals: &literals, zone: &self.zone })
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let data_type = self.result_type(&Arguments {
            types: args.arg_fields.iter().map(|f| f.data_type()).collect(),
            literals: args.scalar_arguments,
            zone: &self.zone,
        })?;
        let nullable = match self.nulls {
            Nulls::FromArguments => args.arg_fields.iter().any(|f| f.is_nullable()),
            Nulls::Possible => true,
            Nulls::Never => false,
        };
        Ok(Arc::new(Field::new(self.name, data_type, nullable)))
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        match self.parameters.coerce(arg_types) {
            Ok(types) => Ok(types),
            Err(reason) => plan_err!("{} {reason}", self.name.to_uppercase()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = self.signature.volatility != Volatility::Volatile
            && args.args.iter().all(|a| matches!(a, ColumnarValue::Scalar(_)));
        let arguments = args.args.into_iter().map(Argument::try_new).collect::<Result<Vec<_>>>()?;
        let call = Call {
            arguments,
            fields: args.arg_fields,
            rows: if constant { 1 } else { args.number_rows },
            return_type: args.return_field.data_type(),
            zone: &self.zone,
        };
        let values = (self.kernel)(&call)?;
        if constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?));
        }
        Ok(ColumnarValue::Array(values))
    }
}

impl ScalarFunction {
    fn result_type(&self, arguments: &Arguments<'_>) -> Result<DataType> {
        match &self.returns {
            Returns::Type(data_type) => Ok(data_type.clone()),
            Returns::Argument(index) => Ok(arguments.types[*index].clone()),
            Returns::Computed(rule) => match rule(arguments) {
                Ok(data_type) => Ok(data_type),
                Err(reason) => plan_err!("{} {reason}", self.name.to_uppercase()),
            },
        }
    }
}

/// Parameters that all must be given.
pub(super) fn takes(required: &'static [Param]) -> Parameters {
    Parameters { required, optional: &[], rest: None }
}
