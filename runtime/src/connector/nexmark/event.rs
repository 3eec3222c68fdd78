//! What all events have in common.

use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::{DataType, TimeUnit};

use super::super::random::{Draws, Stream};
use super::{auction, bid, person};
use crate::format::datetime::days_from_civil;

/// Events of a round: one person, three auctions, 46 bids, in this order.
const ROUND: u64 = 50;
pub(super) const AUCTIONS_OF_ROUND: u64 = 3;
const BIDS_OF_ROUND: u64 = ROUND - 1 - AUCTIONS_OF_ROUND;

/// Ids begin here.
pub(super) const FIRST_ID: u64 = 1_000;

/// Persons among whom sellers and bidders are chosen: the last so many.
const ACTIVE_PERSONS: u64 = 1_000;

/// Ids are drawn up to so many ahead of the last one given.
pub(super) const ID_LEAD: u64 = 10;

/// One in so many persons or auctions is hot.
pub(super) const HOT_EVERY: u64 = 100;

/// Which events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventType {
    Person,
    Auction,
    Bid,
}

impl EventType {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            EventType::Person => "person",
            EventType::Auction => "auction",
            EventType::Bid => "bid",
        }
    }

    /// Columns and their types; a timestamp may have any precision and be an instant.
    pub fn columns(self) -> Vec<(&'static str, DataType)> {
        let names: &[&str] = match self {
            EventType::Person => &person::COLUMNS,
            EventType::Auction => &auction::COLUMNS,
            EventType::Bid => &bid::COLUMNS,
        };
        let data_type = |name: &str| match name {
            "dateTime" | "expires" => DataType::Timestamp(TimeUnit::Millisecond, None),
            "id" | "initialBid" | "reserve" | "seller" | "category" | "auction" | "bidder" | "price" => DataType::Int64,
            _ => DataType::Utf8,
        };
        names.iter().map(|name| (*name, data_type(name))).collect()
    }

    /// Where its events stand in a round, and how many there are.
    fn place(self) -> (u64, u64) {
        match self {
            EventType::Person => (0, 1),
            EventType::Auction => (1, AUCTIONS_OF_ROUND),
            EventType::Bid => (1 + AUCTIONS_OF_ROUND, BIDS_OF_ROUND),
        }
    }

    /// The number that event `row` of this type has among all events.
    pub fn event_number(self, row: u64) -> u64 {
        let (first, count) = self.place();
        row / count * ROUND + first + row % count
    }

    /// How many of the first `events` are of this type.
    pub fn rows_in(self, events: u64) -> u64 {
        let (first, count) = self.place();
        events / ROUND * count + (events % ROUND).saturating_sub(first).min(count)
    }

    /// The column `name` of the events `numbers`.
    pub fn column(self, name: &str, data_type: &DataType, events: &Events, numbers: &[u64]) -> ArrayRef {
        match (name, self) {
            ("dateTime", _) => timestamps(data_type, numbers.iter().map(|n| events.time_ms(*n))),
            (_, EventType::Person) => person::column(name, events, numbers),
            (_, EventType::Auction) => auction::column(name, data_type, events, numbers),
            (_, EventType::Bid) => bid::column(name, events, numbers),
        }
    }
}

/// The run of events that the options describe.
pub(super) struct Events {
    /// Events in a second of event time.
    pub rate: u64,
    /// Which run.
    pub seed: u64,
}

impl Events {
    /// When event `number` happens, in ms since 1970.
    pub fn time_ms(&self, number: u64) -> i64 {
        let since_start = u128::from(number) * 1_000 / u128::from(self.rate);
        days_from_civil(2020, 1, 1) * 86_400_000 + i64::try_from(since_start).unwrap_or(i64::MAX / 2)
    }

    /// The random numbers of one column.
    pub fn stream(&self, column: u64) -> Stream {
        Stream::new(self.seed, column)
    }
}

/// The round of event `number`, which is also the number of its last person.
pub(super) fn round(number: u64) -> u64 {
    number / ROUND
}

/// Place of event `number` in its round.
pub(super) fn place_in_round(number: u64) -> u64 {
    number % ROUND
}

/// A seller or bidder: with three chances in four the hot one, else one of those active.
pub(super) fn person_id(number: u64, hot_offset: u64, draws: &mut Draws) -> i64 {
    let last = round(number);
    let person = if draws.below(4) > 0 {
        last / HOT_EVERY * HOT_EVERY + hot_offset
    } else {
        let active = ACTIVE_PERSONS.min(last + 1);
        last + 1 - active + draws.below(active + ID_LEAD)
    };
    (FIRST_ID + person) as i64
}

/// A price in cents, from 1 to 1,000,000 dollars, evenly spread over the orders of magnitude.
pub(super) fn price(draws: &mut Draws) -> i64 {
    (10_f64.powf(draws.unit() * 6.0) * 100.0).round() as i64
}

/// A column of whole numbers.
pub(super) fn ints(numbers: &[u64], value: impl Fn(u64) -> i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(numbers.iter().map(|n| value(*n))))
}

/// A column of timestamps from ms.
pub(super) fn timestamps(data_type: &DataType, ms: impl Iterator<Item = i64>) -> ArrayRef {
    let DataType::Timestamp(unit, zone) = data_type else { unreachable!("the columns' types were checked") };
    let zone = zone.clone();
    match unit {
        TimeUnit::Second => {
            Arc::new(TimestampSecondArray::from_iter_values(ms.map(|t| t.div_euclid(1_000))).with_timezone_opt(zone))
        }
        TimeUnit::Millisecond => Arc::new(TimestampMillisecondArray::from_iter_values(ms).with_timezone_opt(zone)),
        TimeUnit::Microsecond => Arc::new(
            TimestampMicrosecondArray::from_iter_values(ms.map(|t| t.saturating_mul(1_000))).with_timezone_opt(zone),
        ),
        TimeUnit::Nanosecond => Arc::new(
            TimestampNanosecondArray::from_iter_values(ms.map(|t| t.saturating_mul(1_000_000))).with_timezone_opt(zone),
        ),
    }
}

/// A column of strings; `append` adds the text of an event.
pub(super) fn strings(numbers: &[u64], mut append: impl FnMut(u64, &mut Vec<u8>)) -> ArrayRef {
    let mut builder = StringBuilder::with_capacity(numbers.len(), numbers.len() * 16);
    let mut text = vec![];
    for number in numbers {
        text.clear();
        append(*number, &mut text);
        builder.append_value(String::from_utf8_lossy(&text));
    }
    Arc::new(builder.finish())
}

const LETTERS: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";

/// Appends `length` random letters.
pub(super) fn letters(draws: &mut Draws, length: usize, out: &mut Vec<u8>) {
    draws.text(LETTERS, length, out);
}

/// The column that brings an event to the size wanted on average: `missing` bytes, a fifth more or less.
pub(super) fn padding(numbers: &[u64], stream: Stream, missing: impl Fn(u64) -> usize) -> ArrayRef {
    strings(numbers, |number, out| {
        let mut draws = stream.at(number);
        let missing = missing(number);
        let spread = missing.div_ceil(5).max(1);
        let length = missing.saturating_sub(spread) + draws.below(2 * spread as u64) as usize;
        letters(&mut draws, length, out);
    })
}
