//! What a person would write by hand for one query: the limit that an engine can approach.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, TimeUnit, TimestampMillisecondType};
use foldhash::fast::FixedState;

/// Rows a (window, auction), windows of `size_ms`, input in order of time. Returns the number of results.
pub fn tumble_count(batches: &[RecordBatch], size_ms: i64) -> usize {
    let mut counts: HashMap<i64, i64, FixedState> = HashMap::default();
    let (mut window, mut results) = (i64::MIN, 0);
    for batch in batches {
        let auction = batch.column(0).as_primitive::<Int64Type>().values();
        let ts = batch.column(2).as_primitive::<TimestampMillisecondType>().values();
        for (auction, ts) in auction.iter().zip(ts) {
            let start = ts - ts.rem_euclid(size_ms);
            if start != window {
                results += counts.len();
                counts.clear();
                window = start;
            }
            *counts.entry(*auction).or_default() += 1;
        }
    }
    results + counts.len()
}

/// `auction, price * 2` of rows whose price is above `least`.
pub fn filter_project(batches: &[RecordBatch], least: i64) -> Vec<(Int64Array, Int64Array)> {
    let one = |batch: &RecordBatch| {
        let auction = batch.column(0).as_primitive::<Int64Type>().values();
        let price = batch.column(1).as_primitive::<Int64Type>().values();
        let mut auctions = Vec::with_capacity(auction.len());
        let mut prices = Vec::with_capacity(auction.len());
        for (auction, price) in auction.iter().zip(price) {
            if *price > least {
                auctions.push(*auction);
                prices.push(price * 2);
            }
        }
        (Int64Array::from(auctions), Int64Array::from(prices))
    };
    batches.iter().map(one).collect()
}

/// Decodes a CSV file of bids with `arrow-csv`, all columns. Returns the number of rows.
pub fn arrow_csv(path: &Path, batch_size: usize) -> usize {
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let number = |name: &str| Field::new(name, DataType::Int64, true);
    let schema = Schema::new(vec![
        number("auction"),
        number("bidder"),
        number("price"),
        text("channel"),
        text("url"),
        Field::new("ts", DataType::Timestamp(TimeUnit::Millisecond, None), true),
        text("extra"),
    ]);
    let file = File::open(path).expect("the file was just written");
    let reader = arrow::csv::ReaderBuilder::new(Arc::new(schema)).with_batch_size(batch_size).build(file);
    reader.expect("the schema fits").map(|b| b.expect("the file is well formed").num_rows()).sum()
}

/// What a hand-written automaton looks for, with one state a key.
#[derive(Clone, Copy)]
pub enum Automaton {
    /// A price below `low`, then prices up to `high`, then one above.
    Funnel { low: i64, high: i64 },
    /// Falling prices, then rising ones.
    VShape,
}

/// Matches among bids whose auctions are below `keys`; input in order of time. Returns how many there are.
pub fn matches(batches: &[RecordBatch], keys: u64, automaton: Automaton) -> usize {
    let mut states = vec![0u8; keys as usize];
    let mut previous = vec![i64::MAX; keys as usize];
    let mut found = 0;
    for batch in batches {
        let auctions = batch.column(0).as_primitive::<Int64Type>().values();
        let prices = batch.column(1).as_primitive::<Int64Type>().values();
        for (auction, price) in auctions.iter().zip(prices) {
            let (state, previous) = (&mut states[*auction as usize], &mut previous[*auction as usize]);
            let (next, is_match) = match automaton {
                Automaton::Funnel { low, high } => match *state {
                    _ if *price < low => (1, false),
                    0 => (0, false),
                    _ if *price <= high => (2, false),
                    _ => (0, *state == 2),
                },
                Automaton::VShape => match (*price < *previous, *state) {
                    (true, 2) => (1, true),
                    (true, _) => (1, false),
                    (false, 0) => (0, false),
                    (false, _) => (2, false),
                },
            };
            found += usize::from(is_match);
            (*state, *previous) = (next, *price);
        }
    }
    found
}
