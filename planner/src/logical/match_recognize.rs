//! `MATCH_RECOGNIZE` as a relation.
//!
//! ```text
//! ONE ROW PER MATCH:   the partition's columns, the measures
//! ALL ROWS PER MATCH:  the partition's columns, the order's columns, the measures, the input's other columns
//! ```
//!
//! The expressions inside are not shown to DataFusion's optimiser: their columns are not all the input's. They name
//! the input's columns by name, so that pruning the input leaves them alone.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{Field, FieldRef};
use datafusion_common::{Column, DFSchema, DFSchemaRef, Result, TableReference};
use datafusion_expr::{Expr, LogicalPlan, SortExpr, UserDefinedLogicalNodeCore};
use tidemark_parser::Span;

use crate::stream_plan::match_recognize::{MatchRows, MatchSkip, Navigation, RowPattern, VariableSet};

/// The column of a row that holds CLASSIFIER().
pub const CLASSIFIER: &str = "$classifier";
/// The column of a row that holds MATCH_NUMBER().
pub const MATCH_NUMBER: &str = "$match_number";

/// The bound clause.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MatchSpec {
    /// Columns of the input.
    pub partition_by: Vec<Column>,
    /// Columns of the input.
    pub order_by: Vec<SortExpr>,
    /// The pattern.
    pub pattern: RowPattern,
    /// Its variables.
    pub variables: Vec<BoundVariable>,
    /// `WITHIN`
    pub within_ms: Option<i64>,
    /// `AFTER MATCH SKIP`
    pub skip: MatchSkip,
    /// Which rows come out.
    pub rows: MatchRows,
    /// The measures.
    pub measures: Vec<BoundExpr>,
    /// Places in the script.
    pub places: MatchPlaces,
}

/// Places of the clause that findings speak of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MatchPlaces {
    /// The pattern's variables, from the first to the last.
    pub pattern: Option<Span>,
    /// The first ORDER BY column.
    pub order: Option<Span>,
    /// `WITHIN`'s interval.
    pub within: Option<Span>,
    /// Was AFTER MATCH SKIP left out?
    pub default_skip: bool,
}

/// A variable and its conditions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BoundVariable {
    /// As CLASSIFIER() gives it.
    pub name: String,
    /// What the row and its neighbours decide.
    pub row: Option<BoundExpr>,
    /// What depends on the rows matched so far.
    pub path: Option<BoundExpr>,
}

/// An expression over leaves, which are the columns `$0`, `$1`, … of `expr`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BoundExpr {
    /// What the columns are.
    pub leaves: Vec<BoundLeaf>,
    /// Their types.
    pub schema: DFSchemaRef,
    /// The expression.
    pub expr: Expr,
    /// Name, type and nullability of the result.
    pub field: FieldRef,
    /// As written.
    pub text: String,
    /// The place.
    pub span: Option<Span>,
}

/// A value that the pattern determines; expressions are over the input's columns, [`CLASSIFIER`], [`MATCH_NUMBER`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BoundLeaf {
    /// Of one row.
    Value {
        /// Which.
        row: Navigation,
        /// What of it.
        value: Expr,
    },
    /// Of all rows of some variables.
    Aggregate {
        /// The call.
        call: Expr,
        /// Its result.
        field: FieldRef,
        /// Whose rows.
        variables: VariableSet,
        /// Over the whole match?
        is_final: bool,
    },
    /// MATCH_NUMBER()
    MatchNumber,
    /// MATCH_ROWTIME()
    MatchRowtime,
}

/// An output column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputColumn {
    /// A column of the input.
    Input(usize),
    /// A measure.
    Measure(usize),
}

/// Finds patterns among the rows of each key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MatchRecognize {
    /// The rows.
    pub input: Arc<LogicalPlan>,
    /// The clause.
    pub spec: Arc<MatchSpec>,
    /// The output columns.
    pub output: Vec<OutputColumn>,
    schema: DFSchemaRef,
}

