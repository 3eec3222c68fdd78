use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Int64Type, TimestampMillisecondType};
use tidemark_planner::catalog::connector::ConnectorFactory;
use tidemark_planner::catalog::table::TableDef;

use super::super::testing::{read_batches, read_rows, request};
use super::NexmarkConnector;
use super::event::EventType;
use crate::format::testing::{table, timestamp};

fn all_columns(event_type: EventType, options: &[(&str, &str)]) -> TableDef {
    let columns: Vec<_> = event_type.columns();
    let mut all = vec![("type", event_type.word())];
    all.extend_from_slice(options);
    table(&columns, &all)
}

fn read(event_type: EventType, events: &str) -> RecordBatch {
    let table = all_columns(event_type, &[("events", events)]);
    NexmarkConnector.check_table(&table).unwrap();
    let batches = read_batches(&NexmarkConnector, request(&table, 8192, &[])).unwrap();
    concat_batches(&table.physical_schema(), &batches).unwrap()
}

fn ints(batch: &RecordBatch, name: &str) -> Vec<i64> {
    batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().values().to_vec()
}

fn times(batch: &RecordBatch, name: &str) -> Vec<i64> {
    batch.column_by_name(name).unwrap().as_primitive::<TimestampMillisecondType>().values().to_vec()
}

fn strings(batch: &RecordBatch, name: &str) -> Vec<String> {
    batch.column_by_name(name).unwrap().as_string::<i32>().iter().flatten().map(String::from).collect()
}

/// Share of `rows` for which `is` holds.
fn share<T>(rows: &[T], is: impl Fn(&T) -> bool) -> f64 {
    rows.iter().filter(|row| is(row)).count() as f64 / rows.len() as f64
}

/// 2020-01-01 00:00:00 UTC
const START: i64 = 1_577_836_800_000;

#[test]
fn the_mix_is_one_to_three_to_46() {
    let counts = |events: &str| [EventType::Person, EventType::Auction, EventType::Bid].map(|t| read_count(t, events));
    assert_eq!(counts("5000"), [100, 300, 4_600]);
    assert_eq!(counts("0"), [0, 0, 0]);
    assert_eq!(counts("1"), [1, 0, 0]);
    assert_eq!(counts("3"), [1, 2, 0]);
    assert_eq!(counts("53"), [2, 5, 46]);
    assert_eq!(counts("55"), [2, 6, 47]);
}

fn read_count(event_type: EventType, events: &str) -> usize {
    let table = all_columns(event_type, &[("events", events)]);
    read_rows(&NexmarkConnector, &table).unwrap().len()
}

#[test]
fn times_are_exact_however_far_on() {
    let bids = read(EventType::Bid, "100");
    // Event 4 is the first bid; at 10,000 events a second it happens after 0.4 ms, event 99 after 9.9 ms.
    assert_eq!(times(&bids, "dateTime").first(), Some(&START));
    assert_eq!(times(&bids, "dateTime").last(), Some(&(START + 9)));
    let events = super::event::Events { rate: 10_000, seed: 0 };
    assert_eq!(events.time_ms(1 << 40), START + (1 << 40) / 10);
    assert_eq!(super::event::Events { rate: 3, seed: 0 }.time_ms(10), START + 3_333);
}

#[test]
fn ids_count_on_and_references_are_near() {
    let persons = read(EventType::Person, "50000");
    assert_eq!(ints(&persons, "id"), (1_000..2_000).collect::<Vec<_>>());
    let auctions = read(EventType::Auction, "50000");
    assert_eq!(ints(&auctions, "id"), (1_000..4_000).collect::<Vec<_>>());
    for (row, seller) in ints(&auctions, "seller").iter().enumerate() {
        assert!((1_000..=1_000 + row as i64 / 3 + 10).contains(seller), "auction {row} by {seller}");
    }
    assert!(ints(&auctions, "category").iter().all(|c| (10..15).contains(c)));
    let bids = read(EventType::Bid, "50000");
    for (row, auction) in ints(&bids, "auction").iter().enumerate() {
        let last = 1_000 + row as i64 / 46 * 3 + 2;
        assert!((last - 200..=last + 10).contains(auction), "bid {row} for {auction}");
    }
}

