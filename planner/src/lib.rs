//! Plans Flink-dialect SQL into streaming job graphs.
//!
//! Planning is a pure function from (statement, catalog, settings) to a plan value that prints and serialises.
//!
//! **Invariant:** this crate must not know IO, threads, clocks, connectors' clients or RocksDB. What it needs of a
//! connector it declares as [`catalog::connector::ConnectorFactory`], which the runtime implements.

pub mod bind;
pub mod catalog;
pub mod changelog;
pub mod codes;
pub mod compiled_expr;
mod explain;
pub mod functions;
pub mod job_graph;
mod logical;
mod lower;
mod optimize;
mod overflow;
mod planner;
pub mod settings;
mod stack;
pub mod stream_plan;
pub mod types;

pub use planner::{Planned, Planner, QueryOutput};
