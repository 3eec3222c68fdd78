//! Aggregate functions, for planning only: names, argument types and result types. The runtime has the accumulators.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{Result, ScalarValue, not_impl_err, plan_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Expr, Signature, TypeSignature, Volatility};

use crate::stream_plan::AggregateFunction;
use crate::types::sql_name;

/// Widest decimal, the type of every decimal sum.
const MAX_DECIMAL_PRECISION: u8 = 38;
/// Digits that an average of decimals has at least.
const MIN_AVG_SCALE: i8 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Count,
    Sum,
    Avg,
    Min,
    Max,
    StddevPop,
    StddevSamp,
    VarPop,
    VarSamp,
    FirstValue,
    LastValue,
    ListAgg,
    ArrayAgg,
    BoolAnd,
    BoolOr,
}

/// Names, what they compute, and their parameters as SHOW FUNCTIONS prints them.
const TABLE: [(&str, Kind, &str); 19] = [
    ("count", Kind::Count, "[ANY, ...]"),
    ("sum", Kind::Sum, "NUMERIC"),
    ("avg", Kind::Avg, "NUMERIC"),
    ("min", Kind::Min, "ANY"),
    ("max", Kind::Max, "ANY"),
    ("stddev", Kind::StddevSamp, "NUMERIC"),
    ("stddev_pop", Kind::StddevPop, "NUMERIC"),
    ("stddev_samp", Kind::StddevSamp, "NUMERIC"),
    ("variance", Kind::VarSamp, "NUMERIC"),
    ("var_pop", Kind::VarPop, "NUMERIC"),
    ("var_samp", Kind::VarSamp, "NUMERIC"),
    ("first_value", Kind::FirstValue, "ANY"),
    ("last_value", Kind::LastValue, "ANY"),
    ("listagg", Kind::ListAgg, "STRING [, STRING]"),
    ("array_agg", Kind::ArrayAgg, "ANY"),
    ("bool_and", Kind::BoolAnd, "BOOLEAN"),
    ("every", Kind::BoolAnd, "BOOLEAN"),
    ("bool_or", Kind::BoolOr, "BOOLEAN"),
    ("some", Kind::BoolOr, "BOOLEAN"),
];

/// All aggregates, with their parameters' text.
pub(super) fn functions() -> Vec<(Arc<AggregateUDF>, String)> {
    TABLE
        .iter()
        .map(|&(name, kind, parameters)| {
            let type_signature = match kind {
                Kind::Count => TypeSignature::OneOf(vec![TypeSignature::VariadicAny, TypeSignature::Nullary]),
                _ => TypeSignature::UserDefined,
            };
            let signature = Signature::new(type_signature, Volatility::Immutable);
            let function = PlannedAggregate { name, kind, signature };
            (Arc::new(AggregateUDF::new_from_impl(function)), parameters.to_string())
        })
        .collect()
}

/// The plan's aggregate for a call. The error is a sentence.
pub fn aggregate_function_of(udf: &AggregateUDF, args: &[Expr]) -> Result<AggregateFunction, String> {
    let Some(function) = udf.inner().downcast_ref::<PlannedAggregate>() else {
        return Err(format!("{} is not an aggregate function", udf.name().to_uppercase()));
    };
    Ok(match function.kind {
        Kind::Count => AggregateFunction::Count,
        Kind::Sum => AggregateFunction::Sum,
        Kind::Avg => AggregateFunction::Avg,
        Kind::Min => AggregateFunction::Min,
        Kind::Max => AggregateFunction::Max,
        Kind::StddevPop => AggregateFunction::StddevPop,
        Kind::StddevSamp => AggregateFunction::StddevSamp,
        Kind::VarPop => AggregateFunction::VarPop,
        Kind::VarSamp => AggregateFunction::VarSamp,
        Kind::FirstValue => AggregateFunction::FirstValue,
        Kind::LastValue => AggregateFunction::LastValue,
        Kind::ListAgg => AggregateFunction::ListAgg { separator: separator_of(args)? },
        Kind::ArrayAgg => AggregateFunction::ArrayAgg,
        Kind::BoolAnd => AggregateFunction::BoolAnd,
        Kind::BoolOr => AggregateFunction::BoolOr,
    })
}

