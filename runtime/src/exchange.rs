//! What lies between tasks: bounded channels, the split of rows by key, and the gate where a task's inputs meet.

pub mod channel;
pub mod input_gate;
pub mod partition;
pub mod wake_up;
