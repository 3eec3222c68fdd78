//! Tidemark as a library: parse, plan, run and show.
//!
//! [`Session`] is what an embedding program holds; [`render`] and [`summary`] are how the command line shows what a
//! session gives.

pub mod render;
pub mod session;
pub mod state;
pub mod summary;

pub use session::Session;
