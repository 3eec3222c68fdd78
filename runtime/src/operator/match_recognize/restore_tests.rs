//! Open matches come back from a snapshot, at any parallelism. Patterns whose matches are held, and so the watermark,
//! are restored in the tests' random patterns.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion_expr::Operator as Comparison;
use datafusion_physical_expr::expressions::{BinaryExpr, Column};
use proptest::prelude::*;
use tidemark_planner::compiled_expr::CompiledExpr;
use tidemark_planner::stream_plan::SortKey;
use tidemark_planner::stream_plan::match_recognize::{
    MatchColumn, MatchExpr, MatchLeaf, MatchRecognizeNode, MatchRows, MatchSkip, Navigation, PatternVariable, RowExpr,
    RowInput, RowPattern, VariableSet,
};

use super::MatchRecognize;
use crate::change_batch::ChangeBatch;
use crate::test_exprs::{column, greater_than};
use crate::test_restore::{Step, Subject};

/// Key, number, time.
type Row = (i64, i64, i64);

fn input_schema() -> SchemaRef {
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    let fields = [("k", DataType::Int64), ("n", DataType::Int64), ("ts", time)];
    Arc::new(Schema::new(fields.map(|(name, data_type)| Field::new(name, data_type, true)).to_vec()))
}

fn numbers(names: &[&str]) -> SchemaRef {
    Arc::new(Schema::new(names.iter().map(|name| Field::new(*name, DataType::Int64, true)).collect::<Vec<_>>()))
}

/// The number of the last row of some variables.
fn last(variables: VariableSet) -> MatchLeaf {
    let row = Navigation { variables, from_last: true, offset: 0, is_final: false, physical: 0 };
    let value = RowExpr { inputs: vec![RowInput::Column(1)], expr: column(0, &numbers(&["n"])) };
    MatchLeaf::Value { row, value }
}

fn above(number: i64) -> MatchExpr {
    MatchExpr { leaves: vec![last(VariableSet::ALL)], expr: greater_than(0, number, &numbers(&["$0"])) }
}

/// The row's number is above that of the last A.
fn above_a() -> MatchExpr {
    let physical = BinaryExpr::new(Arc::new(Column::new("$0", 0)), Comparison::Gt, Arc::new(Column::new("$1", 1)));
    let field = Arc::new(Field::new("condition", DataType::Boolean, true));
    let expr = CompiledExpr { text: "n > A.n".into(), physical: Arc::new(physical), field, column: None };
    MatchExpr { leaves: vec![last(VariableSet::ALL), last(VariableSet::of(0))], expr }
}

/// `PATTERN (A B) DEFINE A AS n > 4`, and what B must be.
fn subject(b: PatternVariable, within_ms: Option<i64>, skip: MatchSkip) -> Subject<impl Fn() -> MatchRecognize> {
    let a = PatternVariable { name: "A".into(), row: Some(above(4)), path: None };
    let measure = |variable| MatchExpr {
        leaves: vec![last(VariableSet::of(variable))],
        expr: column(0, &numbers(&[["a", "b"][variable]])),
    };
    let order = SortKey { column: 2, descending: false, nulls_first: true };
    let node = MatchRecognizeNode {
        partition_by: vec![0],
        order_by: vec![order],
        time_column: Some(2),
        by_watermark: true,
        pattern: RowPattern::Concat(vec![RowPattern::Variable(0), RowPattern::Variable(1)]),
        variables: vec![a, b],
        within_ms,
        skip,
        skip_leniently: false,
        rows: MatchRows::One,
        measures: vec![measure(0), measure(1)],
        output: vec![MatchColumn::Input(0), MatchColumn::Measure(0), MatchColumn::Measure(1)],
        reads_match_number: false,
    };
    let output = numbers(&["k", "a", "b"]);
    Subject { create: move || MatchRecognize::new(&node, &input_schema(), &output).unwrap(), keys: vec![0] }
}

fn batch(rows: &[Row]) -> ChangeBatch {
    let number = |value: fn(&Row) -> i64| Arc::new(rows.iter().map(value).collect::<Int64Array>()) as ArrayRef;
    let times = TimestampMillisecondArray::from_iter_values(rows.iter().map(|row| row.2));
    let columns = vec![number(|row| row.0), number(|row| row.1), Arc::new(times) as ArrayRef];
    ChangeBatch::insert_only(RecordBatch::try_new(input_schema(), columns).unwrap())
}

/// Each batch comes with the watermark behind it; rows of a batch are at most 9 ms behind the next watermark.
fn steps(batches: Vec<(Vec<Row>, i64)>) -> Vec<Step> {
    let mut watermark = 0;
    let mut steps = vec![];
    for (rows, advance) in batches {
        let rows: Vec<Row> = rows.into_iter().map(|(k, n, ahead)| (k, n, watermark + ahead)).collect();
        watermark += advance;
        steps.extend([Step::Rows(batch(&rows)), Step::Watermark(watermark)]);
    }
    steps
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn open_matches_come_back(
        batches in prop::collection::vec((prop::collection::vec((0i64..6, 0i64..10, 0i64..9), 1..6), 0i64..6), 1..30),
        cut in 0.0..=1.0,
        (old, new) in (1usize..=4, 1usize..=4),
        within_ms in prop::option::of(1i64..12),
        overlaps in any::<bool>(),
    ) {
        let steps = steps(batches);
        let cut = (steps.len() as f64 * cut) as usize;
        let skip = if overlaps { MatchSkip::ToNextRow } else { MatchSkip::PastLastRow };
        let of_row = PatternVariable { name: "B".into(), row: Some(above(6)), path: None };
        subject(of_row, within_ms, skip.clone()).check(&steps, cut, old, new);
        let of_match = PatternVariable { name: "B".into(), row: None, path: Some(above_a()) };
        subject(of_match, within_ms, skip).check(&steps, cut, old, new);
    }
}
