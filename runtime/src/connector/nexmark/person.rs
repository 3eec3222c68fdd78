//! Persons.

use arrow::array::ArrayRef;

use super::super::random::Draws;
use super::event::{Events, FIRST_ID, ints, letters, padding, round, strings};

/// In the order of the benchmark.
pub(super) const COLUMNS: [&str; 8] =
    ["id", "name", "emailAddress", "creditCard", "city", "state", "dateTime", "extra"];

const FIRST_NAMES: [&str; 11] =
    ["Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"];
const LAST_NAMES: [&str; 9] = ["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"];
const CITIES: [&str; 10] =
    ["Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"];
const STATES: [&str; 6] = ["AZ", "CA", "ID", "OR", "WA", "WY"];

/// Bytes of a person on average.
const SIZE: usize = 200;

/// A column of the persons `numbers`.
pub(super) fn column(name: &str, events: &Events, numbers: &[u64]) -> ArrayRef {
    let position = COLUMNS.iter().position(|c| *c == name).unwrap_or(COLUMNS.len()) as u64;
    let stream = events.stream(position);
    match name {
        "id" => ints(numbers, |n| (FIRST_ID + round(n)) as i64),
        "name" => strings(numbers, |n, out| {
            let mut draws = stream.at(n);
            choose(&FIRST_NAMES, &mut draws, out);
            out.push(b' ');
            choose(&LAST_NAMES, &mut draws, out);
        }),
        "emailAddress" => strings(numbers, |n, out| {
            let mut draws = stream.at(n);
            letters(&mut draws, 7, out);
            out.push(b'@');
            letters(&mut draws, 5, out);
            out.extend_from_slice(b".com");
        }),
        "creditCard" => strings(numbers, |n, out| {
            let mut draws = stream.at(n);
            for group in 0..4 {
                if group > 0 {
                    out.push(b' ');
                }
                draws.text(b"0123456789", 4, out);
            }
        }),
        "city" => strings(numbers, |n, out| choose(&CITIES, &mut stream.at(n), out)),
        "state" => strings(numbers, |n, out| choose(&STATES, &mut stream.at(n), out)),
        // The other columns take about 70 bytes.
        _ => padding(numbers, stream, |_| SIZE - 70),
    }
}

fn choose(words: &[&str], draws: &mut Draws, out: &mut Vec<u8>) {
    out.extend_from_slice(words[draws.below(words.len() as u64) as usize].as_bytes());
}
