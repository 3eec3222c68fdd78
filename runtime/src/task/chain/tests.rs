use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::*;
use crate::test_rows::{numbers, values_of};

/// Notes what reaches the end of a chain.
#[derive(Default)]
struct Seen(Vec<String>);

impl Downstream for Seen {
    fn batch(&mut self, batch: ChangeBatch) -> Result<(), RuntimeError> {
        self.0.push(format!("{:?}", values_of([&batch])));
        Ok(())
    }

    fn watermark(&mut self, watermark: Watermark) -> Result<(), RuntimeError> {
        self.0.push(format!("watermark {}", watermark.0));
        Ok(())
    }
}

/// For operators of which these tests ask no state.
macro_rules! without_state {
    () => {
        fn state_tables(&self) -> Vec<StateTableSchema> {
            vec![]
        }

        fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
            Ok(OperatorSnapshot::default())
        }

        fn restore(&mut self, _: &OperatorSnapshot) -> Result<(), OperatorError> {
            Ok(())
        }
    };
}

/// Adds to each number; emits `[mark]` on a watermark, `[mark + 1]` on a timer and `[mark + 2]` at its end.
struct Marking {
    add: i64,
    mark: i64,
    timer: Option<i64>,
    satisfied: bool,
}

impl Marking {
    fn emit(&self, value: i64, out: &mut Output) {
        out.emit(ChangeBatch::insert_only(numbers([value])));
    }
}

impl Operator for Marking {
    without_state!();

    fn process(&mut self, _: usize, batch: ChangeBatch, _: i64, out: &mut Output) -> Result<(), OperatorError> {
        let added = values_of([&batch]).into_iter().map(|n| n + self.add);
        out.emit(ChangeBatch::insert_only(numbers(added)));
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<Watermark, OperatorError> {
        self.emit(self.mark, out);
        Ok(watermark)
    }

    fn on_processing_time(&mut self, _: i64, out: &mut Output) -> Result<(), OperatorError> {
        self.timer = None;
        self.emit(self.mark + 1, out);
        Ok(())
    }

    fn next_timer_ms(&self) -> Option<i64> {
        self.timer
    }

    fn finish(&mut self, out: &mut Output) -> Result<(), OperatorError> {
        self.emit(self.mark + 2, out);
        Ok(())
    }

    fn is_satisfied(&self) -> bool {
        self.satisfied
    }
}

/// The largest number so far is the watermark.
#[derive(Default)]
struct Deriving;

impl Operator for Deriving {
    without_state!();

    fn process(&mut self, _: usize, batch: ChangeBatch, _: i64, out: &mut Output) -> Result<(), OperatorError> {
        let largest = values_of([&batch]).into_iter().max().expect("a row");
        out.emit(batch);
        out.advance_watermark(Watermark(largest));
        Ok(())
    }
}

struct Panicking;

impl Operator for Panicking {
    without_state!();

    fn process(&mut self, _: usize, _: ChangeBatch, _: i64, _: &mut Output) -> Result<(), OperatorError> {
        panic!("the sky falls")
    }
}

fn context(uid: &str) -> OperatorContext {
    OperatorContext::single(10, Arc::new(OperatorMetrics::new(uid)))
}

fn chain(operators: Vec<Box<dyn Operator>>) -> Chain {
    let mut chain = Chain::default();
    for (index, operator) in operators.into_iter().enumerate() {
        chain.push(operator, context(&format!("operator-{index}"))).unwrap();
    }
    chain
}

fn marking(add: i64, mark: i64) -> Box<Marking> {
    Box::new(Marking { add, mark, timer: None, satisfied: false })
}

fn batch(values: impl IntoIterator<Item = i64>) -> ChangeBatch {
    ChangeBatch::insert_only(numbers(values))
}

#[test]
fn rows_for_a_watermark_pass_before_it_does() {
    let mut chain = chain(vec![marking(1, 100), marking(10, 200)]);
    let mut seen = Seen::default();
    chain.process(0, batch([1, 2]), 0, &mut seen).unwrap();
    chain.advance(Watermark(5), 0, &mut seen).unwrap();
    assert_eq!(seen.0, ["[12, 13]", "[110]", "[200]", "watermark 5"]);
}

#[test]
fn a_watermark_that_does_not_advance_is_not_passed_on() {
    let mut chain = chain(vec![marking(1, 100)]);
    let mut seen = Seen::default();
    for watermark in [5, 5, 4, 6] {
        chain.advance(Watermark(watermark), 0, &mut seen).unwrap();
    }
    assert_eq!(seen.0, ["[100]", "watermark 5", "[100]", "watermark 6"]);
}

#[test]
fn a_derived_watermark_follows_the_rows_it_came_from() {
    let mut chain = chain(vec![Box::new(Deriving), marking(0, 100)]);
    let mut seen = Seen::default();
    chain.process(0, batch([3, 1]), 0, &mut seen).unwrap();
    chain.process(0, batch([2]), 0, &mut seen).unwrap();
    assert_eq!(seen.0, ["[3, 1]", "[100]", "watermark 3", "[2]"]);
}

#[test]
fn each_operator_has_all_rows_of_the_one_before_when_it_ends() {
    let mut chain = chain(vec![marking(1, 100), marking(10, 200)]);
    let mut seen = Seen::default();
    chain.finish_from(0, 0, &mut seen).unwrap();
    assert_eq!(seen.0, ["[110]", "[112]", "[200]", "[202]"]);
}

#[test]
fn a_timer_fires_once_its_time_has_come_and_feeds_the_rest() {
    let timed = Marking { add: 1, mark: 100, timer: Some(50), satisfied: false };
    let mut chain = chain(vec![Box::new(timed), marking(10, 200)]);
    let mut seen = Seen::default();
    assert_eq!(chain.next_timer_ms(), Some(50));
    assert!(!chain.fire_timers(49, &mut seen).unwrap());
    assert!(chain.fire_timers(50, &mut seen).unwrap());
    assert_eq!(seen.0, ["[111]"]);
    assert_eq!(chain.next_timer_ms(), None);
}

#[test]
fn operators_above_a_satisfied_one_are_not_asked_for_their_rest() {
    let full = Marking { add: 10, mark: 200, timer: None, satisfied: true };
    let mut chain = chain(vec![marking(1, 100), Box::new(full), marking(0, 300)]);
    assert_eq!(chain.satisfied(), Some(1));
    let mut seen = Seen::default();
    chain.finish_from(1, 0, &mut seen).unwrap();
    assert_eq!(seen.0, ["[200]", "[202]", "[300]", "[302]"]);
}

#[test]
fn rows_are_counted_in_and_out() {
    let metrics = Arc::new(OperatorMetrics::new("marking-1"));
    let ctx = OperatorContext { metrics: Arc::clone(&metrics), ..context("") };
    let mut chain = Chain::default();
    chain.push(marking(1, 100), ctx).unwrap();
    chain.process(0, batch([1, 2]), 0, &mut Seen::default()).unwrap();
    chain.advance(Watermark(1), 0, &mut Seen::default()).unwrap();
    assert_eq!((metrics.rows_in.load(Ordering::Relaxed), metrics.rows_out.load(Ordering::Relaxed)), (2, 3));
}

#[test]
fn a_panic_is_an_error_that_names_the_operator() {
    let mut chain = chain(vec![marking(1, 100), Box::new(Panicking)]);
    let error = chain.process(0, batch([1]), 0, &mut Seen::default()).unwrap_err();
    assert_eq!(error.to_string(), "internal error: operator-1: the sky falls");
}
