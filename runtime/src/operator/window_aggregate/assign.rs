//! Rows to slices, and the late ones apart.

use arrow::array::{Array, AsArray};
use arrow::compute;
use arrow::datatypes::TimestampMillisecondType;
use tidemark_planner::stream_plan::WindowAssignment;

use super::slices::SliceKey;
use crate::change_batch::ChangeBatch;
use crate::error::OperatorError;
use crate::window::late::LateRows;
use crate::window::{Window, WindowEnds, Windows, Zone, event_times, range_of};

/// How rows learn their windows.
pub(super) enum Assigner {
    /// From a time.
    Time {
        /// The event time column; `None` for processing time.
        column: Option<usize>,
        windows: Windows,
        zone: Zone,
    },
    /// From columns.
    Attached { start: usize, end: usize, zone: Zone },
}

/// Neighbouring rows of a batch that are in the same slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) key: SliceKey,
    pub(super) start: usize,
    pub(super) len: usize,
}

/// The slice of the row at hand: neighbours are mostly in the same.
struct Cursor {
    slice: Window,
    /// `None` when the slice is between windows.
    ends: Option<WindowEnds>,
    /// The last instant of the window that ends first: at an earlier watermark, all windows are open.
    first_complete: i64,
}

impl Assigner {
    pub(super) fn new(window: &WindowAssignment) -> Result<Self, OperatorError> {
        Ok(match window {
            WindowAssignment::Time(window) => Assigner::Time {
                column: window.time_column,
                windows: Windows::new(&window.kind)?,
                zone: Zone::new(window.zone.as_deref())?,
            },
            WindowAssignment::Attached { start, end, zone } => {
                Assigner::Attached { start: *start, end: *end, zone: Zone::new(zone.as_deref())? }
            }
        })
    }

    /// The windows when several of them share a row.
    pub(super) fn shared_windows(&self) -> Option<Windows> {
        match self {
            Assigner::Time { windows, .. } if !windows.is_tumbling() => Some(*windows),
            _ => None,
        }
    }

    pub(super) fn zone(&self) -> &Zone {
        match self {
            Assigner::Time { zone, .. } | Assigner::Attached { zone, .. } => zone,
        }
    }

    pub(super) fn is_processing_time(&self) -> bool {
        matches!(self, Assigner::Time { column: None, .. })
    }

    /// The rows that have a time, and how many have none.
    pub(super) fn without_null_times(&self, batch: ChangeBatch) -> Result<(ChangeBatch, u64), OperatorError> {
        let columns = match self {
            Assigner::Time { column, .. } => [*column, None],
            Assigner::Attached { start, end, .. } => [Some(*start), Some(*end)],
        };
        let mut rows = batch;
        let mut dropped = 0;
        for column in columns.into_iter().flatten() {
            let time = rows.batch.column(column);
            if time.null_count() > 0 {
                dropped += time.null_count() as u64;
                rows = rows.filter(&compute::is_not_null(time)?)?;
            }
        }
        Ok((rows, dropped))
    }

    /// Appends the slices of the rows to `runs`, in row order; late rows are in none of them.
    /// `batch` has at least one row and no NULL times.
    pub(super) fn assign(
        &self,
        batch: &ChangeBatch,
        watermark: i64,
        now_ms: i64,
        runs: &mut Vec<Run>,
        late: &mut LateRows,
    ) -> Result<(), OperatorError> {
        match self {
            Assigner::Time { column: None, windows, zone } => {
                let (now, _) = range_of(&[zone.wall_of(now_ms)])?;
                if let Some(ends) = windows.ends_of(now) {
                    let key = SliceKey { first_end: ends.first, start: windows.slice_of(now).start };
                    runs.push(Run { key, start: 0, len: batch.num_rows() });
                }
                Ok(())
            }
            Assigner::Time { column: Some(column), windows, zone } => {
                assign_by_time(*column, windows, zone, batch, watermark, runs, late)
            }
            Assigner::Attached { start, end, zone } => {
                assign_attached((*start, *end), zone, batch, watermark, runs, late)
            }
        }
    }
}

