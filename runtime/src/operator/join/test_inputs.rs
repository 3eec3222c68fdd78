//! Rows for tests of joins, and the plainest join there is.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int8Array, Int64Array, RecordBatch, TimestampMillisecondArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef, TimeUnit};
use datafusion_expr::Operator as BinaryOperator;
use datafusion_physical_expr::expressions::{BinaryExpr, Column};
use tidemark_planner::compiled_expr::CompiledExpr;
use tidemark_planner::stream_plan::{JoinBound, JoinCondition, JoinNode, JoinSide, JoinType};

use crate::change_batch::{ChangeBatch, RowKind};

pub(super) const TYPES: [JoinType; 6] =
    [JoinType::Inner, JoinType::Left, JoinType::Right, JoinType::Full, JoinType::Semi, JoinType::Anti];

/// The windows of the tests are of this length.
pub(super) const WINDOW_MS: i64 = 10;

/// A row of a test: two numbers and an event time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) key: Option<i64>,
    pub(super) value: i64,
    pub(super) time: i64,
}

/// Left half and right half of an output row.
pub(super) type Pair = (Option<Row>, Option<Row>);

fn instant() -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, None)
}

/// `k BIGINT, v BIGINT, ts TIMESTAMP(3), window_start TIMESTAMP(3), window_end TIMESTAMP(3)`
pub(super) fn input_schema() -> SchemaRef {
    let number = |name| Field::new(name, DataType::Int64, true);
    let time = |name| Field::new(name, instant(), true);
    Arc::new(Schema::new(vec![number("k"), number("v"), time("ts"), time("window_start"), time("window_end")]))
}

