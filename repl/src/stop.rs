//! Reasons to stop before the end: Ctrl-C, SIGTERM, a timeout.
//!
//! Signal handlers only set a flag. Whoever waits for something asks every [`TICK`] whether there is a reason to stop.

pub mod watchdog;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// How long a wait may go on without asking.
pub const TICK: Duration = Duration::from_millis(50);

/// Why to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// `--timeout` has passed.
    Timeout,
}

impl Reason {
    /// The exit code of a process that stops for it.
    pub fn exit_code(self) -> u8 {
        match self {
            Reason::Interrupt => 130,
            Reason::Terminate => 143,
            Reason::Timeout => 124,
        }
    }
}

/// Knows whether to stop.
#[derive(Clone, Default)]
pub struct Stop {
    interrupt: Arc<AtomicBool>,
    terminate: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl Stop {
    /// Listens to signals from now on.
    pub fn listen() -> io::Result<Self> {
        let stop = Stop::default();
        flag::register(SIGINT, Arc::clone(&stop.interrupt))?;
        flag::register(SIGTERM, Arc::clone(&stop.terminate))?;
        Ok(stop)
    }

    /// Listens to signals from now on; a second one of the same kind ends the process at once. For scripts: a shell
    /// outlives Ctrl-C however often it comes.
    pub fn listen_insistently() -> io::Result<Self> {
        let stop = Stop::default();
        for (signal, flag, reason) in
            [(SIGINT, &stop.interrupt, Reason::Interrupt), (SIGTERM, &stop.terminate, Reason::Terminate)]
        {
            // Handlers run in the order in which they were registered: the first signal finds the flag unset.
            flag::register_conditional_shutdown(signal, i32::from(reason.exit_code()), Arc::clone(flag))?;
            flag::register(signal, Arc::clone(flag))?;
        }
        Ok(stop)
    }

    /// The same, and to stop when `timeout` has passed from now.
    pub fn with_timeout(&self, timeout: Option<Duration>) -> Self {
        // A timeout beyond the clock's range never comes.
        let deadline = timeout.and_then(|t| Instant::now().checked_add(t));
        Stop { deadline, ..self.clone() }
    }

    /// The reason to stop, if there is one.
    pub fn reason(&self) -> Option<Reason> {
        if self.terminate.load(Ordering::Relaxed) {
            return Some(Reason::Terminate);
        }
        if self.interrupt.load(Ordering::Relaxed) {
            return Some(Reason::Interrupt);
        }
        self.deadline.filter(|d| Instant::now() >= *d).map(|_| Reason::Timeout)
    }

    /// How long to wait before asking again.
    pub fn tick(&self) -> Duration {
        self.deadline.map_or(TICK, |d| d.saturating_duration_since(Instant::now()).min(TICK))
    }

    /// Ctrl-C has been heeded.
    pub fn forget_interrupt(&self) {
        self.interrupt.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_that_has_passed_is_a_reason() {
        let stop = Stop::default();
        assert_eq!(stop.reason(), None);
        assert_eq!(stop.with_timeout(Some(Duration::ZERO)).reason(), Some(Reason::Timeout));
        assert_eq!(stop.with_timeout(Some(Duration::MAX)).reason(), None);
        assert_eq!(stop.with_timeout(None).reason(), None);
    }

    #[test]
    fn signals_are_told_apart_and_come_first() {
        let stop = Stop::default().with_timeout(Some(Duration::ZERO));
        stop.interrupt.store(true, Ordering::Relaxed);
        assert_eq!(stop.reason(), Some(Reason::Interrupt));
        stop.terminate.store(true, Ordering::Relaxed);
        assert_eq!(stop.reason(), Some(Reason::Terminate));
        assert_eq!([Reason::Interrupt, Reason::Terminate, Reason::Timeout].map(Reason::exit_code), [130, 143, 124]);
    }

    #[test]
    fn an_interrupt_can_be_heeded() {
        let stop = Stop::default();
        stop.interrupt.store(true, Ordering::Relaxed);
        stop.forget_interrupt();
        assert_eq!(stop.reason(), None);
    }
}