impl MatchRecognize {
    /// A node over `input`; fails when two output columns have one name.
    pub fn try_new(input: Arc<LogicalPlan>, spec: Arc<MatchSpec>) -> Result<Self> {
        let output = output_columns(&input, &spec)?;
        let field_of = |column: &OutputColumn| -> (Option<TableReference>, FieldRef) {
            match column {
                OutputColumn::Input(index) => {
                    let (qualifier, field) = input.schema().qualified_field(*index);
                    (qualifier.cloned(), Arc::clone(field))
                }
                OutputColumn::Measure(index) => {
                    let field = Arc::clone(&spec.measures[*index].field);
                    let optional = matches!(spec.rows, MatchRows::All { with_unmatched: true, .. });
                    let nullable = field.is_nullable() || optional;
                    (None, Arc::new(Field::new(field.name(), field.data_type().clone(), nullable)))
                }
            }
        };
        let fields = output.iter().map(field_of).collect();
        let schema = Arc::new(DFSchema::new_with_metadata(fields, input.schema().metadata().clone())?);
        Ok(Self { input, spec, output, schema })
    }

    /// The input columns that the clause reads, whatever is made of its output.
    fn read_columns(&self) -> Option<Vec<usize>> {
        let schema = self.input.schema();
        let index_of = |column: &Column| schema.index_of_column(column).ok();
        let mut read: Vec<usize> = self.spec.partition_by.iter().map(index_of).collect::<Option<_>>()?;
        for key in &self.spec.order_by {
            read.extend(key.expr.column_refs().into_iter().filter_map(index_of));
        }
        let conditions = self.spec.variables.iter().flat_map(|v| v.row.iter().chain(&v.path));
        for leaf in conditions.chain(&self.spec.measures).flat_map(|expr| &expr.leaves) {
            let expr = match leaf {
                BoundLeaf::Value { value, .. } => value,
                BoundLeaf::Aggregate { call, .. } => call,
                BoundLeaf::MatchNumber | BoundLeaf::MatchRowtime => continue,
            };
            read.extend(expr.column_refs().into_iter().filter_map(index_of));
        }
        Some(read)
    }
}

fn output_columns(input: &LogicalPlan, spec: &MatchSpec) -> Result<Vec<OutputColumn>> {
    let mut output = vec![];
    let mut add = |index: usize| {
        if !output.contains(&OutputColumn::Input(index)) {
            output.push(OutputColumn::Input(index));
        }
    };
    for column in &spec.partition_by {
        add(input.schema().index_of_column(column)?);
    }
    let all = matches!(spec.rows, MatchRows::All { .. });
    if all {
        for key in &spec.order_by {
            if let Expr::Column(column) = &key.expr {
                add(input.schema().index_of_column(column)?);
            }
        }
    }
    let measures = (0..spec.measures.len()).map(OutputColumn::Measure);
    let mut output: Vec<OutputColumn> = output.into_iter().chain(measures).collect();
    if all {
        for index in 0..input.schema().fields().len() {
            if !output.contains(&OutputColumn::Input(index)) {
                output.push(OutputColumn::Input(index));
            }
        }
    }
    Ok(output)
}

impl PartialOrd for MatchRecognize {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self == other { Some(Ordering::Equal) } else { self.input.partial_cmp(&other.input) }
    }
}

impl UserDefinedLogicalNodeCore for MatchRecognize {
    fn name(&self) -> &str {
        "MatchRecognize"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        self.spec.partition_by.iter().cloned().map(Expr::Column).collect()
    }

    /// Which rows are filtered decides what matches: only a condition on the key leaves whole partitions out.
    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        let is_key = |name: &String| self.spec.partition_by.iter().any(|column| column.name == *name);
        self.schema.fields().iter().map(|field| field.name().clone()).filter(|name| !is_key(name)).collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let keys: Vec<&str> = self.spec.partition_by.iter().map(|column| column.name.as_str()).collect();
        let measures: Vec<&str> = self.spec.measures.iter().map(|m| m.field.name().as_str()).collect();
        write!(f, "MatchRecognize: by ({}), measures ({})", keys.join(", "), measures.join(", "))
    }

    fn with_exprs_and_inputs(&self, _exprs: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Self> {
        let input = inputs.pop().map_or_else(|| Arc::clone(&self.input), Arc::new);
        Self::try_new(input, Arc::clone(&self.spec))
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let mut needed = self.read_columns()?;
        needed.extend(output_columns.iter().filter_map(|column| match self.output.get(*column) {
            Some(OutputColumn::Input(index)) => Some(*index),
            _ => None,
        }));
        needed.sort_unstable();
        needed.dedup();
        Some(vec![needed])
    }
}
