//! Which windows a time belongs to.
//!
//! Times here are milliseconds of the clock in which the windows are aligned: event time as it is, or the wall
//! clock of a [`Zone`]. All windows of a time share a slice, the largest interval whose times have the same windows.
//!
//! ```text
//! HOP 10 s sliding by 5 s, time 7 s:    slice [5, 10)    windows [0, 10) and [5, 15)
//! ```

use tidemark_planner::stream_plan::WindowKind;

use crate::error::OperatorError;

pub(crate) use self::times::{MAX_TIME_MS, event_times, range_of};
pub(crate) use self::zone::Zone;

pub(crate) mod late;
mod times;
mod zone;

/// A window `[start, end)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Window {
    /// Inclusive.
    pub(crate) start: i64,
    /// Exclusive.
    pub(crate) end: i64,
}

/// Ends of the windows that a time belongs to: `first`, `first + stride` … `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowEnds {
    /// Of the window that ends first.
    pub(crate) first: i64,
    /// Of the window that ends last.
    pub(crate) last: i64,
    stride: i64,
}

impl WindowEnds {
    /// All of them, ascending.
    pub(crate) fn iter(self) -> impl Iterator<Item = i64> {
        (0..=(self.last - self.first) / self.stride).map(move |step| self.first + step * self.stride)
    }

    /// The first end that `is_open` holds for; it must hold for all ends after one it holds for.
    pub(crate) fn first_open(self, is_open: impl Fn(i64) -> bool) -> Option<i64> {
        let (mut closed, mut open) = (0, (self.last - self.first) / self.stride + 1);
        while closed < open {
            let middle = closed + (open - closed) / 2;
            if is_open(self.first + middle * self.stride) {
                open = middle;
            } else {
                closed = middle + 1;
            }
        }
        let end = self.first + open * self.stride;
        (end <= self.last).then_some(end)
    }
}

/// Windows of one shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// Length of a slice.
    slice_ms: i64,
    /// Distance between the ends of neighbouring windows.
    stride_ms: i64,
    /// Length of the longest window.
    size_ms: i64,
    offset_ms: i64,
    is_cumulative: bool,
}

impl Windows {
    /// Refuses lengths that are not positive, or so large that times near them would overflow, and cumulating
    /// windows that are not made of whole steps.
    pub(crate) fn new(kind: &WindowKind) -> Result<Self, OperatorError> {
        let (size_ms, stride_ms, offset_ms) = match *kind {
            WindowKind::Tumble { size_ms, offset_ms } => (size_ms, size_ms, offset_ms),
            WindowKind::Hop { size_ms, slide_ms, offset_ms } => (size_ms, slide_ms, offset_ms),
            WindowKind::Cumulate { max_size_ms, step_ms, offset_ms } => (max_size_ms, step_ms, offset_ms),
            WindowKind::Session { .. } => unreachable!("sessions are made by their rows, not cut out of time"),
        };
        let is_cumulative = matches!(kind, WindowKind::Cumulate { .. });
        let allowed = 1..=MAX_TIME_MS;
        if !allowed.contains(&size_ms) || !allowed.contains(&stride_ms) || offset_ms.unsigned_abs() > MAX_TIME_MS as u64
        {
            return Err(OperatorError::Limit(format!(
                "a window's lengths must be positive and, like its offset, at most {MAX_TIME_MS} ms"
            )));
        }
        if is_cumulative && size_ms % stride_ms != 0 {
            return Err(OperatorError::Limit(format!(
                "the size of cumulating windows ({size_ms} ms) must be a multiple of their step ({stride_ms} ms)"
            )));
        }
        let slice_ms = greatest_common_divisor(size_ms, stride_ms);
        Ok(Self { slice_ms, stride_ms, size_ms, offset_ms, is_cumulative })
    }

    /// Does every time belong to exactly one window?
    pub(crate) fn is_tumbling(&self) -> bool {
        self.size_ms == self.stride_ms
    }

    /// Do windows that start together share their rows?
    pub(crate) fn is_cumulative(&self) -> bool {
        self.is_cumulative
    }

    /// The slice that the time is in.
    #[inline]
    pub(crate) fn slice_of(&self, time: i64) -> Window {
        let start = self.floor(time, self.slice_ms);
        Window { start, end: start + self.slice_ms }
    }

    /// The windows of a time; `None` when it falls between windows, which happens when they slide by more than
    /// their size.
    #[inline]
    pub(crate) fn ends_of(&self, time: i64) -> Option<WindowEnds> {
        let stride = self.stride_ms;
        let (first, last) = if self.is_cumulative {
            (self.floor(time, stride) + stride, self.floor(time, self.size_ms) + self.size_ms)
        } else {
            (self.floor(time - self.size_ms, stride) + stride + self.size_ms, self.floor(time, stride) + self.size_ms)
        };
        (first <= last).then_some(WindowEnds { first, last, stride })
    }

    /// The window that ends there.
    #[inline]
    pub(crate) fn window_ending_at(&self, end: i64) -> Window {
        let start = if self.is_cumulative { self.floor(end - 1, self.size_ms) } else { end - self.size_ms };
        Window { start, end }
    }

    /// The end of the window after the one that ends at `end`.
    pub(crate) fn end_after(&self, end: i64) -> i64 {
        end + self.stride_ms
    }

    /// The last multiple of `unit`, counted from the offset, that is not after `time`.
    #[inline]
    fn floor(&self, time: i64, unit: i64) -> i64 {
        time - (time - self.offset_ms).rem_euclid(unit)
    }
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests;
