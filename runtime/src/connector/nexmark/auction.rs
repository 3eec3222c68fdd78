//! Auctions.

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;

use super::event::{
    AUCTIONS_OF_ROUND, Events, FIRST_ID, ints, letters, padding, person_id, place_in_round, price, round, strings,
    timestamps,
};

/// In the order of the benchmark.
pub(super) const COLUMNS: [&str; 10] =
    ["id", "itemName", "description", "initialBid", "reserve", "dateTime", "expires", "seller", "category", "extra"];

/// Auctions open at a time, which is how long they last on average.
pub(super) const IN_FLIGHT: u64 = 100;

const FIRST_CATEGORY: u64 = 10;
const CATEGORIES: u64 = 5;

/// Bytes of an auction on average.
const SIZE: usize = 500;

/// Streams of persons come first.
const FIRST_STREAM: u64 = 100;

/// The number of the last auction that event `number`, not a person, knows of.
pub(super) fn last_auction(number: u64) -> u64 {
    let place = (place_in_round(number) - 1).min(AUCTIONS_OF_ROUND - 1);
    round(number) * AUCTIONS_OF_ROUND + place
}

/// A column of the auctions `numbers`.
pub(super) fn column(name: &str, data_type: &DataType, events: &Events, numbers: &[u64]) -> ArrayRef {
    let stream_of = |name: &str| {
        let position = COLUMNS.iter().position(|c| *c == name).unwrap_or(COLUMNS.len()) as u64;
        events.stream(FIRST_STREAM + position)
    };
    let stream = stream_of(name);
    let initial_bids = stream_of("initialBid");
    match name {
        "id" => ints(numbers, |n| (FIRST_ID + last_auction(n)) as i64),
        "itemName" => strings(numbers, |n, out| letters(&mut stream.at(n), 20, out)),
        "description" => strings(numbers, |n, out| letters(&mut stream.at(n), 100, out)),
        "initialBid" => ints(numbers, |n| price(&mut stream.at(n))),
        "reserve" => ints(numbers, |n| price(&mut initial_bids.at(n)) + price(&mut stream.at(n))),
        "expires" => timestamps(
            data_type,
            numbers.iter().map(|n| {
                let ahead = IN_FLIGHT * 50 / AUCTIONS_OF_ROUND;
                let horizon = events.time_ms(*n + ahead) - events.time_ms(*n);
                events.time_ms(*n) + 1 + stream.at(*n).below((horizon.unsigned_abs() * 2).max(1)) as i64
            }),
        ),
        "seller" => ints(numbers, |n| person_id(n, 0, &mut stream.at(n))),
        "category" => ints(numbers, |n| (FIRST_CATEGORY + stream.at(n).below(CATEGORIES)) as i64),
        // The other columns take 168 bytes.
        _ => padding(numbers, stream, |_| SIZE - 168),
    }
}
