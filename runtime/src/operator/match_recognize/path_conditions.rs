//! Conditions that depend on the rows matched so far: asked row by row, for each way that is still open.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, new_null_array};
use arrow::datatypes::{DataType, SchemaRef};
use tidemark_planner::compiled_expr::CompiledExpr;
use tidemark_planner::stream_plan::AggregateCall;
use tidemark_planner::stream_plan::match_recognize::{MatchLeaf, Navigation, PatternVariable, VariableSet};

use super::conditions::widened;
use super::path::{NodeId, Paths};
use super::rows::{RowId, RowStore};
use super::values::{RowValues, RowsAsked, batch_of, is_true, leaf_schema};
use crate::aggregate::{Accumulator, AggregateRows, Arrival, create_accumulator};
use crate::error::OperatorError;

/// The conditions of the variables that have one.
pub struct PathConditions {
    /// By variable.
    conditions: Vec<Option<Condition>>,
    /// The sets of variables that conditions ask for: what paths are told to keep.
    pub sets: Vec<u64>,
    /// How many rows back the conditions look, and how many ahead.
    pub reach: (u32, u32),
    names: Vec<String>,
}

struct Condition {
    leaves: Vec<Leaf>,
    schema: SchemaRef,
    expr: CompiledExpr,
}

enum Leaf {
    Value {
        row: Navigation,
        set: usize,
        value: RowValues,
    },
    Aggregate(Box<RunningAggregate>),
    MatchNumber,
    /// The time of the row at hand.
    Rowtime,
}

/// An aggregate over a path. Paths that are asked for one after the other mostly continue each other: it keeps the
/// state of the last one, and begins anew only when another comes.
struct RunningAggregate {
    call: AggregateCall,
    args: Vec<RowValues>,
    set: u64,
    state: Box<dyn Accumulator>,
    /// The node up to which rows are counted: its attempt, its index, its serial number there.
    counted: Option<(u64, NodeId, u64)>,
    rows: u64,
}

/// A path and where its rows are.
pub struct PathAsked<'a> {
    /// The attempt.
    pub attempt: u64,
    /// Its paths.
    pub paths: &'a Paths,
    /// The row at hand, which counts as matched.
    pub node: NodeId,
    /// The partition's row that is so many rows behind the match's first; [`RowId::NONE`] outside the partition.
    pub row: &'a dyn Fn(i64) -> RowId,
    /// The input column that is the time.
    pub time_column: Option<usize>,
    /// The number of the match.
    pub number: i64,
}

impl PathConditions {
    /// Prepares the conditions over rows of `input`.
    pub fn new(variables: &[PatternVariable], input: &SchemaRef, time: Option<usize>) -> Result<Self, OperatorError> {
        let time_type = time.map_or(DataType::Null, |column| input.field(column).data_type().clone());
        let (mut sets, mut reach, mut conditions) = (vec![], (0, 0), vec![]);
        for variable in variables {
            let Some(path) = &variable.path else {
                conditions.push(None);
                continue;
            };
            let mut leaves = vec![];
            for leaf in &path.leaves {
                if let MatchLeaf::Value { row, .. } = leaf {
                    reach = widened(reach, row.physical);
                }
                leaves.push(Leaf::new(leaf, input, &mut sets)?);
            }
            conditions.push(Some(Condition { leaves, schema: leaf_schema(path, &time_type), expr: path.expr.clone() }));
        }
        let names = variables.iter().map(|variable| variable.name.clone()).collect();
        Ok(Self { conditions, sets, reach, names })
    }

    /// The variables that have such a condition.
    pub fn variables(&self) -> VariableSet {
        let bits = self.conditions.iter().enumerate().filter(|(_, condition)| condition.is_some());
        VariableSet(bits.fold(0, |all, (variable, _)| all | 1 << variable))
    }

    /// Can the row at hand be `variable`?
    pub fn hold(&mut self, variable: u8, store: &RowStore, asked: &PathAsked) -> Result<bool, OperatorError> {
        let Self { conditions, names, .. } = self;
        let Some(condition) = &mut conditions[usize::from(variable)] else { return Ok(true) };
        let mut columns = Vec::with_capacity(condition.leaves.len());
        for leaf in &mut condition.leaves {
            columns.push(leaf.evaluate(store, names, asked)?);
        }
        let batch = batch_of(&condition.schema, columns, 1)?;
        Ok(is_true(&condition.expr.evaluate(&batch)?, 0))
    }
}