/// The first three columns of both inputs, or of the left one.
pub(super) fn output_schema(join_type: JoinType) -> SchemaRef {
    let sides = if has_pairs(join_type) { 2 } else { 1 };
    let fields = (0..sides).flat_map(|_| input_schema().fields().iter().take(3).cloned().collect::<Vec<_>>());
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn has_pairs(join_type: JoinType) -> bool {
    !matches!(join_type, JoinType::Semi | JoinType::Anti)
}

/// What is asked of two rows besides their time.
#[derive(Clone, Copy, Debug)]
pub(super) struct On {
    pub(super) null_safe: bool,
    /// `left.v < right.v`
    pub(super) less: bool,
}

impl On {
    /// Do the rows fulfil it?
    pub(super) fn holds(self, left: Row, right: Row) -> bool {
        let keys = left.key == right.key && (self.null_safe || left.key.is_some());
        keys && (!self.less || left.value < right.value)
    }
}

/// A join on `k`.
pub(super) fn node(join_type: JoinType, on: On, bound: JoinBound, updating: bool) -> JoinNode {
    let windows = matches!(bound, JoinBound::Window { .. });
    let side = |index: usize| JoinSide {
        keys: if windows { vec![3, 0, 4] } else { vec![0] },
        columns: if index == 0 || has_pairs(join_type) { vec![0, 1, 2] } else { vec![1] },
        output: if index == 0 || has_pairs(join_type) { 3 } else { 0 },
        updating,
    };
    let null_safe = if windows { vec![false, on.null_safe, false] } else { vec![on.null_safe] };
    let value_of_right = if has_pairs(join_type) { 1 } else { 0 };
    let condition = on.less.then(|| JoinCondition { columns: vec![(0, 1), (1, value_of_right)], expr: less_than() });
    JoinNode { join_type, sides: [side(0), side(1)], null_safe, condition, bound }
}

fn less_than() -> CompiledExpr {
    let column = |index| Arc::new(Column::new("v", index)) as _;
    CompiledExpr {
        text: "l.v < r.v".into(),
        physical: Arc::new(BinaryExpr::new(column(0), BinaryOperator::Lt, column(1))),
        field: Arc::new(Field::new("condition", DataType::Boolean, true)),
        column: None,
    }
}

/// The start of the window that a row is in.
pub(super) fn window_of(row: Row) -> i64 {
    row.time.div_euclid(WINDOW_MS) * WINDOW_MS
}

/// Rows as a batch of [`input_schema`].
pub(super) fn batch_of(rows: &[Row], kinds: Option<Vec<RowKind>>, met: Option<Vec<i64>>) -> ChangeBatch {
    let numbers = |value: fn(&Row) -> Option<i64>| Arc::new(rows.iter().map(value).collect::<Int64Array>()) as ArrayRef;
    let times =
        |value: fn(&Row) -> i64| Arc::new(TimestampMillisecondArray::from_iter_values(rows.iter().map(value))) as _;
    let columns = vec![
        numbers(|row| row.key),
        numbers(|row| Some(row.value)),
        times(|row| row.time),
        times(|row| window_of(*row)),
        times(|row| window_of(*row) + WINDOW_MS),
    ];
    ChangeBatch {
        batch: RecordBatch::try_new(input_schema(), columns).unwrap(),
        kinds: kinds.map(|kinds| kinds.into_iter().map(|kind| Some(kind as i8)).collect::<Int8Array>()),
        row_watermarks: met.map(Int64Array::from),
    }
}

/// What a changelog leaves: how often each row is there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Folded(pub(super) BTreeMap<Pair, u64>);

impl Folded {
    /// Applies changes. None may take back what is not there.
    pub(super) fn apply(&mut self, batch: &ChangeBatch) {
        for (index, pair) in pairs_of(&batch.batch).into_iter().enumerate() {
            let count = self.0.entry(pair).or_default();
            match batch.kind(index).is_addition() {
                true => *count += 1,
                false => *count = count.checked_sub(1).expect("a row is taken back that is not there"),
            }
            if *count == 0 {
                self.0.remove(&pair);
            }
        }
    }

    /// Of these rows.
    pub(super) fn of(pairs: impl IntoIterator<Item = Pair>) -> Self {
        let mut folded = Self::default();
        pairs.into_iter().for_each(|pair| *folded.0.entry(pair).or_default() += 1);
        folded
    }
}

/// The rows of a batch of [`output_schema`].
pub(super) fn pairs_of(batch: &RecordBatch) -> Vec<Pair> {
    let columns: Vec<_> = batch.columns().iter().map(|c| cast(c, &DataType::Int64).unwrap()).collect();
    let cell = |row: usize, column: usize| -> Option<i64> {
        columns[column].as_primitive::<Int64Type>().iter().nth(row).flatten()
    };
    let half = |row: usize, first: usize| {
        let (value, time) = (cell(row, first + 1)?, cell(row, first + 2)?);
        Some(Row { key: cell(row, first), value, time })
    };
    let right = |row: usize| if columns.len() > 3 { half(row, 3) } else { None };
    (0..batch.num_rows()).map(|row| (half(row, 0), right(row))).collect()
}

/// The join of `left` and `right`, by asking each left row about each right one.
pub(super) fn join(join_type: JoinType, left: &[Row], right: &[Row], matches: impl Fn(usize, usize) -> bool) -> Folded {
    let mut pairs: Vec<Pair> = vec![];
    for (l, row) in left.iter().enumerate() {
        let matched: Vec<Row> = (0..right.len()).filter(|r| matches(l, *r)).map(|r| right[r]).collect();
        match join_type {
            JoinType::Semi if matched.is_empty() => {}
            JoinType::Anti if !matched.is_empty() => {}
            JoinType::Semi | JoinType::Anti => pairs.push((Some(*row), None)),
            JoinType::Left | JoinType::Full if matched.is_empty() => pairs.push((Some(*row), None)),
            _ => pairs.extend(matched.into_iter().map(|other| (Some(*row), Some(other)))),
        }
    }
    if matches!(join_type, JoinType::Right | JoinType::Full) {
        let is_alone = |r: &usize| !(0..left.len()).any(|l| matches(l, *r));
        pairs.extend((0..right.len()).filter(is_alone).map(|r| (None, Some(right[r]))));
    }
    Folded::of(pairs)
}
