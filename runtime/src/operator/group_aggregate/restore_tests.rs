//! Groups come back from a snapshot as they were, at any parallelism.

use std::sync::Arc;

use arrow::array::{BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use proptest::prelude::*;
use tidemark_planner::stream_plan::{AggregateCall, AggregateFunction, GroupingSet};

use super::*;
use crate::test_restore::{Step, Subject};

/// Text, whole number, double and yes or no.
type Row = (Option<usize>, Option<i64>, Option<i8>, bool);

const TEXTS: [&str; 4] = ["", "a", "b", "a key of more than sixteen bytes"];

fn schema() -> SchemaRef {
    let field = |name, data_type| Field::new(name, data_type, true);
    Arc::new(Schema::new(vec![
        field("t", DataType::Utf8),
        field("n", DataType::Int64),
        field("f", DataType::Float64),
        field("b", DataType::Boolean),
    ]))
}

fn batch_of(rows: &[Row]) -> ChangeBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(rows.iter().map(|row| row.0.map(|text| TEXTS[text])).collect::<StringArray>()),
        Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>()),
        // Halves add up exactly in any order; the zero is negative.
        Arc::new(rows.iter().map(|row| row.2.map(|half| -f64::from(half) / 2.0)).collect::<Float64Array>()),
        Arc::new(rows.iter().map(|row| Some(row.3)).collect::<BooleanArray>()),
    ];
    ChangeBatch::insert_only(RecordBatch::try_new(schema(), columns).unwrap())
}

fn call(function: AggregateFunction, arg: usize, result: DataType) -> AggregateCall {
    let field = Arc::new(Field::new("result", result, true));
    let text = format!("{function:?}({arg})");
    AggregateCall { function, args: vec![arg], distinct: false, filter: None, field, text }
}

fn calls() -> Vec<AggregateCall> {
    use AggregateFunction::*;
    let distinct = |call| AggregateCall { distinct: true, ..call };
    let list_agg = || call(ListAgg { separator: ",".into() }, 0, DataType::Utf8);
    let array_of = |data_type| DataType::List(Arc::new(Field::new_list_field(data_type, true)));
    vec![
        AggregateCall { args: vec![], filter: Some(3), ..call(Count, 0, DataType::Int64) },
        call(Sum, 1, DataType::Int64),
        call(Sum, 2, DataType::Float64),
        call(Avg, 1, DataType::Float64),
        call(Min, 0, DataType::Utf8),
        call(Max, 1, DataType::Int64),
        call(FirstValue, 0, DataType::Utf8),
        call(LastValue, 1, DataType::Int64),
        call(BoolAnd, 3, DataType::Boolean),
        list_agg(),
        distinct(list_agg()),
        call(ArrayAgg, 1, array_of(DataType::Int64)),
        distinct(call(ArrayAgg, 0, array_of(DataType::Utf8))),
        distinct(AggregateCall { args: vec![0, 1], ..call(Count, 0, DataType::Int64) }),
        distinct(call(Sum, 2, DataType::Float64)),
    ]
}

fn subject(keys: &[usize], sets: &[&[bool]]) -> Subject<impl Fn() -> GroupAggregate + use<>> {
    let sets = sets.iter().zip(0..).map(|(present, id)| GroupingSet { present: present.to_vec(), id });
    let node = GroupAggregateNode { keys: keys.to_vec(), grouping_sets: sets.collect(), aggregates: calls() };
    let mut fields: Vec<Field> = keys.iter().map(|key| schema().field(*key).clone()).collect();
    if !node.grouping_sets.is_empty() {
        fields.push(Field::new("__grouping_id", DataType::Int64, false));
    }
    fields.extend(node.aggregates.iter().map(|call| call.field.as_ref().clone()));
    let output = Arc::new(Schema::new(fields));
    let keys = if node.grouping_sets.is_empty() { keys.to_vec() } else { vec![] };
    Subject { create: move || GroupAggregate::new(&node, &schema(), &output).unwrap(), keys }
}

fn any_row() -> impl Strategy<Value = Row> {
    (
        prop::option::weighted(0.9, 0..TEXTS.len()),
        prop::option::weighted(0.9, -3i64..3),
        prop::option::of(-1i8..3),
        any::<bool>(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn groups_come_back(
        rows in prop::collection::vec(any_row(), 0..60),
        batch in 1usize..9,
        cut in 0.0..=1.0,
        old in 1usize..=4,
        new in 1usize..=4,
    ) {
        let steps: Vec<Step> = rows.chunks(batch).map(|rows| Step::Rows(batch_of(rows))).collect();
        let cut = (steps.len() as f64 * cut) as usize;
        for keys in [&[0][..], &[1], &[2], &[1, 2], &[0, 1, 3]] {
            subject(keys, &[]).check(&steps, cut, old, new);
        }
        subject(&[], &[]).check(&steps, cut, 1, 1);
        subject(&[0, 1], &[&[true, true], &[true, false], &[false, false]]).check(&steps, cut, 1, 1);
    }
}

#[test]
fn the_table_names_what_it_holds() {
    let operator = (subject(&[0], &[]).create)();
    let [table] = operator.state_tables().try_into().unwrap();
    assert_eq!((table.name.as_str(), table.version), ("groups", 1));
    let names: Vec<&str> = table.schema.fields().iter().map(|field| field.name().as_str()).take(5).collect();
    assert_eq!(names, ["rank", "next_row", "t", "Count(0): count", "Sum(1): sum"]);
    let sets = (subject(&[0], &[&[true], &[false]]).create)();
    let names: Vec<String> = sets.state_tables().into_iter().map(|table| table.name).collect();
    assert_eq!(names, ["groups, grouping set 0", "groups, grouping set 1"]);
}
