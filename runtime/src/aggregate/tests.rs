use std::sync::Arc;

use arrow::array::{BinaryArray, BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array, StringArray};
use arrow::compute;
use arrow::datatypes::Field;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use proptest::prelude::*;

use super::*;

fn call(function: AggregateFunction, result: DataType) -> AggregateCall {
    AggregateCall {
        function,
        args: vec![0],
        distinct: false,
        filter: None,
        field: Arc::new(Field::new("result", result, true)),
        text: "AGG(x)".into(),
    }
}

fn distinct(function: AggregateFunction, result: DataType) -> AggregateCall {
    AggregateCall { distinct: true, ..call(function, result) }
}

fn list_agg() -> AggregateFunction {
    AggregateFunction::ListAgg { separator: "|".into() }
}

fn list_of(element: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(element, true)))
}

fn show(column: &ArrayRef) -> Vec<String> {
    let options = FormatOptions::new().with_null("NULL");
    let formatter = ArrayFormatter::try_new(column.as_ref(), &options).unwrap();
    (0..column.len()).map(|row| formatter.value(row).to_string()).collect()
}

fn evaluate(call: &AggregateCall, accumulator: &dyn Accumulator, groups: usize) -> Result<Vec<String>, OperatorError> {
    let all: Vec<u32> = (0..groups as u32).collect();
    let column = accumulator.evaluate(&all).map_err(|error| error.of_call(call))?;
    Ok(show(&group_table::of_type(column, call.field.data_type())?))
}

/// Rows `rows` of a column, their numbers as arrival.
fn count(accumulator: &mut dyn Accumulator, column: &ArrayRef, groups: &[u32], rows: &[u32]) {
    let picked = compute::take(column, &arrow::array::UInt32Array::from(rows.to_vec()), None).unwrap();
    let groups: Vec<u32> = rows.iter().map(|row| groups[*row as usize]).collect();
    let arrival = Arrival::Picked { base: 0, indices: rows };
    accumulator.update(&AggregateRows { args: &[picked], groups: &groups, filter: None, arrival }).unwrap();
}

/// Groups 0, 1, 2 of the values, in one update; and the same when odd and even rows are counted apart and merged
/// into an accumulator that numbers the groups the other way round.
fn check(call: AggregateCall, column: impl Array + 'static, groups: &[u32], expected: [&str; 3]) {
    let column: ArrayRef = Arc::new(column);
    let types = [column.data_type().clone()];
    let create = |groups| {
        let mut accumulator = create_accumulator(&call, &types).unwrap();
        accumulator.resize(groups);
        accumulator
    };
    let all: Vec<u32> = (0..column.len() as u32).collect();
    let mut whole = create(3);
    count(whole.as_mut(), &column, groups, &all);
    assert_eq!(evaluate(&call, whole.as_ref(), 3).unwrap(), expected, "{:?}", call.function);

    let mut merged = create(3);
    for parity in [1, 0] {
        let mut part = create(3);
        let rows: Vec<u32> = all.iter().copied().filter(|row| row % 2 == parity).collect();
        count(part.as_mut(), &column, groups, &rows);
        merged.merge(part.as_ref(), &[0, 1, 2], &[2, 1, 0]).unwrap();
    }
    let mut reversed = evaluate(&call, merged.as_ref(), 3).unwrap();
    reversed.reverse();
    assert_eq!(reversed, expected, "merged {:?}", call.function);

    let mut restored = create(3);
    let state = merged.state(&[2, 1, 0]).unwrap();
    let types: Vec<&DataType> = state.iter().map(|column| column.data_type()).collect();
    let fields = merged.state_fields();
    assert_eq!(types, fields.iter().map(Field::data_type).collect::<Vec<_>>(), "{:?}", call.function);
    restored.merge_state(&state, &[0, 1, 2]).unwrap();
    assert_eq!(evaluate(&call, restored.as_ref(), 3).unwrap(), expected, "restored {:?}", call.function);

    merged.resize(0);
    merged.resize(3);
    let fresh = create(3);
    assert_eq!(evaluate(&call, merged.as_ref(), 3).unwrap(), evaluate(&call, fresh.as_ref(), 3).unwrap());
}

fn ints(values: &[Option<i64>]) -> Int64Array {
    Int64Array::from(values.to_vec())
}

const GROUPS: [u32; 6] = [0, 1, 0, 1, 0, 2];

