//! What a job tells about itself: while it runs, and at its end.

use std::time::Duration;

use serde::Serialize;

/// A finished job, added up over its subtasks.
#[derive(Clone, Debug, Default, Serialize)]
pub struct JobSummary {
    /// The tables read, in plan order.
    pub sources: Vec<SourceSummary>,
    /// The operators that decide what is late.
    pub windows: Vec<WindowSummary>,
    /// Rows dropped because their event time was NULL.
    pub null_rowtime_rows: u64,
    /// Rows written to tables or handed to the caller.
    pub rows_out: u64,
    /// Time since the job started.
    pub elapsed: Duration,
    /// The checkpoint that it went on from, if it did.
    pub recovery: Option<RecoverySummary>,
}

/// Where a job went on from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecoverySummary {
    /// The directory of the checkpoint.
    pub checkpoint: String,
    /// Had the job ended with it, so that nothing was left to do?
    pub is_complete: bool,
}

/// A table that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceSummary {
    /// Its name.
    pub table: String,
    /// Rows read.
    pub rows: u64,
    /// Bytes read, where the connector knows.
    pub bytes: u64,
    /// Rows skipped because they could not be read.
    pub unreadable_rows: u64,
    /// The first few of them, as sentences.
    pub examples: Vec<String>,
}

/// An operator that drops rows which come too late.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WindowSummary {
    /// The operator's uid.
    pub uid: String,
    /// Windows that fired with at least one row, in whatever subtask, each counted once.
    pub windows_fired: u64,
    /// Rows dropped as late.
    pub late_rows: u64,
    /// The watermark delay (ms) with which no dropped row would have been behind the watermark.
    /// `None` when no row was dropped.
    pub sufficient_delay_ms: Option<i64>,
    /// The watermark delay (ms) with which each dropped row would still have met its last window open.
    pub sufficient_window_delay_ms: Option<i64>,
}

/// A running job at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobProgress {
    /// The tables being read, in plan order.
    pub sources: Vec<SourceProgress>,
    /// The vertices, producers first.
    pub watermarks: Vec<VertexWatermark>,
    /// Rows written to tables or handed to the caller.
    pub rows_out: u64,
}

/// A table being read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceProgress {
    /// Its name.
    pub table: String,
    /// Rows read so far.
    pub rows: u64,
    /// Bytes read so far, where the connector knows.
    pub bytes: u64,
}

/// How far event time has come in a vertex.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VertexWatermark {
    /// The vertex's name.
    pub vertex: String,
    /// The lowest watermark of its subtasks (ms); `None` before the first, [`i64::MAX`] when all have ended.
    pub watermark_ms: Option<i64>,
}
