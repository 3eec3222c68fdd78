//! How a thread sleeps until there is something to do, without missing it.
//!
//! A thread notes the epoch, looks for work, and parks with the epoch it noted: whatever happened in between has
//! moved the epoch on, and the park returns at once.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An epoch counter that a thread can wait on.
#[derive(Debug, Default)]
pub struct WakeUp {
    epoch: AtomicU64,
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    condvar: Condvar,
}

impl WakeUp {
    /// The epoch now; to be read before looking for work.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// There is something to do.
    pub fn bump(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        // Sequential consistency makes one of the two sides see the other: a sleeper that counted itself too late
        // to be seen here sees the new epoch before it waits.
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.condvar.notify_all();
        }
    }

    /// Sleeps until the epoch is past `seen`, or for `timeout`; `None` waits for as long as it takes.
    pub fn park(&self, seen: u64, timeout: Option<Duration>) {
        let deadline = timeout.and_then(|t| Instant::now().checked_add(t));
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while self.epoch() == seen {
            guard = match deadline {
                None => self.condvar.wait(guard).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break;
                    }
                    self.condvar.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_happened_before_the_park_is_not_missed() {
        let wake_up = WakeUp::default();
        let seen = wake_up.epoch();
        wake_up.bump();
        wake_up.park(seen, None);
    }

    #[test]
    fn a_bump_ends_the_park_of_another_thread() {
        let wake_up = Arc::new(WakeUp::default());
        let seen = wake_up.epoch();
        let sleeper = std::thread::spawn({
            let wake_up = Arc::clone(&wake_up);
            move || wake_up.park(seen, None)
        });
        wake_up.bump();
        sleeper.join().unwrap();
    }

    #[test]
    fn a_park_with_a_timeout_ends_by_itself() {
        let wake_up = WakeUp::default();
        wake_up.park(wake_up.epoch(), Some(Duration::from_millis(1)));
    }
}
