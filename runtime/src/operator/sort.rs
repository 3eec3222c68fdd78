//! `ORDER BY`: as the watermark advances, or once when a bounded input ends.
//!
//! Rows that are equal in every key keep their order of arrival.

mod at_end;
mod by_watermark;
pub(super) mod order;
mod state;

pub use at_end::{FoldInput, SortAtEnd};
pub use by_watermark::SortByWatermark;

#[cfg(test)]
mod restore_tests;
