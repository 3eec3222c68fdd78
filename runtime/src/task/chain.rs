//! Operators joined by forward edges: a batch passes from one to the next by function call.
//!
//! **Invariant:** what an operator emits for a watermark passes through the rest of the chain before the watermark
//! does, and what it emits at its end before the next operator learns of the end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tidemark_state::snapshot::OperatorSnapshot;

use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::error::{OperatorError, RuntimeError};
use crate::metrics::OperatorMetrics;
use crate::operator::{Operator, OperatorContext, Output};

/// What a chain's last operator feeds.
pub trait Downstream {
    /// Takes rows.
    fn batch(&mut self, batch: ChangeBatch) -> Result<(), RuntimeError>;

    /// Takes the watermark that follows the rows.
    fn watermark(&mut self, watermark: Watermark) -> Result<(), RuntimeError>;
}

/// A chain; possibly of no operator at all.
#[derive(Default)]
pub struct Chain {
    links: Vec<Link>,
}

struct Link {
    operator: Box<dyn Operator>,
    metrics: Arc<OperatorMetrics>,
    output: Output,
    /// The last watermark it took, and the last it gave.
    taken: Watermark,
    given: Watermark,
}

impl Chain {
    /// Appends an operator.
    pub fn push(&mut self, mut operator: Box<dyn Operator>, ctx: OperatorContext) -> Result<(), RuntimeError> {
        guard(&ctx.metrics.uid, || operator.open(&ctx))?;
        let (taken, given) = (Watermark::MIN, Watermark::MIN);
        self.links.push(Link { operator, metrics: ctx.metrics, output: Output::default(), taken, given });
        Ok(())
    }

    /// Gives the operator `uid` what subtasks have kept of it. To be called before anything else, if at all.
    pub fn restore(&mut self, uid: &str, snapshot: &OperatorSnapshot) -> Result<(), RuntimeError> {
        let mut links = self.links.iter_mut().filter(|link| link.metrics.uid == uid);
        links.try_for_each(|link| link.call(|operator, _| operator.restore(snapshot)))
    }

    /// What the operators must keep at a barrier, by uid; nothing of those that have no state.
    pub fn snapshot(&mut self) -> Result<Vec<(String, OperatorSnapshot)>, RuntimeError> {
        let with_state = self.links.iter_mut().filter(|link| !link.operator.state_tables().is_empty());
        with_state
            .map(|link| {
                let uid = link.metrics.uid.clone();
                let snapshot = guard(&uid, || link.operator.snapshot())?;
                Ok((uid, snapshot))
            })
            .collect()
    }

    /// Lets the operators know a watermark that they had been told before; they have no rows yet.
    pub fn resume_at(&mut self, watermark: Watermark) -> Result<(), RuntimeError> {
        for link in &mut self.links {
            link.given = link.take_watermark(watermark)?;
        }
        Ok(())
    }

    /// Drives rows of input `input` through.
    pub fn process(
        &mut self,
        input: usize,
        batch: ChangeBatch,
        now_ms: i64,
        down: &mut dyn Downstream,
    ) -> Result<(), RuntimeError> {
        process(&mut self.links, input, batch, now_ms, down)
    }

    /// Event time has reached `watermark` on all inputs.
    pub fn advance(
        &mut self,
        watermark: Watermark,
        now_ms: i64,
        down: &mut dyn Downstream,
    ) -> Result<(), RuntimeError> {
        advance(&mut self.links, watermark, now_ms, down)
    }

    /// The processing time at which an operator wants to be called.
    pub fn next_timer_ms(&self) -> Option<i64> {
        self.links.iter().filter_map(|link| link.operator.next_timer_ms()).min()
    }

    /// Calls the operators whose time has come. Was there one?
    pub fn fire_timers(&mut self, now_ms: i64, down: &mut dyn Downstream) -> Result<bool, RuntimeError> {
        let mut fired = false;
        for index in 0..self.links.len() {
            let [link, rest @ ..] = &mut self.links[index..] else { break };
            if link.operator.next_timer_ms().is_some_and(|at| at <= now_ms) {
                link.call(|operator, out| operator.on_processing_time(now_ms, out))?;
                link.pass_on(rest, now_ms, down)?;
                fired = true;
            }
        }
        Ok(fired)
    }

