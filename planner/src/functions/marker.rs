//! Functions that the lowering replaces: what they stand for is known to the task or to the plan, not to a row.
//!
//! They type-check like functions and are volatile, so that no rule folds them; running one is an error.

use std::hash::Hash;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use datafusion_common::{Result, exec_err, internal_err, plan_err};
use datafusion_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::param::{Param, Parameters};
use super::scalar::takes;

/// What a marker function stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Marker {
    /// `PROCTIME()`: the clock, as a time attribute. `TIMESTAMP_LTZ(3) NOT NULL`.
    Proctime,
    /// `NOW()`, `CURRENT_TIMESTAMP`, `CURRENT_ROW_TIMESTAMP()`: the clock. `TIMESTAMP_LTZ(3) NOT NULL`.
    Now,
    /// `LOCALTIMESTAMP`: the clock in the session's zone. `TIMESTAMP(3) NOT NULL`.
    LocalTimestamp,
    /// `CURRENT_DATE`: the day in the session's zone. `DATE NOT NULL`.
    CurrentDate,
    /// `CURRENT_TIME`, `LOCALTIME`: the time of day in the session's zone. `TIME(0) NOT NULL`.
    LocalTime,
    /// `CURRENT_WATERMARK(rowtime)`: the watermark before this row, of the argument's type; NULL before the first.
    CurrentWatermark,
    /// `TUMBLE(time, size)` and its like in GROUP BY.
    GroupWindow(GroupWindow),
    /// `TUMBLE_START(time, size)` and its like: a property of the group's window.
    WindowProperty(GroupWindow, WindowProperty),
}

/// Windows that GROUP BY may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupWindow {
    /// `TUMBLE(time, size)`
    Tumble,
    /// `HOP(time, slide, size)`
    Hop,
    /// `SESSION(time, gap)`
    Session,
}

/// What a query may ask of a group's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowProperty {
    /// Inclusive start, `TIMESTAMP(3)`.
    Start,
    /// Exclusive end, `TIMESTAMP(3)`.
    End,
    /// The last instant, a time attribute of the time column's type.
    Rowtime,
    /// The clock when the window fires, `TIMESTAMP_LTZ(3)`.
    Proctime,
}

/// The marker behind a function, if it is one.
pub fn marker_of(udf: &ScalarUDF) -> Option<Marker> {
    udf.inner().downcast_ref::<MarkerFunction>().map(|function| function.marker)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct MarkerFunction {
    name: &'static str,
    marker: Marker,
    signature: Signature,
    zone: Arc<str>,
}

/// All markers, with their parameters' text.
pub(super) fn functions(zone: &Arc<str>) -> Vec<(Arc<ScalarUDF>, String)> {
    use GroupWindow::{Hop, Session, Tumble};
    let mut table = vec![
        ("proctime", Marker::Proctime),
        ("now", Marker::Now),
        ("current_timestamp", Marker::Now),
        ("current_row_timestamp", Marker::Now),
        ("localtimestamp", Marker::LocalTimestamp),
        ("current_date", Marker::CurrentDate),
        ("current_time", Marker::LocalTime),
        ("localtime", Marker::LocalTime),
        ("current_watermark", Marker::CurrentWatermark),
        ("tumble", Marker::GroupWindow(Tumble)),
        ("hop", Marker::GroupWindow(Hop)),
        ("session", Marker::GroupWindow(Session)),
    ];
    for (window, names) in [
        (Tumble, ["tumble_start", "tumble_end", "tumble_rowtime", "tumble_proctime"]),
        (Hop, ["hop_start", "hop_end", "hop_rowtime", "hop_proctime"]),
        (Session, ["session_start", "session_end", "session_rowtime", "session_proctime"]),
    ] {
        let properties =
            [WindowProperty::Start, WindowProperty::End, WindowProperty::Rowtime, WindowProperty::Proctime];
        table.extend(names.into_iter().zip(properties.map(|p| Marker::WindowProperty(window, p))));
    }
    table
        .into_iter()
        .map(|(name, marker)| {
            let function = MarkerFunction {
                name,
                marker,
                signature: Signature::user_defined(Volatility::Volatile),
                zone: Arc::clone(zone),
            };
            let text = function.parameters().to_string();
            (Arc::new(ScalarUDF::new_from_impl(function)), text)
        })
        .collect()
}

impl MarkerFunction {
    fn parameters(&self) -> Parameters {
        match self.marker {
            Marker::CurrentWatermark => takes(&[Param::Timestamp]),
            Marker::GroupWindow(window) | Marker::WindowProperty(window, _) => match window {
                GroupWindow::Tumble | GroupWindow::Session => takes(&[Param::Timestamp, Param::Interval]),
                GroupWindow::Hop => takes(&[Param::Timestamp, Param::Interval, Param::Interval]),
            },
            _ => takes(&[]),
        }
    }
}

impl ScalarUDFImpl for MarkerFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("{} has a type and a nullability", self.name)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let millis = DataType::Timestamp(TimeUnit::Millisecond, None);
        let instant = DataType::Timestamp(TimeUnit::Millisecond, Some(Arc::clone(&self.zone)));
        let of_argument = || args.arg_fields[0].data_type().clone();
        let (data_type, nullable) = match self.marker {
            Marker::Proctime | Marker::Now => (instant, false),
            Marker::LocalTimestamp => (millis, false),
            Marker::CurrentDate => (DataType::Date32, false),
            Marker::LocalTime => (DataType::Time32(TimeUnit::Second), false),
            Marker::CurrentWatermark => (of_argument(), true),
            Marker::GroupWindow(_) => (millis, false),
            Marker::WindowProperty(_, WindowProperty::Start | WindowProperty::End) => (millis, false),
            Marker::WindowProperty(_, WindowProperty::Rowtime) => (of_argument(), false),
            Marker::WindowProperty(_, WindowProperty::Proctime) => (instant, false),
        };
        Ok(Arc::new(Field::new(self.name, data_type, nullable)))
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        match self.parameters().coerce(arg_types) {
            Ok(types) => Ok(types),
            Err(reason) => plan_err!("{} {reason}", self.name.to_uppercase()),
        }
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        exec_err!("{} cannot be used here", self.name.to_uppercase())
    }
}
