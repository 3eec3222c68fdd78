//! Whether and when a job that has failed begins again.

use std::time::Duration;

use tidemark_planner::settings::RestartStrategy;

use crate::error::{ErrorClass, RuntimeError};

/// Counts the attempts of one job.
#[derive(Clone, Debug)]
pub struct Restarts {
    strategy: RestartStrategy,
    attempts: usize,
}

impl Restarts {
    /// No attempt yet.
    pub fn new(strategy: RestartStrategy) -> Self {
        Self { strategy, attempts: 0 }
    }

    /// How long to wait before the next attempt after `error`; `None` when there is none. What the user must mend, and
    /// what is a bug of ours, would only fail again. `has_progressed` says that a checkpoint was taken since the last
    /// attempt: the exponential strategy then counts anew.
    pub fn next_delay(&mut self, error: &RuntimeError, has_progressed: bool) -> Option<Duration> {
        if error.class() != ErrorClass::Retryable {
            return None;
        }
        let delay = match self.strategy {
            RestartStrategy::None => return None,
            RestartStrategy::FixedDelay { attempts, delay } => (self.attempts < attempts).then_some(delay)?,
            RestartStrategy::ExponentialDelay { attempts, initial, max } => {
                if has_progressed {
                    self.attempts = 0;
                }
                let doublings = u32::try_from(self.attempts).unwrap_or(u32::MAX);
                let factor = 2_u32.checked_pow(doublings).unwrap_or(u32::MAX);
                (self.attempts < attempts).then(|| initial.saturating_mul(factor).min(max))?
            }
        };
        self.attempts += 1;
        Some(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::IoError;

    fn failed() -> RuntimeError {
        let source = std::io::ErrorKind::StorageFull.into();
        IoError { table: "t".into(), action: "write", path: "out".into(), source }.into()
    }

    fn delays(strategy: RestartStrategy, progressed: &[bool]) -> Vec<Option<u64>> {
        let mut restarts = Restarts::new(strategy);
        let delay = |progressed: &bool| restarts.next_delay(&failed(), *progressed);
        progressed.iter().map(delay).map(|delay| delay.map(|d| d.as_secs())).collect()
    }

    #[test]
    fn strategies() {
        let second = Duration::from_secs(1);
        assert_eq!(delays(RestartStrategy::None, &[false]), [None]);
        let fixed = RestartStrategy::FixedDelay { attempts: 2, delay: 3 * second };
        assert_eq!(delays(fixed, &[false, true, false]), [Some(3), Some(3), None]);
        let exponential = RestartStrategy::ExponentialDelay { attempts: 4, initial: second, max: 5 * second };
        assert_eq!(delays(exponential, &[false; 5]), [Some(1), Some(2), Some(4), Some(5), None]);
        assert_eq!(delays(exponential, &[false, false, true, false]), [Some(1), Some(2), Some(1), Some(2)]);
    }

    #[test]
    fn what_would_fail_again_is_not_tried_again() {
        let mut restarts = Restarts::new(RestartStrategy::FixedDelay { attempts: 9, delay: Duration::ZERO });
        assert_eq!(restarts.next_delay(&RuntimeError::Cancelled, false), None);
        assert_eq!(restarts.next_delay(&RuntimeError::Panic("ours".into()), false), None);
        assert_eq!(restarts.next_delay(&failed(), false), Some(Duration::ZERO));
    }
}