fn sample() -> Int64Array {
    ints(&[Some(3), Some(-7), Some(5), Some(-2), Some(3), None])
}

#[test]
fn integers() {
    use AggregateFunction::*;
    check(call(Count, DataType::Int64), sample(), &GROUPS, ["3", "2", "0"]);
    check(call(Sum, DataType::Int64), sample(), &GROUPS, ["11", "-9", "NULL"]);
    check(call(Avg, DataType::Float64), sample(), &GROUPS, ["3.6666666666666665", "-4.5", "NULL"]);
    check(call(Avg, DataType::Int64), sample(), &GROUPS, ["3", "-4", "NULL"]);
    check(call(Min, DataType::Int64), sample(), &GROUPS, ["3", "-7", "NULL"]);
    check(call(Max, DataType::Int64), sample(), &GROUPS, ["5", "-2", "NULL"]);
    check(call(FirstValue, DataType::Int64), sample(), &GROUPS, ["3", "-7", "NULL"]);
    check(call(LastValue, DataType::Int64), sample(), &GROUPS, ["3", "-2", "NULL"]);
    check(call(ArrayAgg, list_of(DataType::Int64)), sample(), &GROUPS, ["[3, 5, 3]", "[-7, -2]", "[NULL]"]);
    check(call(list_agg(), DataType::Utf8), sample(), &GROUPS, ["3|5|3", "-7|-2", "NULL"]);
    let small = Int32Array::from(vec![i32::MAX, 1, i32::MAX, 1, i32::MAX, 1]);
    check(call(Sum, DataType::Int64), small, &GROUPS, ["6442450941", "2", "1"]);
}

#[test]
fn distinct_values_count_once() {
    use AggregateFunction::*;
    let values = || ints(&[Some(4), Some(1), Some(4), Some(1), Some(2), None]);
    check(distinct(Count, DataType::Int64), values(), &GROUPS, ["2", "1", "0"]);
    check(distinct(Sum, DataType::Int64), values(), &GROUPS, ["6", "1", "NULL"]);
    check(distinct(Avg, DataType::Float64), values(), &GROUPS, ["3.0", "1.0", "NULL"]);
    check(distinct(ArrayAgg, list_of(DataType::Int64)), values(), &GROUPS, ["[4, 2]", "[1]", "[NULL]"]);
    check(distinct(list_agg(), DataType::Utf8), values(), &GROUPS, ["4|2", "1", "NULL"]);
}

#[test]
fn spread() {
    use AggregateFunction::*;
    let values = || ints(&[Some(2), Some(10), Some(4), None, Some(9), None]);
    // Mean 5, squares 9 + 1 + 16 = 26.
    check(call(VarPop, DataType::Float64), values(), &GROUPS, ["8.666666666666666", "0.0", "NULL"]);
    check(call(VarSamp, DataType::Float64), values(), &GROUPS, ["13.0", "NULL", "NULL"]);
    let values = || ints(&[Some(2), Some(10), Some(4), None, Some(6), None]);
    check(call(StddevSamp, DataType::Float64), values(), &GROUPS, ["2.0", "NULL", "NULL"]);
    let values = || ints(&[Some(1), Some(10), Some(7), None, None, None]);
    check(call(StddevPop, DataType::Float64), values(), &GROUPS, ["3.0", "0.0", "NULL"]);
}

#[test]
fn texts_and_bytes() {
    use AggregateFunction::*;
    let texts = || StringArray::from(vec![Some("b"), Some(""), Some("a"), None, Some("ab"), None]);
    check(call(Min, DataType::Utf8), texts(), &GROUPS, ["a", "", "NULL"]);
    check(call(Max, DataType::Utf8), texts(), &GROUPS, ["b", "", "NULL"]);
    check(call(FirstValue, DataType::Utf8), texts(), &GROUPS, ["b", "", "NULL"]);
    check(call(LastValue, DataType::Utf8), texts(), &GROUPS, ["ab", "", "NULL"]);
    check(call(list_agg(), DataType::Utf8), texts(), &GROUPS, ["b|a|ab", "", "NULL"]);
    let bytes = BinaryArray::from_vec(vec![b"\x02", b"\xff", b"\x01", b"", b"\x01\x00", b"z"]);
    check(call(Max, DataType::Binary), bytes, &GROUPS, ["02", "ff", "7a"]);
}

