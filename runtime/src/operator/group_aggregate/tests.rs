use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use tidemark_planner::stream_plan::{AggregateCall, AggregateFunction, GroupingSet};

use super::*;
use crate::metrics::OperatorMetrics;

fn input_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("k", DataType::Utf8, true), Field::new("v", DataType::Int64, true)]))
}

fn aggregate(function: AggregateFunction, args: &[usize]) -> AggregateCall {
    AggregateCall {
        function,
        args: args.to_vec(),
        distinct: false,
        filter: None,
        field: Arc::new(Field::new("result", DataType::Int64, true)),
        text: "AGG(v)".into(),
    }
}

fn operator(node: &GroupAggregateNode, batch_size: usize) -> GroupAggregate {
    let mut fields: Vec<Field> = node.keys.iter().map(|key| input_schema().field(*key).clone()).collect();
    if !node.grouping_sets.is_empty() {
        fields.push(Field::new("__grouping_id", DataType::Int64, false));
    }
    fields.extend(node.aggregates.iter().map(|call| call.field.as_ref().clone()));
    let mut operator = GroupAggregate::new(node, &input_schema(), &Arc::new(Schema::new(fields))).unwrap();
    let metrics = Arc::new(OperatorMetrics::new("group-aggregate-1"));
    operator.open(&OperatorContext::single(batch_size, metrics)).unwrap();
    operator
}

fn node(keys: &[usize], aggregates: Vec<AggregateCall>) -> GroupAggregateNode {
    GroupAggregateNode { keys: keys.to_vec(), grouping_sets: vec![], aggregates }
}

fn feed(operator: &mut GroupAggregate, rows: &[(Option<&str>, Option<i64>)]) -> Vec<String> {
    let keys: StringArray = rows.iter().map(|row| row.0).collect();
    let values: Int64Array = rows.iter().map(|row| row.1).collect();
    let batch = RecordBatch::try_new(input_schema(), vec![Arc::new(keys), Arc::new(values)]).unwrap();
    let mut out = Output::default();
    operator.process(0, ChangeBatch::insert_only(batch), 0, &mut out).unwrap();
    show(&mut out)
}

fn show(out: &mut Output) -> Vec<String> {
    let options = FormatOptions::new().with_null("NULL");
    let mut lines = Vec::new();
    for batch in out.drain() {
        for row in 0..batch.num_rows() {
            let cell =
                |column: &ArrayRef| ArrayFormatter::try_new(column.as_ref(), &options).unwrap().value(row).to_string();
            let cells: Vec<String> = batch.batch.columns().iter().map(cell).collect();
            lines.push(format!("{}({})", batch.kind(row).symbol(), cells.join(", ")));
        }
    }
    lines
}

#[test]
fn one_change_per_key_and_batch_in_the_order_of_arrival() {
    let calls = vec![aggregate(AggregateFunction::Count, &[]), aggregate(AggregateFunction::Sum, &[1])];
    let mut operator = operator(&node(&[0], calls), 8192);
    let rows = [(Some("b"), Some(1)), (Some("a"), None), (Some("b"), Some(2))];
    assert_eq!(feed(&mut operator, &rows), ["+I(b, 2, 3)", "+I(a, 1, NULL)"]);
    let rows = [(Some("a"), Some(5)), (None, Some(7)), (Some("b"), Some(1)), (Some("a"), Some(1))];
    assert_eq!(
        feed(&mut operator, &rows),
        ["-U(a, 1, NULL)", "+U(a, 3, 6)", "+I(NULL, 1, 7)", "-U(b, 2, 3)", "+U(b, 3, 4)"]
    );
    assert!(feed(&mut operator, &[]).is_empty());
}

#[test]
fn nothing_comes_out_when_nothing_changes() {
    let mut operator = operator(&node(&[0], vec![aggregate(AggregateFunction::Max, &[1])]), 8192);
    assert_eq!(feed(&mut operator, &[(Some("a"), Some(5)), (Some("b"), None)]), ["+I(a, 5)", "+I(b, NULL)"]);
    assert!(feed(&mut operator, &[(Some("a"), Some(4)), (Some("b"), None)]).is_empty());
    assert_eq!(feed(&mut operator, &[(Some("a"), Some(4)), (Some("b"), Some(1))]), ["-U(b, NULL)", "+U(b, 1)"]);
}

#[test]
fn without_aggregates_it_is_distinct() {
    let mut operator = operator(&node(&[0], vec![]), 8192);
    assert_eq!(feed(&mut operator, &[(Some("a"), None), (Some("b"), None), (Some("a"), None)]), ["+I(a)", "+I(b)"]);
    assert_eq!(feed(&mut operator, &[(Some("a"), None), (None, None)]), ["+I(NULL)"]);
}

#[test]
fn a_global_aggregate_over_nothing_has_a_row() {
    let calls = || vec![aggregate(AggregateFunction::Count, &[]), aggregate(AggregateFunction::Sum, &[1])];
    let mut out = Output::default();
    let mut empty = operator(&node(&[], calls()), 8192);
    empty.finish(&mut out).unwrap();
    assert_eq!(show(&mut out), ["+I(0, NULL)"]);

    let mut counted = operator(&node(&[], calls()), 8192);
    assert_eq!(feed(&mut counted, &[(None, Some(2)), (None, Some(3))]), ["+I(2, 5)"]);
    counted.finish(&mut out).unwrap();
    assert!(out.is_empty());

    let mut by_key = operator(&node(&[0], calls()), 8192);
    by_key.finish(&mut out).unwrap();
    assert!(out.is_empty(), "no rows, no keys");
}

#[test]
fn grouping_sets_change_one_by_one() {
    let set = |present: bool, id: u64| GroupingSet { present: vec![present], id };
    let mut node = node(&[0], vec![aggregate(AggregateFunction::Count, &[])]);
    node.grouping_sets = vec![set(true, 0), set(false, 1)];
    let mut operator = operator(&node, 8192);
    assert_eq!(
        feed(&mut operator, &[(Some("a"), None), (Some("b"), None)]),
        ["+I(a, 0, 1)", "+I(b, 0, 1)", "+I(NULL, 1, 2)"]
    );
    assert_eq!(
        feed(&mut operator, &[(Some("b"), None)]),
        ["-U(b, 0, 1)", "+U(b, 0, 2)", "-U(NULL, 1, 2)", "+U(NULL, 1, 3)"]
    );
}

#[test]
fn an_update_is_not_parted() {
    let mut operator = operator(&node(&[0], vec![aggregate(AggregateFunction::Count, &[])]), 1);
    let keys: Vec<(Option<&str>, Option<i64>)> = ["a", "b", "c"].map(|key| (Some(key), None)).to_vec();
    feed(&mut operator, &keys);
    let rows = RecordBatch::try_new(
        input_schema(),
        vec![Arc::new(StringArray::from(vec!["a", "b", "c"])), Arc::new(Int64Array::from(vec![0, 0, 0]))],
    );
    let mut out = Output::default();
    operator.process(0, ChangeBatch::insert_only(rows.unwrap()), 0, &mut out).unwrap();
    assert!(out.drain().all(|batch| batch.num_rows() == 2 && batch.kind(0) == RowKind::UpdateBefore));
}
