//! Runs job graphs: tasks, chains, exchange, operators, connectors and formats.
//!
//! **Invariant:** no SQL text here. Expressions arrive compiled, tables arrive as definitions.

mod aggregate;
pub mod change_batch;
pub mod checkpoint;
pub mod clock;
pub mod connector;
pub mod element;
pub mod engine;
pub mod error;
mod event_time;
mod exchange;
pub mod format;
pub mod job;
pub mod metrics;
pub mod operator;
mod scheduler;
pub mod summary;
mod task;
mod window;

#[cfg(test)]
mod test_exprs;
#[cfg(test)]
mod test_restore;
#[cfg(test)]
mod test_rows;