#[test]
fn booleans() {
    use AggregateFunction::*;
    let values = || BooleanArray::from(vec![Some(true), Some(true), Some(false), None, Some(true), None]);
    check(call(BoolAnd, DataType::Boolean), values(), &GROUPS, ["false", "true", "NULL"]);
    check(call(BoolOr, DataType::Boolean), values(), &GROUPS, ["true", "true", "NULL"]);
    check(call(Min, DataType::Boolean), values(), &GROUPS, ["false", "true", "NULL"]);
    check(call(Max, DataType::Boolean), values(), &GROUPS, ["true", "true", "NULL"]);
}

#[test]
fn floats() {
    use AggregateFunction::*;
    let values = || Float64Array::from(vec![1.5, -f64::NAN, f64::NAN, 2.0, -1.0, f64::INFINITY]);
    check(call(Min, DataType::Float64), values(), &GROUPS, ["-1.0", "2.0", "inf"]);
    check(call(Max, DataType::Float64), values(), &GROUPS, ["NaN", "NaN", "inf"]);
    let values = || Float64Array::from(vec![0.5, 1.0, 0.25, 2.0, 4.0, -0.5]);
    check(call(Sum, DataType::Float64), values(), &GROUPS, ["4.75", "3.0", "-0.5"]);
}

#[test]
fn decimals() {
    use AggregateFunction::*;
    let values = || {
        let values = vec![Some(100), Some(-1), Some(101), Some(-2), Some(0), None];
        Decimal128Array::from(values).with_precision_and_scale(10, 2).unwrap()
    };
    check(call(Sum, DataType::Decimal128(38, 2)), values(), &GROUPS, ["2.01", "-0.03", "NULL"]);
    check(call(Avg, DataType::Decimal128(38, 6)), values(), &GROUPS, ["0.670000", "-0.015000", "NULL"]);
    // −0.015 rounds half up in size.
    check(call(Avg, DataType::Decimal128(38, 2)), values(), &GROUPS, ["0.67", "-0.02", "NULL"]);
    check(call(Max, DataType::Decimal128(10, 2)), values(), &GROUPS, ["1.01", "-0.01", "NULL"]);
}

fn failure(call: AggregateCall, column: impl Array + 'static) -> String {
    let types = [column.data_type().clone()];
    let mut accumulator = match create_accumulator(&call, &types) {
        Ok(accumulator) => accumulator,
        Err(error) => return error.to_string(),
    };
    accumulator.resize(1);
    let groups = vec![0; column.len()];
    let rows = AggregateRows { args: &[Arc::new(column)], groups: &groups, filter: None, arrival: Arrival::From(0) };
    match accumulator.update(&rows) {
        Ok(()) => evaluate(&call, accumulator.as_ref(), 1).unwrap_err().to_string(),
        Err(error) => error.of_call(&call).to_string(),
    }
}

#[test]
fn overflow_names_the_call() {
    use AggregateFunction::*;
    let too_much = ints(&[Some(i64::MAX), Some(1)]);
    assert_eq!(failure(call(Sum, DataType::Int64), too_much), "integer overflow in `AGG(x)`");
    let nines = 10i128.pow(38) - 1;
    let decimals = |values: Vec<i128>| Decimal128Array::from(values).with_precision_and_scale(38, 0).unwrap();
    let sum = || call(Sum, DataType::Decimal128(38, 0));
    assert_eq!(failure(sum(), decimals(vec![nines, 1])), "decimal overflow in `AGG(x)`");
    assert_eq!(failure(sum(), decimals(vec![nines, nines, nines])), "decimal overflow in `AGG(x)`");
    let text = StringArray::from(vec!["x"]);
    assert_eq!(failure(call(Sum, DataType::Utf8), text), "a sum of Utf8 as Utf8 is not supported in `AGG(x)`");
}

/// Only the sum as a whole must fit: the order in which rows or slices come does not matter.
#[test]
fn a_sum_may_leave_its_type_on_the_way() {
    let values = ints(&[Some(i64::MAX), Some(0), Some(i64::MAX), Some(0), Some(-i64::MAX), None]);
    check(call(AggregateFunction::Sum, DataType::Int64), values, &GROUPS, ["9223372036854775807", "0", "NULL"]);
}