fn assign_by_time(
    column: usize,
    windows: &Windows,
    zone: &Zone,
    batch: &ChangeBatch,
    watermark: i64,
    runs: &mut Vec<Run>,
    late: &mut LateRows,
) -> Result<(), OperatorError> {
    let instants = event_times(batch.batch.column(column).as_ref())?;
    range_of(&instants)?;
    let walls = zone.walls_of(&instants);
    let (min, max) = range_of(&walls)?;
    let first = cursor_at(windows, zone, min);
    let split = SplitRows { windows, zone, instants: &instants, walls: &walls };
    match &batch.row_watermarks {
        None if first.first_complete > watermark => {
            if max < first.slice.end {
                runs.push(Run { key: first.key(), start: 0, len: batch.num_rows() });
            } else {
                split.split(|_| i64::MIN, runs, late);
            }
        }
        None => split.split(|_| watermark, runs, late),
        Some(met) => {
            let met = met.values();
            split.split(|row| met[row].max(watermark), runs, late);
        }
    }
    Ok(())
}

fn cursor_at(windows: &Windows, zone: &Zone, wall: i64) -> Cursor {
    let ends = windows.ends_of(wall);
    let first_complete = ends.map_or(i64::MIN, |ends| zone.last_instant_before(ends.first));
    Cursor { slice: windows.slice_of(wall), ends, first_complete }
}

impl Cursor {
    /// Where rows go that count in all windows of the slice.
    fn key(&self) -> SliceKey {
        SliceKey { first_end: self.ends.map_or(self.slice.end, |ends| ends.first), start: self.slice.start }
    }
}

/// A batch whose rows are in more than one slice, or not all on time.
struct SplitRows<'a> {
    windows: &'a Windows,
    zone: &'a Zone,
    instants: &'a [i64],
    walls: &'a [i64],
}

impl SplitRows<'_> {
    /// `watermark` is the one that a row met.
    fn split(&self, watermark: impl Fn(usize) -> i64, runs: &mut Vec<Run>, late: &mut LateRows) {
        let mut cursor = cursor_at(self.windows, self.zone, self.walls[0]);
        for (row, wall) in self.walls.iter().enumerate() {
            if *wall < cursor.slice.start || *wall >= cursor.slice.end {
                cursor = cursor_at(self.windows, self.zone, *wall);
            }
            let watermark = watermark(row);
            let key = if watermark < cursor.first_complete {
                Some(cursor.key())
            } else {
                self.key_behind(&cursor, row, watermark, late)
            };
            if let Some(key) = key {
                push_row(runs, key, row);
            }
        }
    }

    /// Where a row goes that is too late for some windows of its slice, or for all.
    #[cold]
    fn key_behind(&self, cursor: &Cursor, row: usize, watermark: i64, late: &mut LateRows) -> Option<SliceKey> {
        let ends = cursor.ends?;
        let Some(first_end) = ends.first_open(|end| self.zone.last_instant_before(end) > watermark) else {
            late.add(watermark, self.instants[row], self.zone.last_instant_before(ends.last));
            return None;
        };
        // Cumulating windows that end there or later all have the slice that ends there.
        let slice = if self.windows.is_cumulative() { self.windows.slice_of(first_end - 1) } else { cursor.slice };
        Some(SliceKey { first_end, start: slice.start })
    }
}

fn push_row(runs: &mut Vec<Run>, key: SliceKey, row: usize) {
    match runs.last_mut() {
        Some(run) if run.key == key && run.start + run.len == row => run.len += 1,
        _ => runs.push(Run { key, start: row, len: 1 }),
    }
}

fn assign_attached(
    (start, end): (usize, usize),
    zone: &Zone,
    batch: &ChangeBatch,
    watermark: i64,
    runs: &mut Vec<Run>,
    late: &mut LateRows,
) -> Result<(), OperatorError> {
    let times = |column: usize| batch.batch.column(column).as_primitive::<TimestampMillisecondType>().values();
    let (starts, ends) = (times(start), times(end));
    range_of(starts)?;
    range_of(ends)?;
    let met = batch.row_watermarks.as_ref().map(|met| met.values());
    let mut complete = (ends[0], zone.last_instant_before(ends[0]));
    for (row, (start, end)) in starts.iter().zip(ends).enumerate() {
        if complete.0 != *end {
            complete = (*end, zone.last_instant_before(*end));
        }
        let watermark = met.map_or(watermark, |met| met[row].max(watermark));
        if complete.1 > watermark {
            push_row(runs, SliceKey { first_end: *end, start: *start }, row);
        } else {
            late.add(watermark, complete.1, complete.1);
        }
    }
    Ok(())
}
