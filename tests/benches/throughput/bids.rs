//! Bids, the same on every run.

use std::io::{BufWriter, Write};
use std::sync::Arc;

use arrow::array::{AsArray, Int64Array, RecordBatch, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use tempfile::NamedTempFile;

/// Bids arrive at this rate in event time: a window of 10 s holds a million.
const BIDS_PER_SECOND: u64 = 100_000;
const FIRST_MS: i64 = 1_767_225_600_000;

/// A fixed sequence of well-mixed numbers (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

fn time_ms(row: usize) -> i64 {
    FIRST_MS + (row as u64 * 1000 / BIDS_PER_SECOND) as i64
}

/// `rows` bids on `keys` auctions, uniform, in order of time: columns auction, price, ts.
pub fn in_memory(rows: usize, keys: u64, batch_size: usize) -> Vec<RecordBatch> {
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    let schema = Arc::new(Schema::new(vec![
        Field::new("auction", DataType::Int64, false),
        Field::new("price", DataType::Int64, false),
        Field::new("ts", time, false),
    ]));
    let mut numbers = Numbers(1);
    (0..rows)
        .step_by(batch_size)
        .map(|start| {
            let range = start..rows.min(start + batch_size);
            let auction: Int64Array = range.clone().map(|_| Some(numbers.below(keys) as i64)).collect();
            let price: Int64Array = range.clone().map(|_| Some(numbers.below(100_000) as i64)).collect();
            let ts: TimestampMillisecondArray = range.map(|row| Some(time_ms(row))).collect();
            let columns: Vec<arrow::array::ArrayRef> = vec![Arc::new(auction), Arc::new(price), Arc::new(ts)];
            RecordBatch::try_new(Arc::clone(&schema), columns).expect("the columns fit the schema")
        })
        .collect()
}

/// A CSV file of bids with all seven columns of the benchmark, about 180 bytes a row.
pub fn csv_file(rows: usize) -> NamedTempFile {
    let file = tempfile::Builder::new().suffix(".csv").tempfile().expect("a temporary file can be made");
    let mut out = BufWriter::with_capacity(1 << 20, file.as_file());
    let mut numbers = Numbers(2);
    for row in 0..rows {
        let (auction, bidder, price) = (numbers.below(10_000), numbers.below(5_000), 100 + numbers.below(10_000_000));
        let (channel, page) = (numbers.below(10_000), numbers.next());
        let ms = time_ms(row);
        let (second, milli) = ((ms / 1000) % 60, ms % 1000);
        let minute = (ms / 60_000) % 60;
        writeln!(
            out,
            "{auction},{bidder},{price},channel-{channel},https://www.nexmark.com/{page:016x}/item.htm?query=1&channel_id={channel},\
             2026-01-01 00:{minute:02}:{second:02}.{milli:03},{:016x}{:016x}{:08x}",
            numbers.next(),
            numbers.next(),
            numbers.below(1 << 32),
        )
        .expect("the temporary file can be written");
    }
    out.flush().expect("the temporary file can be written");
    drop(out);
    file
}

/// Bids as [`in_memory`], one at a time, each on an auction of its own.
pub fn one_shot(rows: usize, batch_size: usize) -> impl Iterator<Item = RecordBatch> {
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    let schema = Arc::new(Schema::new(vec![
        Field::new("auction", DataType::Int64, false),
        Field::new("price", DataType::Int64, false),
        Field::new("ts", time, false),
    ]));
    let mut numbers = Numbers(3);
    (0..rows).step_by(batch_size).map(move |start| {
        let range = start..rows.min(start + batch_size);
        let auction = Int64Array::from_iter_values(range.clone().map(|row| row as i64));
        let price = Int64Array::from_iter_values(range.clone().map(|_| numbers.below(100_000) as i64));
        let ts = TimestampMillisecondArray::from_iter_values(range.map(time_ms));
        let columns: Vec<arrow::array::ArrayRef> = vec![Arc::new(auction), Arc::new(price), Arc::new(ts)];
        RecordBatch::try_new(Arc::clone(&schema), columns).expect("the columns fit the schema")
    })
}

/// The time of a batch's last bid.
pub fn last_ms(batch: &RecordBatch) -> i64 {
    let ts = batch.column_by_name("ts").expect("bids have a time");
    ts.as_primitive::<arrow::datatypes::TimestampMillisecondType>().values().last().copied().unwrap_or(i64::MIN)
}