    /// The operator, if any, that needs no more input.
    pub fn satisfied(&self) -> Option<usize> {
        self.links.iter().rposition(|link| link.operator.is_satisfied())
    }

    /// The input of operator `first` has ended: ends it and those behind it, in turn.
    pub fn finish_from(&mut self, first: usize, now_ms: i64, down: &mut dyn Downstream) -> Result<(), RuntimeError> {
        for index in first..self.links.len() {
            let [link, rest @ ..] = &mut self.links[index..] else { break };
            link.take_watermark(Watermark::MAX)?;
            link.pass_on_rows(rest, now_ms, down)?;
            link.call(|operator, out| operator.finish(out))?;
            link.pass_on_rows(rest, now_ms, down)?;
        }
        Ok(())
    }
}

fn process(
    links: &mut [Link],
    input: usize,
    batch: ChangeBatch,
    now_ms: i64,
    down: &mut dyn Downstream,
) -> Result<(), RuntimeError> {
    let [link, rest @ ..] = links else { return down.batch(batch) };
    link.metrics.rows_in.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
    link.call(|operator, out| operator.process(input, batch, now_ms, out))?;
    link.pass_on(rest, now_ms, down)
}

fn advance(
    links: &mut [Link],
    watermark: Watermark,
    now_ms: i64,
    down: &mut dyn Downstream,
) -> Result<(), RuntimeError> {
    let [link, rest @ ..] = links else { return down.watermark(watermark) };
    if watermark <= link.taken {
        return Ok(());
    }
    let given = link.take_watermark(watermark)?;
    link.pass_on(rest, now_ms, down)?;
    if given > link.given {
        link.given = given;
        advance(rest, given, now_ms, down)?;
    }
    Ok(())
}

impl Link {
    fn take_watermark(&mut self, watermark: Watermark) -> Result<Watermark, RuntimeError> {
        self.taken = watermark;
        let (uid, out) = (&self.metrics.uid, &mut self.output);
        let given = guard(uid, || self.operator.on_watermark(watermark, out))?;
        debug_assert!(given <= watermark, "an operator gives no watermark beyond the one it takes");
        Ok(given)
    }

    fn call(
        &mut self,
        call: impl FnOnce(&mut dyn Operator, &mut Output) -> Result<(), OperatorError>,
    ) -> Result<(), RuntimeError> {
        guard(&self.metrics.uid, || call(self.operator.as_mut(), &mut self.output))
    }

    /// Drives what was emitted through the rest of the chain, then the watermark derived from it.
    fn pass_on(&mut self, rest: &mut [Link], now_ms: i64, down: &mut dyn Downstream) -> Result<(), RuntimeError> {
        self.pass_on_rows(rest, now_ms, down)?;
        match self.output.take_watermark() {
            Some(derived) if derived > self.given => {
                self.given = derived;
                advance(rest, derived, now_ms, down)
            }
            _ => Ok(()),
        }
    }

    fn pass_on_rows(&mut self, rest: &mut [Link], now_ms: i64, down: &mut dyn Downstream) -> Result<(), RuntimeError> {
        if self.output.is_empty() {
            return Ok(());
        }
        for batch in self.output.drain() {
            self.metrics.rows_out.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
            process(rest, 0, batch, now_ms, down)?;
        }
        Ok(())
    }
}

/// Runs a call of an operator; a panic becomes an error that names it.
fn guard<T>(uid: &str, call: impl FnOnce() -> Result<T, OperatorError>) -> Result<T, RuntimeError> {
    // After a panic the job ends and nothing looks at the operator again.
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => Ok(result?),
        Err(payload) => Err(RuntimeError::Panic(format!("{uid}: {}", panic_message(payload.as_ref())))),
    }
}

/// What a panic said.
pub fn panic_message(payload: &(dyn std::any::Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests;
