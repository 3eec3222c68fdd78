//! Bids.

use std::sync::LazyLock;

use arrow::array::ArrayRef;

use super::super::random::{Draws, Stream};
use super::auction::{IN_FLIGHT, last_auction};
use super::event::{Events, FIRST_ID, HOT_EVERY, ID_LEAD, ints, padding, person_id, price, strings};

/// In the order of the benchmark.
pub(super) const COLUMNS: [&str; 7] = ["auction", "bidder", "price", "channel", "url", "dateTime", "extra"];

const HOT_CHANNELS: [&str; 4] = ["Google", "Facebook", "Baidu", "Apple"];
const COLD_CHANNELS: usize = 10_000;

/// Bytes of a bid on average.
const SIZE: usize = 100;

/// Streams of persons and auctions come first.
const FIRST_STREAM: u64 = 200;

/// Every channel has an address of its own, whatever the seed; those of the hot ones come first.
static ADDRESSES: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| (0..HOT_CHANNELS.len() + COLD_CHANNELS).map(address).collect());

/// A column of the bids `numbers`.
pub(super) fn column(name: &str, events: &Events, numbers: &[u64]) -> ArrayRef {
    let position = |name: &str| COLUMNS.iter().position(|c| *c == name).unwrap_or(COLUMNS.len()) as u64;
    let stream = events.stream(FIRST_STREAM + position(name));
    let channels = events.stream(FIRST_STREAM + position("channel"));
    match name {
        "auction" => ints(numbers, |n| auction_id(n, &mut stream.at(n))),
        // The hot bidder stands next to the hot seller, so that they are not the same.
        "bidder" => ints(numbers, |n| person_id(n, 1, &mut stream.at(n))),
        "price" => ints(numbers, |n| price(&mut stream.at(n))),
        "channel" => strings(numbers, |n, out| match HOT_CHANNELS.get(channel(&mut channels.at(n))) {
            Some(hot) => out.extend_from_slice(hot.as_bytes()),
            None => {
                out.extend_from_slice(b"channel-");
                let cold = channel(&mut channels.at(n)) - HOT_CHANNELS.len();
                out.extend_from_slice(cold.to_string().as_bytes());
            }
        }),
        "url" => {
            let addresses = &*ADDRESSES;
            strings(numbers, |n, out| out.extend_from_slice(&addresses[channel(&mut channels.at(n))]))
        }
        // The numbers of the other columns take 32 bytes.
        _ => padding(numbers, stream, |_| SIZE - 32),
    }
}

/// Every other bid is for the hot auction, the rest for one of those in flight.
fn auction_id(number: u64, draws: &mut Draws) -> i64 {
    let last = last_auction(number);
    let auction = if draws.below(2) > 0 {
        last / HOT_EVERY * HOT_EVERY
    } else {
        let first = last.saturating_sub(IN_FLIGHT);
        first + draws.below(last - first + 1 + ID_LEAD)
    };
    (FIRST_ID + auction) as i64
}

/// A channel's place in [`ADDRESSES`].
fn channel(draws: &mut Draws) -> usize {
    match draws.below(2) {
        0 => HOT_CHANNELS.len() + draws.below(COLD_CHANNELS as u64) as usize,
        _ => draws.below(HOT_CHANNELS.len() as u64) as usize,
    }
}

fn address(channel: usize) -> Vec<u8> {
    let mut draws = Stream::new(0, FIRST_STREAM).at(channel as u64);
    let mut out = b"https://www.nexmark.com/".to_vec();
    for _ in 0..3 {
        let length = 3 + draws.below(2) as usize;
        draws.text(b"abcdefghijklmnopqrstuvwxyz_", length, &mut out);
        out.push(b'/');
    }
    out.extend_from_slice(b"item.htm?query=1");
    if channel >= HOT_CHANNELS.len() && draws.below(10) > 0 {
        out.extend_from_slice(format!("&channel_id={}", draws.below(1 << 31)).as_bytes());
    }
    out
}