/// LISTAGG's second argument; a comma when there is none.
fn separator_of(args: &[Expr]) -> Result<String, String> {
    let Some(separator) = args.get(1) else { return Ok(",".into()) };
    match separator {
        Expr::Alias(alias) => separator_of(&[args[0].clone(), (*alias.expr).clone()]),
        Expr::Literal(
            ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)) | ScalarValue::Utf8View(Some(text)),
            _,
        ) => Ok(text.clone()),
        Expr::Literal(value, _) if value.is_null() => {
            Err("LISTAGG needs a string literal as its separator, not NULL".into())
        }
        other => Err(format!("LISTAGG needs a string literal as its separator, not {other}")),
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct PlannedAggregate {
    name: &'static str,
    kind: Kind,
    signature: Signature,
}

impl PlannedAggregate {
    /// The type the first argument is cast to; `None` if the function does not take it.
    fn coerce_argument(&self, from: &DataType) -> Option<DataType> {
        let as_text = |t: &DataType| matches!(t, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        match self.kind {
            Kind::Sum => match from {
                DataType::Decimal128(_, _) => Some(from.clone()),
                t if t.is_integer() => Some(DataType::Int64),
                t if t.is_floating() || *t == DataType::Null => Some(DataType::Float64),
                _ => None,
            },
            Kind::Avg => match from {
                DataType::Decimal128(_, _) => Some(from.clone()),
                t if t.is_numeric() || *t == DataType::Null => Some(DataType::Float64),
                _ => None,
            },
            Kind::StddevPop | Kind::StddevSamp | Kind::VarPop | Kind::VarSamp => {
                (from.is_numeric() || *from == DataType::Null).then_some(DataType::Float64)
            }
            Kind::Min | Kind::Max => (!from.is_nested()).then(|| from.clone()),
            Kind::ListAgg => (as_text(from) || *from == DataType::Null).then_some(DataType::Utf8),
            Kind::BoolAnd | Kind::BoolOr => {
                matches!(from, DataType::Boolean | DataType::Null).then_some(DataType::Boolean)
            }
            Kind::Count | Kind::FirstValue | Kind::LastValue | Kind::ArrayAgg => Some(from.clone()),
        }
    }

    fn parameter_text(&self) -> &'static str {
        TABLE.iter().find(|(name, _, _)| *name == self.name).map_or("", |(_, _, text)| text)
    }
}

impl AggregateUDFImpl for PlannedAggregate {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        Ok(match (self.kind, arg_types.first()) {
            (Kind::Count, _) => DataType::Int64,
            (Kind::Sum, Some(DataType::Decimal128(_, scale))) => DataType::Decimal128(MAX_DECIMAL_PRECISION, *scale),
            (Kind::Avg, Some(DataType::Decimal128(_, scale))) => {
                DataType::Decimal128(MAX_DECIMAL_PRECISION, (*scale).max(MIN_AVG_SCALE))
            }
            (Kind::Avg | Kind::StddevPop | Kind::StddevSamp | Kind::VarPop | Kind::VarSamp, _) => DataType::Float64,
            (Kind::ListAgg, _) => DataType::Utf8,
            (Kind::BoolAnd | Kind::BoolOr, _) => DataType::Boolean,
            (Kind::ArrayAgg, Some(item)) => DataType::List(Arc::new(Field::new_list_field(item.clone(), true))),
            (_, Some(argument)) => argument.clone(),
            (_, None) => return plan_err!("{} takes ({})", self.name.to_uppercase(), self.parameter_text()),
        })
    }

    fn is_nullable(&self) -> bool {
        self.kind != Kind::Count
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let name = self.name.to_uppercase();
        let takes = self.parameter_text();
        let most = if self.kind == Kind::ListAgg { 2 } else { 1 };
        let Some(first) = arg_types.first().filter(|_| arg_types.len() <= most) else {
            let given = arg_types.len();
            let verb = if given == 1 { "argument is" } else { "arguments are" };
            return plan_err!("{name} takes ({takes}), but {given} {verb} given");
        };
        let Some(coerced) = self.coerce_argument(first) else {
            return plan_err!("{name} takes ({takes}), but argument 1 is {}", sql_name(first));
        };
        let mut types = vec![coerced];
        types.extend(arg_types.get(1).map(|_| DataType::Utf8));
        Ok(types)
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        not_impl_err!("{} runs in the engine, not in DataFusion", self.name.to_uppercase())
    }

    fn state_fields(&self, _: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        not_impl_err!("{} keeps its state in the engine, not in DataFusion", self.name.to_uppercase())
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        match self.kind {
            Kind::Count => Ok(ScalarValue::Int64(Some(0))),
            _ => ScalarValue::try_from(data_type),
        }
    }
}

#[cfg(test)]
mod tests;