#[test]
fn skew_is_as_the_benchmark_wants_it() {
    let bids = read(EventType::Bid, "100000");
    let hot_auctions = share(&ints(&bids, "auction"), |a| a % 100 == 0);
    assert!((0.49..0.53).contains(&hot_auctions), "{hot_auctions}");
    let hot_bidders = share(&ints(&bids, "bidder"), |b| b % 100 == 1);
    assert!((0.74..0.78).contains(&hot_bidders), "{hot_bidders}");
    let hot_channels = share(&strings(&bids, "channel"), |c| !c.starts_with("channel-"));
    assert!((0.48..0.52).contains(&hot_channels), "{hot_channels}");
    let below_ten_dollars = share(&ints(&bids, "price"), |p| *p < 1_000);
    assert!((0.15..0.18).contains(&below_ten_dollars), "a sixth of the orders of magnitude: {below_ten_dollars}");
    assert!(ints(&bids, "price").iter().all(|p| (100..=100_000_000).contains(p)));
    let sizes: Vec<usize> = strings(&bids, "extra").iter().map(String::len).collect();
    let mean = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64;
    assert!((66.0..70.0).contains(&mean), "{mean}");
}

#[test]
fn a_channel_has_one_address() {
    let bids = read(EventType::Bid, "100000");
    let mut addresses = HashMap::new();
    for (channel, url) in strings(&bids, "channel").into_iter().zip(strings(&bids, "url")) {
        assert!(url.starts_with("https://www.nexmark.com/"));
        assert_eq!(addresses.entry(channel).or_insert_with(|| url.clone()), &url);
    }
    assert!(addresses.len() > 5_000);
}

#[test]
fn auctions_end_after_they_began() {
    let auctions = read(EventType::Auction, "50000");
    let lengths: Vec<i64> =
        times(&auctions, "expires").iter().zip(times(&auctions, "dateTime")).map(|(end, start)| end - start).collect();
    // A hundred auctions in flight: 1,666 events, 166 ms, on average and at most twice that.
    assert!(lengths.iter().all(|length| (1..=334).contains(length)));
    let mean = lengths.iter().sum::<i64>() / lengths.len() as i64;
    assert!((160..175).contains(&mean), "{mean}");
    assert!(ints(&auctions, "reserve").iter().zip(ints(&auctions, "initialBid")).all(|(r, b)| *r > b));
}

#[test]
fn only_wanted_columns_and_the_same_values() {
    let table = all_columns(EventType::Bid, &[("events", "1000")]);
    let full = read(EventType::Bid, "1000");
    let mut narrow = request(&table, 8192, &[]);
    narrow.projection = Arc::new(narrow.projection.project(&[4, 0]).unwrap());
    let batch = read_batches(&NexmarkConnector, narrow).unwrap().remove(0);
    assert_eq!(batch, full.project(&[4, 0]).unwrap());
    let other = all_columns(EventType::Bid, &[("events", "1000"), ("seed", "1")]);
    assert_ne!(read_batches(&NexmarkConnector, request(&other, 8192, &[])).unwrap()[0], full);
}

#[test]
fn columns_are_checked_by_name() {
    let refused =
        |columns: &[(&str, DataType)]| NexmarkConnector.check_table(&table(columns, &[("type", "bid")])).unwrap_err();
    let unknown = refused(&[("prize", DataType::Int64)]);
    assert_eq!(unknown.message, "a Nexmark bid has no column 'prize' (did you mean 'price'?)");
    assert_eq!(unknown.help.as_deref(), Some("its columns are auction, bidder, price, channel, url, dateTime, extra"));
    assert_eq!(refused(&[("price", DataType::Utf8)]).message, "column 'price' is BIGINT, not STRING");
    assert_eq!(refused(&[("dateTime", DataType::Int64)]).message, "column 'dateTime' is TIMESTAMP(3), not BIGINT");
    NexmarkConnector.check_table(&table(&[("dateTime", timestamp())], &[("type", "person")])).unwrap();
    assert!(!NexmarkConnector.source(&table(&[], &[("type", "bid")])).unwrap().bounded);
    assert!(NexmarkConnector.source(&table(&[], &[("type", "bid"), ("events", "5")])).unwrap().bounded);
}
