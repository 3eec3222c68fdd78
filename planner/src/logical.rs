//! Logical plan nodes of our own, beside DataFusion's.

pub mod window_tvf;
