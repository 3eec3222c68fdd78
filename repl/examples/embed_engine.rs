//! The engine inside a program: rows of its own in, windowed results out while the query runs.
//!
//! Run with `cargo run --example embed_engine`.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use tidemark::Session;
use tidemark::render::{Format, ResultMode, ResultPrinter, ResultShape, Style, Zone};
use tidemark::summary;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut session = Session::new();

    // The program's rows, held under a name, and a table that declares their event time.
    session.hold_batches("rides", vec![rides()?]);
    session.execute(
        "CREATE TABLE rides (
            city STRING,
            fare BIGINT,
            ts   TIMESTAMP(3),
            WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
        ) WITH ('connector' = 'memory', 'table' = 'rides')",
    )?;

    // Changes arrive as Arrow batches as soon as the watermark makes a window final.
    let mut rows = session.query(
        "SELECT window_start, city, COUNT(*) AS rides, SUM(fare) AS fares
         FROM TABLE(TUMBLE(TABLE rides, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
         GROUP BY window_start, window_end, city",
    )?;
    let output = rows.output();
    let shape = ResultShape {
        schema: output.schema.clone(),
        changelog: output.changelog,
        upsert_key: output.upsert_key.clone(),
    };
    let style = Style { format: Format::Table, zone: Zone::Utc, width: None };
    let mut printer = ResultPrinter::new(&shape, ResultMode::Table, &style)?;
    let mut out = std::io::stdout().lock();
    printer.begin(&mut out)?;
    for changes in rows.by_ref() {
        printer.write(&changes?, &mut out)?;
    }
    printer.end(&mut out)?;
    if let Some(run) = rows.summary() {
        eprint!("{}", summary::describe(run, false));
    }
    Ok(())
}

/// Rides of two minutes, one of them out of order.
fn rides() -> Result<RecordBatch, arrow::error::ArrowError> {
    let schema = Schema::new(vec![
        Field::new("city", DataType::Utf8, true),
        Field::new("fare", DataType::Int64, true),
        Field::new("ts", DataType::Timestamp(TimeUnit::Millisecond, None), true),
    ]);
    let city = StringArray::from(vec!["Oslo", "Rome", "Oslo", "Oslo", "Rome"]);
    let fare = Int64Array::from(vec![12, 7, 5, 9, 30]);
    let ts = TimestampMillisecondArray::from(vec![1_000, 20_000, 64_000, 58_000, 119_000]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(city), Arc::new(fare), Arc::new(ts)])
}
