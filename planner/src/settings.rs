//! What `SET 'key' = 'value'` can change.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use chrono_tz::Tz;

use crate::catalog::options::{OptionKind, parse_duration};
use crate::stream_plan::NullRowtime;
use crate::stream_plan::match_recognize::MatchSkip;

/// One key that `SET` knows.
#[derive(Clone, Debug)]
pub struct SettingSpec {
    /// The key.
    pub key: &'static str,
    /// What its value must be.
    pub kind: OptionKind,
    /// The value when nothing is set.
    pub default: &'static str,
    /// One line for help.
    pub help: &'static str,
}

const MATCH_SKIP: &str = "match.default-skip";
const MATCH_SKIP_FAILURE: &str = "match.skip-failure";
const BATCH_SIZE: &str = "execution.batch-size";
const PARALLELISM: &str = "parallelism.default";
const MAX_PARALLELISM: &str = "pipeline.max-parallelism";
const TIME_ZONE: &str = "table.local-time-zone";
const IDLE_TIMEOUT: &str = "table.exec.source.idle-timeout";
const NULL_ROWTIME: &str = "table.exec.source.rowtime-null-handling";
const STATE_BACKEND: &str = "state.backend.type";
const JOB_NAME: &str = "pipeline.name";

const CHECKPOINT_DIR: &str = "execution.checkpointing.dir";
const CHECKPOINT_INTERVAL: &str = "execution.checkpointing.interval";
const CHECKPOINTS_RETAINED: &str = "execution.checkpointing.num-retained";
const RESTORE_FROM: &str = "execution.state-recovery.path";
const ALLOW_DROPPED_STATE: &str = "execution.state-recovery.ignore-unclaimed-state";
const RESTART_STRATEGY: &str = "restart-strategy.type";
const FIXED_ATTEMPTS: &str = "restart-strategy.fixed-delay.attempts";
const FIXED_DELAY: &str = "restart-strategy.fixed-delay.delay";
const EXPONENTIAL_INITIAL: &str = "restart-strategy.exponential-delay.initial-backoff";
const EXPONENTIAL_MAX: &str = "restart-strategy.exponential-delay.max-backoff";
const EXPONENTIAL_ATTEMPTS: &str = "restart-strategy.exponential-delay.attempts-before-reset-backoff";

/// The most subtasks a vertex may have: key groups are shared out among them.
pub const PARALLELISM_LIMIT: usize = 128;
/// The largest batch: what a channel may have to hold at once.
pub const BATCH_SIZE_LIMIT: usize = 1 << 20;

