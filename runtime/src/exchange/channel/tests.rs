use super::*;
use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::test_rows::numbers;

fn test_channel(rows: usize, bytes: usize) -> (Sender, Receiver) {
    channel(ChannelLimits { rows, bytes }, Arc::default(), Arc::default())
}

fn batch(rows: i64) -> StreamElement {
    StreamElement::Batch(ChangeBatch::insert_only(numbers(0..rows)))
}

fn shape(element: StreamElement) -> String {
    match element {
        StreamElement::Batch(b) => format!("{} rows", b.num_rows()),
        StreamElement::Watermark(w) => format!("watermark {}", w.0),
        StreamElement::Barrier(id) => format!("barrier {id}"),
        StreamElement::Idle => "idle".into(),
        StreamElement::End => "end".into(),
    }
}

fn drain(receiver: &Receiver) -> Vec<String> {
    std::iter::from_fn(|| receiver.pop()).map(shape).collect()
}

#[test]
fn is_full_from_the_limit_on_and_free_again_below_it() {
    let (sender, receiver) = test_channel(4, usize::MAX);
    sender.push(batch(3));
    assert_eq!(sender.room(), Room::Free);
    sender.push(batch(2));
    assert_eq!(sender.room(), Room::Full);
    receiver.pop();
    assert_eq!(sender.room(), Room::Free);
}

#[test]
fn bytes_count_as_well_as_rows() {
    let (sender, receiver) = test_channel(usize::MAX, 8);
    sender.push(batch(1));
    assert_eq!(sender.room(), Room::Full);
    receiver.pop();
    assert_eq!(sender.room(), Room::Free);
}

#[test]
fn a_slice_counts_as_what_it_shows() {
    let (sender, _receiver) = test_channel(usize::MAX, 20);
    let rows = ChangeBatch::insert_only(numbers(0..1_000));
    sender.push(StreamElement::Batch(rows.slice(0, 2)));
    assert_eq!(sender.room(), Room::Free, "16 bytes");
    sender.push(StreamElement::Batch(rows.slice(2, 1)));
    assert_eq!(sender.room(), Room::Full, "24 bytes");
}

#[test]
fn a_pop_wakes_the_producer_only_when_it_makes_room() {
    let (producer, consumer) = (Arc::<WakeUp>::default(), Arc::<WakeUp>::default());
    let limits = ChannelLimits { rows: 2, bytes: usize::MAX };
    let (sender, receiver) = channel(limits, Arc::clone(&producer), Arc::clone(&consumer));
    sender.push(batch(1));
    sender.push(batch(1));
    assert_eq!((producer.epoch(), consumer.epoch()), (0, 1), "one push into an empty channel");
    receiver.pop();
    receiver.pop();
    assert_eq!((producer.epoch(), consumer.epoch()), (1, 1), "one pop from a full channel");
}

#[test]
fn watermarks_between_batches_merge_into_the_last() {
    let (sender, receiver) = test_channel(100, usize::MAX);
    for watermark in [1, 2] {
        sender.push(StreamElement::Watermark(Watermark(watermark)));
    }
    sender.push(StreamElement::Idle);
    sender.push(StreamElement::Idle);
    sender.push(StreamElement::Watermark(Watermark(3)));
    sender.push(batch(1));
    sender.push(StreamElement::Watermark(Watermark(4)));
    sender.push(StreamElement::Idle);
    sender.push(StreamElement::End);
    assert_eq!(drain(&receiver), ["watermark 3", "1 rows", "watermark 4", "idle", "end"]);
}

#[test]
fn a_consumer_that_left_closes_the_channel() {
    let (sender, receiver) = test_channel(1, usize::MAX);
    sender.push(batch(1));
    drop(receiver);
    assert_eq!(sender.room(), Room::Closed);
    sender.push(batch(1));
}

#[test]
fn a_producer_that_left_exhausts_the_channel_after_its_last_element() {
    let (sender, receiver) = test_channel(1, usize::MAX);
    sender.push(batch(1));
    drop(sender);
    assert!(!receiver.is_exhausted());
    receiver.pop();
    assert!(receiver.is_exhausted());
}
