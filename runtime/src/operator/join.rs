//! Joins of two inputs.
//!
//! [`regular`] joins keep both inputs; [`interval`] and [`window`] joins keep what event time may still need, and put
//! out nothing that is ever taken back. All three stand on one `KeyedJoin`.

mod chunks;
mod expiry_queue;
pub mod interval;
mod keyed_join;
mod output_rows;
mod pairs;
mod plan;
pub mod regular;
mod row_index;
mod row_store;
mod state;
pub mod window;

#[cfg(test)]
mod test_inputs;
