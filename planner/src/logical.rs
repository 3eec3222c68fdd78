//! Logical plan nodes of our own, beside DataFusion's.

pub mod match_recognize;
pub mod window_tvf;
