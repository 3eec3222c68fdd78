//! Ends the process when there is a reason to stop and nobody reads what it prints: the thread that would heed the
//! reason is stuck in a write.

use std::io::{self, Stdout, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{Reason, Stop, TICK};

/// So many ticks may one write take when there is a reason to stop: half a second.
const PATIENCE_TICKS: u32 = 10;

/// Standard output that tells whether a write is under way.
pub struct WatchedOut {
    out: Stdout,
    writes: Writes,
}

/// Begun and ended writes together: an odd number while one is under way.
#[derive(Clone, Debug, Default)]
pub struct Writes(Arc<AtomicU64>);

impl WatchedOut {
    /// Over the process's standard output.
    pub fn new() -> Self {
        Self { out: io::stdout(), writes: Writes::default() }
    }

    /// What its writes can be watched by.
    pub fn writes(&self) -> Writes {
        self.writes.clone()
    }

    fn counted<T>(&mut self, write: impl FnOnce(&mut Stdout) -> io::Result<T>) -> io::Result<T> {
        self.writes.0.fetch_add(1, Ordering::SeqCst);
        let written = write(&mut self.out);
        self.writes.0.fetch_add(1, Ordering::SeqCst);
        written
    }
}

impl Write for WatchedOut {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.counted(|out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.counted(Stdout::flush)
    }
}

/// Counts how long one write has been under way, tick by tick.
#[derive(Default)]
struct Patience {
    seen: u64,
    ticks: u32,
}

impl Patience {
    /// Has the same write been under way for too long?
    fn ends(&mut self, writes: u64) -> bool {
        let is_same_write = writes % 2 == 1 && writes == self.seen;
        self.ticks = if is_same_write { self.ticks + 1 } else { 0 };
        self.seen = writes;
        self.ticks >= PATIENCE_TICKS
    }
}

/// Watches from a thread of its own until the process ends.
pub fn watch(stop: &Stop, writes: Writes) -> io::Result<()> {
    let stop = stop.clone();
    let watch = move || {
        let mut patience = Patience::default();
        loop {
            thread::sleep(TICK);
            let Some(reason) = stop.reason() else { continue };
            if patience.ends(writes.0.load(Ordering::SeqCst)) {
                end_process(reason);
            }
        }
    };
    thread::Builder::new().name("watchdog".into()).spawn(watch).map(drop)
}

fn end_process(reason: Reason) -> ! {
    // A stderr that is gone is nobody's to tell.
    let _ = writeln!(io::stderr(), "stopped: nobody reads the rows");
    std::process::exit(i32::from(reason.exit_code()))
}

#[cfg(test)]
mod tests {
    use super::{PATIENCE_TICKS, Patience};

    #[test]
    fn patience_ends_with_a_write_that_does_not() {
        let mut patience = Patience::default();
        // No write is under way, then a new one at every tick.
        assert!((0..100).all(|_| !patience.ends(4)));
        assert!((0..100).all(|write| !patience.ends(5 + 2 * write)));
        let ticks = (0..100).position(|_| patience.ends(999)).unwrap();
        assert_eq!(ticks, PATIENCE_TICKS as usize);
    }
}