const SPECS: &[SettingSpec] = &[
    spec(
        CHECKPOINT_DIR,
        OptionKind::Text,
        "",
        "where jobs that write tables keep checkpoints, and go on from; nowhere when empty",
    ),
    spec(CHECKPOINT_INTERVAL, OptionKind::Duration, "10 s", "time from one checkpoint to the next"),
    spec(CHECKPOINTS_RETAINED, OptionKind::Count, "2", "checkpoints of a job that are kept"),
    spec(BATCH_SIZE, OptionKind::Count, "8192", "rows to aim for in a batch; never changes a result"),
    spec(
        "execution.runtime-mode",
        OptionKind::OneOf(&["streaming"]),
        "streaming",
        "results are always those of a stream",
    ),
    spec(
        MATCH_SKIP,
        OptionKind::OneOf(&["next-row", "past-last-row"]),
        "next-row",
        "what MATCH_RECOGNIZE without AFTER MATCH SKIP means; past-last-row is the SQL standard's",
    ),
    spec(
        MATCH_SKIP_FAILURE,
        OptionKind::OneOf(&["fail", "degrade"]),
        "fail",
        "an AFTER MATCH SKIP TO that cannot be done fails the job, or goes on behind the match or at its next row",
    ),
    spec(PARALLELISM, OptionKind::Count, "1", "subtasks of each operator"),
    spec(
        "pipeline.auto-watermark-interval",
        OptionKind::Duration,
        "0 ms",
        "accepted; the watermark advances with every row",
    ),
    spec(MAX_PARALLELISM, OptionKind::Count, "128", "number of key groups; fixed for the life of a job's state"),
    spec(JOB_NAME, OptionKind::Text, "", "the job's name; checkpoints are found by it"),
    spec(
        "pipeline.object-reuse",
        OptionKind::Bool,
        "true",
        "accepted; batches are never copied between chained operators",
    ),
    spec(
        "sql-client.execution.result-mode",
        OptionKind::OneOf(&["table", "changelog", "tableau"]),
        "table",
        "accepted; see --result-mode",
    ),
    spec(
        RESTART_STRATEGY,
        OptionKind::OneOf(&["none", "fixed-delay", "exponential-delay"]),
        "none",
        "whether a job that fails for want of something outside begins again, from its last checkpoint",
    ),
    spec(FIXED_ATTEMPTS, OptionKind::Count, "1", "how often a job begins again"),
    spec(FIXED_DELAY, OptionKind::Duration, "1 s", "how long it waits before"),
    spec(EXPONENTIAL_INITIAL, OptionKind::Duration, "1 s", "how long it waits the first time"),
    spec(
        EXPONENTIAL_MAX,
        OptionKind::Duration,
        "1 min",
        "the longest that it waits; each time twice as long as before",
    ),
    spec(EXPONENTIAL_ATTEMPTS, OptionKind::Count, "10", "how often it begins again without a checkpoint in between"),
    spec(
        RESTORE_FROM,
        OptionKind::Text,
        "latest",
        "the checkpoint to go on from: 'latest', the directory of one, or 'none' to begin anew",
    ),
    spec(ALLOW_DROPPED_STATE, OptionKind::Bool, "false", "go on without the state of operators that are gone"),
    spec(STATE_BACKEND, OptionKind::OneOf(&["hashmap", "rocksdb"]), "hashmap", "where keyed state lives"),
    spec("table.dml-sync", OptionKind::Bool, "true", "accepted; INSERT waits for its job"),
    spec(
        IDLE_TIMEOUT,
        OptionKind::Duration,
        "0 ms",
        "after so long without rows an input no longer holds back the watermark; 0 is never",
    ),
    spec(NULL_ROWTIME, OptionKind::OneOf(&["fail", "drop"]), "fail", "what to do with a row whose event time is NULL"),
    spec(
        "table.exec.sink.not-null-enforcer",
        OptionKind::OneOf(&["ERROR"]),
        "ERROR",
        "a NULL for a NOT NULL column of a sink ends the job; write WHERE x IS NOT NULL to leave such rows out",
    ),
    spec(TIME_ZONE, OptionKind::Text, "UTC", "the zone in which TIMESTAMP_LTZ is shown and read"),
];

const fn spec(key: &'static str, kind: OptionKind, default: &'static str, help: &'static str) -> SettingSpec {
    SettingSpec { key, kind, default, help }
}

/// What is set about checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpointing<'a> {
    /// Where they are.
    pub dir: &'a str,
    /// Time from one to the next.
    pub interval: Duration,
    /// How many are kept.
    pub retained: usize,
    /// `latest`, `none`, or the directory of one.
    pub restore_from: &'a str,
    /// May state of operators that are gone be left behind?
    pub allows_dropped_state: bool,
}

/// Whether and how a job that has failed begins again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartStrategy {
    /// It does not.
    None,
    /// After the same time each time.
    FixedDelay {
        /// How often.
        attempts: usize,
        /// The time.
        delay: Duration,
    },
    /// After twice as long each time.
    ExponentialDelay {
        /// How often in a row.
        attempts: usize,
        /// The first time.
        initial: Duration,
        /// The longest.
        max: Duration,
    },
}

