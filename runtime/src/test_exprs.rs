//! Compiled expressions for unit tests.

use std::sync::Arc;

use arrow::datatypes::{DataType, SchemaRef};
use datafusion_common::ScalarValue;
use datafusion_expr::Operator;
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr::expressions::{BinaryExpr, Column, Literal};
use tidemark_planner::compiled_expr::CompiledExpr;

/// Input column `index`.
pub fn column(index: usize, schema: &SchemaRef) -> CompiledExpr {
    let field = Arc::new(schema.field(index).clone());
    CompiledExpr { text: field.name().clone(), physical: column_of(index, schema), field, column: Some(index) }
}

/// `column > value`
pub fn greater_than(index: usize, value: i64, schema: &SchemaRef) -> CompiledExpr {
    binary(index, Operator::Gt, ScalarValue::Int64(Some(value)), schema)
}

/// `column * value`
pub fn times(index: usize, value: i64, schema: &SchemaRef) -> CompiledExpr {
    binary(index, Operator::Multiply, ScalarValue::Int64(Some(value)), schema)
}

/// `column - INTERVAL 'ms'`
pub fn minus_ms(index: usize, ms: i64, schema: &SchemaRef) -> CompiledExpr {
    let interval = ScalarValue::new_interval_mdn(0, 0, ms * 1_000_000);
    binary(index, Operator::Minus, interval, schema)
}

fn column_of(index: usize, schema: &SchemaRef) -> Arc<dyn PhysicalExpr> {
    Arc::new(Column::new(schema.field(index).name(), index))
}

fn binary(index: usize, op: Operator, value: ScalarValue, schema: &SchemaRef) -> CompiledExpr {
    let text = format!("{} {op} {value}", schema.field(index).name());
    let literal: Arc<dyn PhysicalExpr> = Arc::new(Literal::new(value));
    let physical: Arc<dyn PhysicalExpr> = Arc::new(BinaryExpr::new(column_of(index, schema), op, literal));
    let data_type: DataType = physical.data_type(schema).expect("the operands fit the operator");
    let field = arrow::datatypes::Field::new(&text, data_type, true);
    CompiledExpr { text, physical, field: Arc::new(field), column: None }
}
