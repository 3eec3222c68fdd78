//! Random events, out of order by less than a known span.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};

use super::chance::Chance;

/// The columns as a `CREATE TABLE` lists them; `ts` is the event time.
pub const COLUMNS: &str =
    "seq BIGINT, ts TIMESTAMP(3), k STRING, n INT, b BOOLEAN, v BIGINT, x DOUBLE, d DECIMAL(10, 2), s STRING";

/// Events in the order of their arrival, which `seq` counts.
pub struct Events {
    /// [`COLUMNS`].
    pub rows: RecordBatch,
    /// No event is behind an earlier one by more than this (ms).
    pub disorder_ms: i64,
}

impl Events {
    /// Events around a moment that may lie before 1970.
    pub fn random(chance: &mut Chance) -> Self {
        let count = chance.pick(&[0, 1, 5, 40, 150, 400]);
        let disorder_ms = chance.pick(&[0, 700, 5_000, 60_000]);
        let pace_ms = chance.pick(&[1, 40, 900, 7_000]);
        let mut now_ms = chance.pick(&[-30_000, 0, 1_700_000_000_123, -62_135_596_800_000 + 100_000]);
        let times: Vec<i64> = (0..count)
            .map(|_| {
                now_ms += chance.between(0, 2 * pace_ms);
                now_ms - chance.between(0, disorder_ms)
            })
            .collect();
        Self { rows: columns(chance, times), disorder_ms }
    }
}

fn columns(chance: &mut Chance, times: Vec<i64>) -> RecordBatch {
    let rows = times.len();
    let mut column = |null_percent: i64, low: i64, high: i64| -> Vec<Option<i64>> {
        let mut value = || {
            let value = chance.between(low, high);
            (!chance.percent(null_percent)).then_some(value)
        };
        (0..rows).map(|_| value()).collect()
    };
    let texts = |values: Vec<Option<i64>>, of: fn(i64) -> String| {
        StringArray::from(values.into_iter().map(|v| v.map(of)).collect::<Vec<_>>())
    };
    let small = |v: i64| i32::try_from(v).expect("small values are drawn");
    let halves = |v: i64| f64::from(i32::try_from(v).expect("small values are drawn")) / 2.0;
    let k = texts(column(15, 0, 4), |v| ["", "a", "b", "Ä", "a b"][v as usize].to_string());
    let n: Int32Array = column(10, -2, 2).into_iter().map(|v| v.map(small)).collect();
    let b: BooleanArray = column(10, 0, 1).into_iter().map(|v| v.map(|v| v == 1)).collect();
    let v: Int64Array = column(20, -50, 50).into_iter().collect();
    let x: Float64Array = column(20, -400, 400).into_iter().map(|v| v.map(halves)).collect();
    let d: Decimal128Array = column(20, -99_999, 99_999).into_iter().map(|v| v.map(i128::from)).collect();
    let s = texts(column(25, 0, 30), |v| format!("s{v}"));
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(0..i64::try_from(rows).expect("few rows"))),
        Arc::new(TimestampMillisecondArray::from(times)),
        Arc::new(k),
        Arc::new(n),
        Arc::new(b),
        Arc::new(v),
        Arc::new(x),
        Arc::new(d.with_precision_and_scale(10, 2).expect("the values have five digits")),
        Arc::new(s),
    ];
    RecordBatch::try_new(Arc::new(schema()), arrays).expect("the columns are those of the schema")
}

fn schema() -> Schema {
    let field = |name: &str, data_type| Field::new(name, data_type, true);
    Schema::new(vec![
        field("seq", DataType::Int64),
        field("ts", DataType::Timestamp(TimeUnit::Millisecond, None)),
        field("k", DataType::Utf8),
        field("n", DataType::Int32),
        field("b", DataType::Boolean),
        field("v", DataType::Int64),
        field("x", DataType::Float64),
        field("d", DataType::Decimal128(10, 2)),
        field("s", DataType::Utf8),
    ])
}