/// Why a `SET` or `RESET` was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// No such key.
    #[error("there is no setting '{key}'")]
    UnknownKey {
        /// The key given.
        key: String,
        /// The nearest that exists.
        suggestion: Option<&'static str>,
    },
    /// The value does not fit.
    #[error("'{value}' is not a value of '{key}': {reason}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// The value given.
        value: String,
        /// What was expected.
        reason: String,
    },
}

impl SettingError {
    /// The way out.
    pub fn help(&self) -> Option<String> {
        match self {
            SettingError::UnknownKey { suggestion: Some(s), .. } => Some(format!("did you mean '{s}'?")),
            SettingError::UnknownKey { .. } => Some("`SET` alone lists all settings".into()),
            SettingError::BadValue { .. } => None,
        }
    }
}

/// The session's settings. Values are checked when set, so that the getters cannot fail.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    values: BTreeMap<&'static str, String>,
}

impl Settings {
    /// Sets `key`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SettingError> {
        let spec = find(key)?;
        check(spec, value).map_err(|reason| SettingError::BadValue { key: spec.key, value: value.into(), reason })?;
        self.values.insert(spec.key, value.into());
        Ok(())
    }

    /// Puts `key` back to its default; all keys when `None`.
    pub fn reset(&mut self, key: Option<&str>) -> Result<(), SettingError> {
        match key {
            Some(key) => drop(self.values.remove(find(key)?.key)),
            None => self.values.clear(),
        }
        Ok(())
    }

    /// All keys with their values and what they are, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&'static SettingSpec, &str)> {
        SPECS.iter().map(|s| (s, self.get(s.key)))
    }

    fn get(&self, key: &'static str) -> &str {
        let default = || SPECS.iter().find(|s| s.key == key).map_or("", |s| s.default);
        self.values.get(key).map_or_else(default, String::as_str)
    }

    fn count(&self, key: &'static str) -> usize {
        self.get(key).trim().parse().unwrap_or(1)
    }

    /// Subtasks of each operator.
    pub fn parallelism(&self) -> usize {
        self.count(PARALLELISM)
    }

    /// Number of key groups.
    pub fn max_parallelism(&self) -> u32 {
        self.count(MAX_PARALLELISM) as u32
    }

    /// Rows to aim for in a batch.
    pub fn batch_size(&self) -> usize {
        self.count(BATCH_SIZE)
    }

    /// The session's time zone, an IANA name.
    pub fn time_zone(&self) -> &str {
        self.get(TIME_ZONE)
    }

    /// How long an input may be silent before it no longer holds back the watermark.
    pub fn idle_timeout(&self) -> Option<Duration> {
        parse_duration(self.get(IDLE_TIMEOUT)).ok().filter(|d| !d.is_zero())
    }

    /// What to do with rows whose event time is NULL.
    pub fn null_rowtime(&self) -> NullRowtime {
        if self.get(NULL_ROWTIME) == "drop" { NullRowtime::Drop } else { NullRowtime::Fail }
    }

    /// Where the search goes on behind a match when AFTER MATCH SKIP is left out.
    pub fn default_skip(&self) -> MatchSkip {
        if self.get(MATCH_SKIP) == "past-last-row" { MatchSkip::PastLastRow } else { MatchSkip::ToNextRow }
    }

    /// Does an AFTER MATCH SKIP TO that cannot be done let the job go on?
    pub fn skips_leniently(&self) -> bool {
        self.get(MATCH_SKIP_FAILURE) == "degrade"
    }

    /// The job's name, if it was given one.
    pub fn job_name(&self) -> Option<&str> {
        Some(self.get(JOB_NAME)).filter(|name| !name.is_empty())
    }

    /// What is set about checkpoints; `None` without a directory for them.
    pub fn checkpointing(&self) -> Option<Checkpointing<'_>> {
        let dir = Some(self.get(CHECKPOINT_DIR)).filter(|dir| !dir.is_empty())?;
        Some(Checkpointing {
            dir,
            interval: self.duration(CHECKPOINT_INTERVAL),
            retained: self.count(CHECKPOINTS_RETAINED),
            restore_from: self.get(RESTORE_FROM),
            allows_dropped_state: self.get(ALLOW_DROPPED_STATE).eq_ignore_ascii_case("true"),
        })
    }

    /// The first key that was set and means nothing without a directory for checkpoints, when there is none.
    pub fn checkpointing_in_vain(&self) -> Option<&'static str> {
        let has_dir = !self.get(CHECKPOINT_DIR).is_empty();
        let keys = [CHECKPOINT_INTERVAL, CHECKPOINTS_RETAINED, RESTORE_FROM, ALLOW_DROPPED_STATE];
        keys.into_iter().find(|key| !has_dir && self.values.contains_key(key))
    }

    /// Whether and how a job that has failed begins again.
    pub fn restart_strategy(&self) -> RestartStrategy {
        match self.get(RESTART_STRATEGY) {
            "fixed-delay" => {
                RestartStrategy::FixedDelay { attempts: self.count(FIXED_ATTEMPTS), delay: self.duration(FIXED_DELAY) }
            }
            "exponential-delay" => RestartStrategy::ExponentialDelay {
                attempts: self.count(EXPONENTIAL_ATTEMPTS),
                initial: self.duration(EXPONENTIAL_INITIAL),
                max: self.duration(EXPONENTIAL_MAX),
            },
            _ => RestartStrategy::None,
        }
    }

    fn duration(&self, key: &'static str) -> Duration {
        parse_duration(self.get(key)).unwrap_or_default()
    }

    /// `hashmap` or `rocksdb`.
    pub fn state_backend(&self) -> &str {
        self.get(STATE_BACKEND)
    }
}

