use arrow::array::{Int8Array, Int64Array};
use arrow::datatypes::{Int64Type, TimestampMillisecondType};
use tidemark_planner::stream_plan::HiddenColumn;

use super::*;
use crate::change_batch::RowKind;
use crate::test_exprs::{column, greater_than, times};
use crate::test_rows::{event_schema, events, numbers, values_of};

fn run(calc: &mut Calc, batch: ChangeBatch) -> Vec<ChangeBatch> {
    let mut out = Output::default();
    calc.process(0, batch, 1_000, &mut out).unwrap();
    out.drain().collect()
}

fn calc(
    hidden: &[HiddenColumn],
    predicate: Option<CompiledExpr>,
    projection: Vec<CompiledExpr>,
    input: &SchemaRef,
) -> Calc {
    let output = Schema::new(projection.iter().map(|e| Arc::clone(&e.field)).collect::<Vec<_>>());
    Calc::new(&CalcNode { hidden: hidden.to_vec(), predicate, projection }, input, &Arc::new(output))
}

#[test]
fn filters_then_projects_and_keeps_kind_and_watermark_of_each_row() {
    let rows = numbers([1, 2, 3]);
    let schema = rows.schema();
    let mut calc = calc(&[], Some(greater_than(0, 1, &schema)), vec![times(0, 10, &schema)], &schema);
    let batch = ChangeBatch {
        batch: rows,
        kinds: Some(Int8Array::from(vec![0, 1, 2])),
        row_watermarks: Some(Int64Array::from(vec![7, 8, 9])),
    };
    let emitted = run(&mut calc, batch);
    assert_eq!(values_of(&emitted), [20, 30]);
    assert_eq!([emitted[0].kind(0), emitted[0].kind(1)], [RowKind::UpdateBefore, RowKind::UpdateAfter]);
    assert_eq!(emitted[0].row_watermarks.as_ref().unwrap().values(), &[8, 9]);
}

#[test]
fn a_filter_reads_columns_that_the_projection_does_not() {
    let rows = events([(5, 1), (6, 2)]);
    let schema = rows.schema();
    let mut calc = calc(&[], Some(greater_than(1, 1, &schema)), vec![column(0, &schema)], &schema);
    let emitted = run(&mut calc, ChangeBatch::insert_only(rows));
    let times = emitted[0].batch.column(0).as_primitive::<TimestampMillisecondType>();
    assert_eq!(times.values(), &[6]);
}

#[test]
fn a_column_passed_on_is_the_same_memory_when_every_row_passes() {
    let rows = events([(5, 1), (6, 2)]);
    let schema = rows.schema();
    let mut calc = calc(&[], Some(greater_than(1, 0, &schema)), vec![column(1, &schema)], &schema);
    let emitted = run(&mut calc, ChangeBatch::insert_only(rows.clone()));
    let address = |a: &ArrayRef| a.as_primitive::<Int64Type>().values().as_ptr();
    assert_eq!(address(emitted[0].batch.column(0)), address(rows.column(1)));
}

#[test]
fn nothing_is_emitted_when_no_row_passes() {
    let rows = numbers([1, 2]);
    let schema = rows.schema();
    let mut calc = calc(&[], Some(greater_than(0, 5, &schema)), vec![column(0, &schema)], &schema);
    assert!(run(&mut calc, ChangeBatch::insert_only(rows)).is_empty());
}

#[test]
fn a_projection_of_no_column_keeps_the_row_count() {
    let rows = numbers([1, 2, 3]);
    let schema = rows.schema();
    let mut calc = calc(&[], Some(greater_than(0, 1, &schema)), vec![], &schema);
    assert_eq!(run(&mut calc, ChangeBatch::insert_only(rows))[0].num_rows(), 2);
}

/// The two hidden columns, for rows that carry `of_rows` in a task at `watermark`.
fn hidden(of_rows: Option<Vec<i64>>, watermark: Option<i64>) -> (Vec<i64>, Vec<Option<i64>>) {
    let input = event_schema();
    let both = [HiddenColumn::ProcessingTime, HiddenColumn::RowWatermark];
    let all = HiddenColumns::new(&both, &input).schema().clone();
    let mut calc = calc(&both, None, vec![column(2, &all), column(3, &all)], &input);
    if let Some(watermark) = watermark {
        calc.on_watermark(Watermark(watermark), &mut Output::default()).unwrap();
    }
    let mut batch = ChangeBatch::insert_only(events([(1, 1), (2, 2)]));
    batch.row_watermarks = of_rows.map(Int64Array::from);
    let emitted = run(&mut calc, batch);
    let column = |i: usize| emitted[0].batch.column(i).as_primitive::<TimestampMillisecondType>();
    (column(0).values().to_vec(), column(1).iter().collect())
}

#[test]
fn expressions_can_read_the_clock_and_the_watermark() {
    assert_eq!(hidden(None, None), (vec![1_000, 1_000], vec![None, None]));
    assert_eq!(hidden(None, Some(50)).1, [Some(50), Some(50)]);
    assert_eq!(hidden(Some(vec![i64::MIN, 7]), Some(50)).1, [None, Some(7)]);
}
