use std::sync::Arc;

use super::*;
use crate::exchange::channel::{ChannelLimits, Sender, channel};
use crate::test_rows::numbers;

/// A gate of `n` channels, channel `i` feeding input `i`.
fn gate(n: usize) -> (Vec<Sender>, InputGate) {
    let ends: Vec<_> = (0..n).map(|_| channel(ChannelLimits::default(), Arc::default(), Arc::default())).collect();
    let (senders, receivers): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
    (senders, InputGate::new(receivers.into_iter().enumerate().collect()))
}

fn watermark(ms: i64) -> StreamElement {
    StreamElement::Watermark(Watermark(ms))
}

fn batch() -> StreamElement {
    StreamElement::Batch(ChangeBatch::insert_only(numbers([1])))
}

fn barrier(checkpoint: u64) -> StreamElement {
    StreamElement::Barrier(CheckpointId(checkpoint))
}

/// Pushes (channel, element) one at a time; after each, what came out.
fn check(channels: usize, steps: Vec<(usize, StreamElement, &[&str])>) {
    let (senders, mut gate) = gate(channels);
    for (step, (to, element, expect)) in steps.into_iter().enumerate() {
        senders[to].push(element);
        assert_eq!(drain(&mut gate), expect, "step {step}");
    }
}

fn drain(gate: &mut InputGate) -> Vec<String> {
    let mut seen = Vec::new();
    while let Some(event) = gate.poll() {
        seen.push(match event {
            GateEvent::Batch { input, batch } => format!("{} row of input {input}", batch.num_rows()),
            GateEvent::Watermark(w) => format!("watermark {}", w.0),
            GateEvent::Barrier(id) => format!("barrier {id}"),
            GateEvent::Idle => "idle".into(),
            GateEvent::End => "end".into(),
        });
        if seen.last().is_some_and(|s| s == "end") {
            break;
        }
    }
    seen
}

#[test]
fn the_watermark_is_the_minimum_and_never_goes_back() {
    check(
        2,
        vec![
            (0, watermark(10), &[]),
            (1, watermark(5), &["watermark 5"]),
            (1, watermark(20), &["watermark 10"]),
            (0, batch(), &["1 row of input 0"]),
            (0, watermark(15), &["watermark 15"]),
        ],
    );
}

#[test]
fn an_ended_channel_neither_holds_nor_pushes() {
    check(
        2,
        vec![
            (0, watermark(1), &[]),
            (1, watermark(2), &["watermark 1"]),
            (0, StreamElement::End, &["watermark 2"]),
            (1, watermark(30), &["watermark 30"]),
            (1, StreamElement::End, &["end"]),
        ],
    );
}

#[test]
fn a_channel_that_has_said_nothing_holds_even_when_the_other_ends() {
    check(2, vec![(0, watermark(9), &[]), (0, StreamElement::End, &[]), (1, watermark(3), &["watermark 3"])]);
}

#[test]
fn an_idle_channel_does_not_hold_and_comes_back_without_going_back() {
    check(
        2,
        vec![
            (0, watermark(5), &[]),
            (1, StreamElement::Idle, &["watermark 5"]),
            (0, watermark(9), &["watermark 9"]),
            (1, watermark(7), &[]),
            (0, watermark(20), &[]),
            (1, watermark(12), &["watermark 12"]),
        ],
    );
}

#[test]
fn all_idle_is_idle_and_the_first_to_return_repeats_the_watermark() {
    check(
        2,
        vec![
            (0, watermark(5), &[]),
            (1, watermark(5), &["watermark 5"]),
            (0, StreamElement::Idle, &[]),
            (1, StreamElement::Idle, &["idle"]),
            (1, watermark(5), &["watermark 5"]),
        ],
    );
}

#[test]
fn an_ended_and_an_idle_channel_are_idle_not_at_the_end_of_time() {
    check(
        2,
        vec![
            (0, watermark(5), &[]),
            (1, watermark(3), &["watermark 3"]),
            (0, StreamElement::End, &[]),
            (1, StreamElement::Idle, &["watermark 5", "idle"]),
            (1, StreamElement::End, &["end"]),
        ],
    );
}

#[test]
fn the_order_in_which_channels_go_quiet_does_not_matter() {
    check(
        2,
        vec![
            (0, watermark(15), &[]),
            (0, StreamElement::Idle, &[]),
            (1, StreamElement::Idle, &["watermark 15", "idle"]),
        ],
    );
    check(
        2,
        vec![(1, StreamElement::Idle, &[]), (0, watermark(15), &["watermark 15"]), (0, StreamElement::Idle, &["idle"])],
    );
}

#[test]
fn a_gate_without_channels_has_ended() {
    let (_, mut gate) = gate(0);
    assert_eq!(drain(&mut gate), ["end"]);
}

#[test]
fn channels_take_turns() {
    let (senders, mut gate) = gate(2);
    for _ in 0..2 {
        senders[0].push(batch());
        senders[1].push(batch());
    }
    let turns = ["1 row of input 0", "1 row of input 1", "1 row of input 0", "1 row of input 1"];
    assert_eq!(drain(&mut gate), turns);
}

#[test]
fn nothing_is_taken_from_behind_a_barrier_before_all_have_given_theirs() {
    check(
        2,
        vec![
            (0, barrier(1), &[]),
            (0, batch(), &[]),
            (0, watermark(10), &[]),
            (1, batch(), &["1 row of input 1"]),
            (1, watermark(5), &[]),
            (1, barrier(1), &["barrier 1", "1 row of input 0", "watermark 5"]),
            (1, barrier(2), &[]),
            (0, barrier(2), &["barrier 2"]),
        ],
    );
}

#[test]
fn an_ended_channel_counts_as_having_given_its_barrier() {
    check(
        3,
        vec![
            (0, StreamElement::End, &[]),
            (1, barrier(1), &[]),
            (1, batch(), &[]),
            (2, StreamElement::End, &["barrier 1", "1 row of input 1"]),
            (1, barrier(2), &["barrier 2"]),
            (1, StreamElement::End, &["end"]),
        ],
    );
}

#[test]
fn a_channel_that_has_gone_quiet_still_gives_its_barrier() {
    check(
        2,
        vec![
            (0, StreamElement::Idle, &[]),
            (1, watermark(7), &["watermark 7"]),
            (1, barrier(1), &[]),
            (0, barrier(1), &["barrier 1"]),
            (1, watermark(8), &["watermark 8"]),
        ],
    );
}
