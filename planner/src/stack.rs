//! A stack on which statements are planned.
//!
//! Whoever walks, copies or drops a plan recurses. How deep a plan may be is limited (by the parser's limits, and by
//! those of [`crate::bind`] where views are put in place of their names); this is the stack that the limits need.

/// What the deepest statement that is not refused takes in a debug build, with room to spare.
const STACK_BYTES: usize = 256 << 20;
/// Below this, a new stack is taken.
const ENOUGH_BYTES: usize = 128 << 20;

/// Runs `plan` with a stack that is deep enough. Memory that is not touched is not taken.
pub(crate) fn with_deep_stack<R>(plan: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(ENOUGH_BYTES, STACK_BYTES, plan)
}
