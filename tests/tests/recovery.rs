//! Jobs that die: at every write in turn, by SIGKILL, of a damaged checkpoint. What they have written in the end is what
//! a job writes that lives.

#[expect(dead_code, reason = "`cli` uses the rest of it")]
#[path = "cli/binary.rs"]
mod binary;
#[path = "recovery/every_write.rs"]
mod every_write;
#[path = "recovery/kill.rs"]
mod kill;
#[path = "recovery/refusals.rs"]
mod refusals;