fn find(key: &str) -> Result<&'static SettingSpec, SettingError> {
    SPECS.iter().find(|s| s.key == key).ok_or_else(|| SettingError::UnknownKey {
        key: key.into(),
        suggestion: tidemark_parser::suggest(key, SPECS.iter().map(|s| s.key)),
    })
}

fn check(spec: &SettingSpec, value: &str) -> Result<(), String> {
    spec.kind.check(value)?;
    let within = |limit: usize| match value.trim().parse::<usize>() {
        Ok(n) if (1..=limit).contains(&n) => Ok(()),
        _ => Err(format!("expected a number from 1 to {limit}")),
    };
    match spec.key {
        PARALLELISM => within(PARALLELISM_LIMIT),
        MAX_PARALLELISM => within(1 << 15),
        BATCH_SIZE => within(BATCH_SIZE_LIMIT),
        CHECKPOINTS_RETAINED => within(1 << 10),
        CHECKPOINT_INTERVAL => match parse_duration(value) {
            Ok(interval) if interval.is_zero() => Err("expected a time longer than 0".into()),
            _ => Ok(()),
        },
        TIME_ZONE => {
            Tz::from_str(value).map(|_| ()).map_err(|_| "expected a zone such as 'UTC' or 'Europe/Berlin'".into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked_when_set() {
        let mut settings = Settings::default();
        assert_eq!(settings.parallelism(), 1);
        settings.set("parallelism.default", "3").unwrap();
        assert_eq!(settings.parallelism(), 3);
        let e = settings.set("parallelism.default", "0").unwrap_err();
        assert_eq!(e.to_string(), "'0' is not a value of 'parallelism.default': expected a number from 1 to 128");
        let e = settings.set("table.local-timezone", "UTC").unwrap_err();
        assert_eq!(e.help().as_deref(), Some("did you mean 'table.local-time-zone'?"));
        settings.reset(None).unwrap();
        assert_eq!(settings.parallelism(), 1);
    }

    #[test]
    fn idle_timeout_of_zero_is_never() {
        let mut settings = Settings::default();
        assert_eq!(settings.idle_timeout(), None);
        settings.set(IDLE_TIMEOUT, "10 s").unwrap();
        assert_eq!(settings.idle_timeout(), Some(Duration::from_secs(10)));
    }
}
