use super::*;

fn windows(kind: WindowKind) -> Windows {
    Windows::new(&kind).unwrap()
}

fn check(kind: WindowKind, time: i64, slice: (i64, i64), expected: &[(i64, i64)]) {
    let windows = windows(kind);
    let found: Vec<(i64, i64)> = windows
        .ends_of(time)
        .into_iter()
        .flat_map(WindowEnds::iter)
        .map(|end| windows.window_ending_at(end))
        .map(|window| (window.start, window.end))
        .collect();
    assert_eq!(found, expected, "windows of {time}");
    let Window { start, end } = windows.slice_of(time);
    assert_eq!((start, end), slice, "slice of {time}");
}

#[test]
fn tumbling() {
    let kind = WindowKind::Tumble { size_ms: 10, offset_ms: 0 };
    check(kind, 0, (0, 10), &[(0, 10)]);
    check(kind, 9, (0, 10), &[(0, 10)]);
    check(kind, -1, (-10, 0), &[(-10, 0)]);
    check(WindowKind::Tumble { size_ms: 10, offset_ms: 3 }, 2, (-7, 3), &[(-7, 3)]);
    check(WindowKind::Tumble { size_ms: 10, offset_ms: -3 }, 7, (7, 17), &[(7, 17)]);
}

#[test]
fn hopping() {
    let kind = WindowKind::Hop { size_ms: 10, slide_ms: 5, offset_ms: 0 };
    check(kind, 2, (0, 5), &[(-5, 5), (0, 10)]);
    check(kind, 5, (5, 10), &[(0, 10), (5, 15)]);
    check(kind, -5, (-5, 0), &[(-10, 0), (-5, 5)]);
    check(WindowKind::Hop { size_ms: 10, slide_ms: 5, offset_ms: 1 }, 5, (1, 6), &[(-4, 6), (1, 11)]);
}

#[test]
fn hopping_by_no_divisor_of_the_size() {
    let kind = WindowKind::Hop { size_ms: 10, slide_ms: 4, offset_ms: 0 };
    check(kind, 8, (8, 10), &[(0, 10), (4, 14), (8, 18)]);
    check(kind, 11, (10, 12), &[(4, 14), (8, 18)]);
}

#[test]
fn hopping_over_gaps() {
    let kind = WindowKind::Hop { size_ms: 4, slide_ms: 10, offset_ms: 0 };
    check(kind, 3, (2, 4), &[(0, 4)]);
    check(kind, 4, (4, 6), &[]);
}

#[test]
fn cumulating() {
    let kind = WindowKind::Cumulate { max_size_ms: 30, step_ms: 10, offset_ms: 0 };
    check(kind, 5, (0, 10), &[(0, 10), (0, 20), (0, 30)]);
    check(kind, 25, (20, 30), &[(0, 30)]);
    check(kind, -1, (-10, 0), &[(-30, 0)]);
}

#[test]
fn the_first_open_window() {
    let ends = windows(WindowKind::Hop { size_ms: 10, slide_ms: 2, offset_ms: 0 }).ends_of(0).unwrap();
    assert_eq!((ends.first, ends.last), (2, 10));
    for watermark in -3..12 {
        let expected = ends.iter().find(|end| end - 1 > watermark);
        assert_eq!(ends.first_open(|end| end - 1 > watermark), expected, "watermark {watermark}");
    }
}

#[test]
fn lengths_are_checked() {
    assert!(Windows::new(&WindowKind::Tumble { size_ms: 0, offset_ms: 0 }).is_err());
    assert!(Windows::new(&WindowKind::Tumble { size_ms: i64::MAX, offset_ms: 0 }).is_err());
    assert!(Windows::new(&WindowKind::Hop { size_ms: 1, slide_ms: 1, offset_ms: i64::MIN }).is_err());
    let error = Windows::new(&WindowKind::Cumulate { max_size_ms: 25, step_ms: 10, offset_ms: 0 }).unwrap_err();
    assert_eq!(error.to_string(), "the size of cumulating windows (25 ms) must be a multiple of their step (10 ms)");
}

#[test]
fn times_far_out_are_refused() {
    assert_eq!(range_of(&[5, -7, 3]).unwrap(), (-7, 5));
    let error = range_of(&[0, i64::MAX]).unwrap_err();
    assert_eq!(error.to_string(), "the event time 9223372036854775807 ms is more than 36 million years away from 1970");
}
