//! A job: a graph put into tasks and channels, and the handle to what runs.

pub(crate) mod deploy;
pub mod handle;
mod metrics;
mod persistence;
pub mod restart;
pub mod results;
mod wiring;

use std::sync::Arc;

use crate::checkpoint::CheckpointOptions;
use crate::clock::{Clock, SystemClock};
pub use crate::exchange::channel::ChannelLimits;

/// How a job runs.
#[derive(Clone)]
pub struct JobOptions {
    /// Rows to aim for in a batch.
    pub batch_size: usize,
    /// Most threads to use.
    pub threads: usize,
    /// The session's time zone (IANA name).
    pub time_zone: String,
    /// Processing time.
    pub clock: Arc<dyn Clock>,
    /// When an exchange pushes back.
    pub channel_limits: ChannelLimits,
    /// Where its checkpoints are; `None` when it takes none.
    pub checkpoints: Option<CheckpointOptions>,
}

impl Default for JobOptions {
    fn default() -> Self {
        Self {
            batch_size: 8192,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            time_zone: "UTC".into(),
            clock: Arc::new(SystemClock),
            channel_limits: ChannelLimits::default(),
            checkpoints: None,
        }
    }
}