#[test]
fn the_filter_decides_with_the_nulls() {
    let count_star = AggregateCall { args: vec![], ..call(AggregateFunction::Count, DataType::Int64) };
    let filter = BooleanArray::from(vec![Some(true), Some(true), None, Some(false), Some(true), Some(true)]);
    let column: ArrayRef = Arc::new(sample());
    let results = |call: &AggregateCall, args: &[ArrayRef]| {
        let types: Vec<DataType> = args.iter().map(|arg| arg.data_type().clone()).collect();
        let mut accumulator = create_accumulator(call, &types).unwrap();
        accumulator.resize(3);
        let rows = AggregateRows { args, groups: &GROUPS, filter: Some(&filter), arrival: Arrival::From(0) };
        accumulator.update(&rows).unwrap();
        evaluate(call, accumulator.as_ref(), 3).unwrap()
    };
    let args = std::slice::from_ref(&column);
    assert_eq!(results(&count_star, &[]), ["2", "1", "1"]);
    assert_eq!(results(&call(AggregateFunction::Sum, DataType::Int64), args), ["6", "-7", "NULL"]);
    assert_eq!(results(&distinct(AggregateFunction::Count, DataType::Int64), args), ["1", "1", "0"]);
    let arrays = call(AggregateFunction::ArrayAgg, list_of(DataType::Int64));
    assert_eq!(results(&arrays, args), ["[3, 3]", "[-7]", "[NULL]"]);
    let texts = call(list_agg(), DataType::Utf8);
    assert_eq!(results(&texts, args), ["3|3", "-7", "NULL"]);
}

#[test]
fn count_of_several_arguments() {
    let call = call(AggregateFunction::Count, DataType::Int64);
    let mut accumulator = create_accumulator(&call, &[DataType::Int64, DataType::Int64]).unwrap();
    accumulator.resize(1);
    let args: [ArrayRef; 2] = [Arc::new(ints(&[Some(1), None, Some(1)])), Arc::new(ints(&[Some(1), Some(1), None]))];
    let rows = AggregateRows { args: &args, groups: &[0, 0, 0], filter: None, arrival: Arrival::From(0) };
    accumulator.update(&rows).unwrap();
    assert_eq!(evaluate(&call, accumulator.as_ref(), 1).unwrap(), ["1"]);
}

fn functions_of_integers() -> Vec<AggregateCall> {
    use AggregateFunction::*;
    let mut calls = vec![
        call(Count, DataType::Int64),
        call(Sum, DataType::Int64),
        call(Avg, DataType::Float64),
        call(Min, DataType::Int64),
        call(Max, DataType::Int64),
        call(FirstValue, DataType::Int64),
        call(LastValue, DataType::Int64),
        call(list_agg(), DataType::Utf8),
        call(ArrayAgg, list_of(DataType::Int64)),
    ];
    calls.extend(calls.clone().into_iter().map(|call| AggregateCall { distinct: true, ..call }));
    calls
}

proptest! {
    /// Whatever the parts and the batches, merged states tell what one state would.
    #[test]
    fn states_merge(
        rows in prop::collection::vec((0u32..4, prop::option::weighted(0.9, -5i64..5), 0usize..3), 1..80),
        batch in 1usize..20,
    ) {
        let column: ArrayRef = Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>());
        let groups: Vec<u32> = rows.iter().map(|row| row.0).collect();
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        for call in functions_of_integers() {
            let create = || {
                let mut accumulator = create_accumulator(&call, &[DataType::Int64]).unwrap();
                accumulator.resize(4);
                accumulator
            };
            let mut whole = create();
            count(whole.as_mut(), &column, &groups, &all);
            let (mut merged, mut restored) = (create(), create());
            for part in 0..3 {
                let mut state = create();
                let of_part: Vec<u32> = all.iter().copied().filter(|row| rows[*row as usize].2 == part).collect();
                of_part.chunks(batch).for_each(|rows| count(state.as_mut(), &column, &groups, rows));
                merged.merge(state.as_ref(), &[0, 1, 2, 3], &[0, 1, 2, 3]).unwrap();
                restored.merge_state(&state.state(&[3, 1]).unwrap(), &[3, 1]).unwrap();
                restored.merge_state(&state.state(&[0, 2]).unwrap(), &[0, 2]).unwrap();
            }
            let expected = evaluate(&call, whole.as_ref(), 4).unwrap();
            prop_assert_eq!(&evaluate(&call, merged.as_ref(), 4).unwrap(), &expected, "{:?}", call);
            prop_assert_eq!(&evaluate(&call, restored.as_ref(), 4).unwrap(), &expected, "restored {:?}", call);
        }
    }
}
