use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::DataType;
use tidemark_planner::catalog::connector::ConnectorFactory;

use super::super::testing::{read_batches, read_rows, request};
use super::{MemoryConnector, MemoryTables};
use crate::format::testing::table;

fn connector() -> MemoryConnector {
    let batch = |ids: Vec<i64>| {
        let names: ArrayRef = Arc::new(StringArray::from_iter_values(ids.iter().map(|i| format!("n{i}"))));
        let ids: ArrayRef = Arc::new(Int64Array::from(ids));
        RecordBatch::try_from_iter([("id", ids), ("name", names)]).unwrap()
    };
    let tables = MemoryTables::default();
    tables.set("people", vec![batch((0..5).collect()), batch(vec![]), batch((5..20).collect())]);
    MemoryConnector::new(tables)
}

#[test]
fn columns_by_name_and_no_copies() {
    let connector = connector();
    let table = table(&[("name", DataType::Utf8), ("id", DataType::Int64)], &[("table", "people")]);
    connector.source(&table).unwrap();
    let expect: Vec<String> = (0..20).map(|i| format!("n{i}|{i}")).collect();
    assert_eq!(read_rows(&connector, &table).unwrap(), expect);
    let ids = |batch: &RecordBatch| batch.column(1).to_data().buffers()[0].as_ptr();
    let (first, second) = (
        read_batches(&connector, request(&table, 100, &[])).unwrap(),
        read_batches(&connector, request(&table, 100, &[])).unwrap(),
    );
    assert_eq!(ids(&first[0]), ids(&second[0]));
}

#[test]
fn what_is_not_there_is_refused() {
    let connector = connector();
    let refused =
        |columns: &[(&str, DataType)], name| connector.source(&table(columns, &[("table", name)])).unwrap_err().message;
    assert_eq!(refused(&[], "peple"), "no rows are held in memory under 'peple' (did you mean 'people'?)");
    assert_eq!(refused(&[("age", DataType::Int64)], "people"), "the rows held in memory have no column 'age'");
    assert_eq!(refused(&[("id", DataType::Utf8)], "people"), "column 'id' is declared STRING but holds BIGINT");
}