impl Leaf {
    fn new(leaf: &MatchLeaf, input: &SchemaRef, sets: &mut Vec<u64>) -> Result<Self, OperatorError> {
        Ok(match leaf {
            MatchLeaf::Value { row, value } => {
                let set = sets.iter().position(|known| *known == row.variables.0).unwrap_or_else(|| {
                    sets.push(row.variables.0);
                    sets.len() - 1
                });
                Leaf::Value { row: *row, set, value: RowValues::new(value, input) }
            }
            MatchLeaf::Aggregate { call, args, variables, .. } => {
                let args: Vec<RowValues> = args.iter().map(|arg| RowValues::new(arg, input)).collect();
                Leaf::Aggregate(Box::new(RunningAggregate::new(call, args, variables.0)?))
            }
            MatchLeaf::MatchNumber => Leaf::MatchNumber,
            MatchLeaf::MatchRowtime => Leaf::Rowtime,
        })
    }

    fn evaluate(&mut self, store: &RowStore, names: &[String], asked: &PathAsked) -> Result<ArrayRef, OperatorError> {
        match self {
            Leaf::Value { row, set, value } => {
                let Some(node) = asked.paths.locate(asked.node, *set, row.from_last, row.offset) else {
                    return Ok(new_null_array(value.data_type(), 1));
                };
                let there = i64::from(asked.paths.depth(node)) + row.physical;
                let variable = labelled(asked, node, there);
                let rows = [(asked.row)(there)];
                value.evaluate(
                    store,
                    names,
                    RowsAsked { rows: &rows, variables: &[variable], numbers: &[asked.number] },
                )
            }
            Leaf::Aggregate(aggregate) => aggregate.evaluate(store, names, asked),
            Leaf::MatchNumber => Ok(Arc::new(Int64Array::from(vec![asked.number]))),
            Leaf::Rowtime => match asked.time_column {
                Some(column) => Ok(store.gather(column, &[(asked.row)(i64::from(asked.paths.depth(asked.node)))])?),
                None => Ok(new_null_array(&DataType::Null, 1)),
            },
        }
    }
}

/// What the row `there` is on the path; `near` is a node of the path at or behind it, if the row is on it.
fn labelled(asked: &PathAsked, near: NodeId, there: i64) -> Option<u8> {
    if there > i64::from(asked.paths.depth(asked.node)) || there < 0 {
        return None;
    }
    let from = if there > i64::from(asked.paths.depth(near)) { asked.node } else { near };
    let mut at = Some(from);
    while let Some(node) = at {
        if i64::from(asked.paths.depth(node)) == there {
            return Some(asked.paths.label(node).variable());
        }
        at = asked.paths.parent(node);
    }
    None
}

impl RunningAggregate {
    fn new(call: &AggregateCall, args: Vec<RowValues>, set: u64) -> Result<Self, OperatorError> {
        let types: Vec<DataType> = call.args.iter().map(|arg| args[*arg].data_type().clone()).collect();
        let state = create_accumulator(call, &types)?;
        Ok(Self { call: call.clone(), args, set, state, counted: None, rows: 0 })
    }

    fn evaluate(&mut self, store: &RowStore, names: &[String], asked: &PathAsked) -> Result<ArrayRef, OperatorError> {
        let mut open = vec![];
        let mut at = Some(asked.node);
        let mark = |node: NodeId| Some((asked.attempt, node, asked.paths.serial(node)));
        let is_counted = |node: NodeId| self.counted == mark(node);
        while let Some(node) = at.filter(|node| !is_counted(*node)) {
            open.push(node);
            at = asked.paths.parent(node);
        }
        if at.is_none() {
            self.state.resize(0);
            self.state.resize(1);
            self.rows = 0;
        }
        for node in open.into_iter().rev() {
            self.count(store, names, asked, node)?;
        }
        self.counted = mark(asked.node);
        let value = self.state.evaluate(&[0]).map_err(|error| error.of_call(&self.call))?;
        crate::aggregate::group_table::of_type(value, self.call.field.data_type())
    }

    fn count(
        &mut self,
        store: &RowStore,
        names: &[String],
        asked: &PathAsked,
        node: NodeId,
    ) -> Result<(), OperatorError> {
        let label = asked.paths.label(node);
        if !label.is_in(self.set) {
            return Ok(());
        }
        let rows = [(asked.row)(i64::from(asked.paths.depth(node)))];
        let variables = [Some(label.variable())];
        let asked = RowsAsked { rows: &rows, variables: &variables, numbers: &[asked.number] };
        let args = self.args.iter().map(|arg| arg.evaluate(store, names, asked)).collect::<Result<Vec<_>, _>>()?;
        let columns: Vec<ArrayRef> = self.call.args.iter().map(|arg| ArrayRef::clone(&args[*arg])).collect();
        let filter = self.call.filter.map(|filter| args[filter].as_boolean());
        let counted = AggregateRows { args: &columns, groups: &[0], filter, arrival: Arrival::From(self.rows) };
        self.rows += 1;
        self.state.update(&counted).map_err(|error| error.of_call(&self.call))
    }
}
