//! Measures of many matches at once: for each leaf the row of each output row is found, the values are gathered, and
//! the expression over the leaves is evaluated once.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, UInt32Array, new_null_array};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType, SchemaRef};
use tidemark_planner::compiled_expr::CompiledExpr;
use tidemark_planner::stream_plan::AggregateCall;
use tidemark_planner::stream_plan::match_recognize::{MatchExpr, MatchLeaf, Navigation};

use super::conditions::widened;
use super::found::{Found, Head, Kind};
use super::rows::{RowId, RowStore};
use super::values::{RowValues, RowsAsked, batch_of, leaf_schema};
use crate::aggregate::group_table::of_type;
use crate::aggregate::{Accumulator, AggregateRows, Arrival, create_accumulator};
use crate::error::OperatorError;

/// An output row: a match, and the row of it at hand.
#[derive(Clone, Copy, Debug)]
pub struct OutputRow {
    /// In [`Found::heads`].
    pub head: usize,
    /// Rows of the match up to and with the one at hand.
    pub seen: usize,
}

/// The measures of a clause.
#[derive(Debug)]
pub struct Measures {
    measures: Vec<Measure>,
    time_column: Option<usize>,
    /// How many rows measures look back from a row of the match, and ahead.
    pub reach: (u32, u32),
}

#[derive(Debug)]
struct Measure {
    leaves: Vec<Leaf>,
    schema: SchemaRef,
    expr: CompiledExpr,
}

#[derive(Debug)]
enum Leaf {
    Value { row: Navigation, value: RowValues },
    Aggregate { call: AggregateCall, args: Vec<RowValues>, set: u64, is_final: bool },
    MatchNumber,
    MatchRowtime,
}

/// What measures are asked about.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The rows.
    pub store: &'a RowStore,
    /// The variables.
    pub names: &'a [String],
    /// The matches.
    pub found: &'a Found,
    /// The output rows, those of a match next to each other.
    pub rows: &'a [OutputRow],
}

impl Measures {
    /// Prepares measures over rows of `input`.
    pub fn new(measures: &[MatchExpr], input: &SchemaRef, time_column: Option<usize>) -> Self {
        let time_type = time_column.map_or(DataType::Null, |column| input.field(column).data_type().clone());
        let mut reach = (0, 0);
        let prepared = measures.iter().map(|measure| {
            for leaf in &measure.leaves {
                if let MatchLeaf::Value { row, .. } = leaf {
                    reach = widened(reach, row.physical);
                }
            }
            Measure {
                leaves: measure.leaves.iter().map(|leaf| Leaf::new(leaf, input)).collect(),
                schema: leaf_schema(measure, &time_type),
                expr: measure.expr.clone(),
            }
        });
        Self { measures: prepared.collect(), time_column, reach }
    }

    /// One column a measure; NULL for unmatched rows.
    pub fn evaluate(&self, asked: Asked) -> Result<Vec<ArrayRef>, OperatorError> {
        let is_unmatched = |row: &OutputRow| asked.found.heads[row.head].kind == Kind::Unmatched;
        let matched: Vec<OutputRow> = asked.rows.iter().copied().filter(|row| !is_unmatched(row)).collect();
        let all_matched = matched.len() == asked.rows.len();
        let mut number = 0;
        let places = UInt32Array::from_iter(asked.rows.iter().map(|row| {
            (!is_unmatched(row)).then(|| {
                number += 1;
                number - 1
            })
        }));
        let of_matches = Asked { rows: &matched, ..asked };
        let column = |measure: &Measure| {
            let column = self.measure(measure, of_matches)?;
            Ok(if all_matched { column } else { take(&column, &places, None)? })
        };
        self.measures.iter().map(column).collect()
    }

    fn measure(&self, measure: &Measure, asked: Asked) -> Result<ArrayRef, OperatorError> {
        let columns = measure.leaves.iter().map(|leaf| self.leaf(leaf, asked)).collect::<Result<Vec<_>, _>>()?;
        let batch = batch_of(&measure.schema, columns, asked.rows.len())?;
        Ok(measure.expr.evaluate(&batch)?)
    }

    fn leaf(&self, leaf: &Leaf, asked: Asked) -> Result<ArrayRef, OperatorError> {
        let heads = asked.rows.iter().map(|row| &asked.found.heads[row.head]);
        match leaf {
            Leaf::MatchNumber => Ok(Arc::new(Int64Array::from_iter_values(heads.map(|head| head.number)))),
            Leaf::MatchRowtime => {
                let last = |head: &Head| asked.found.row(head, head.len.max(1) as i64 - 1);
                let rows: Vec<RowId> = heads.map(last).collect();
                match self.time_column {
                    Some(column) => Ok(asked.store.gather(column, &rows)?),
                    None => Ok(new_null_array(&DataType::Null, rows.len())),
                }
            }
            Leaf::Value { row, value } => {
                let (mut rows, mut variables) = (vec![], vec![]);
                for output in asked.rows {
                    let (id, variable) = locate(*row, asked.found, *output);
                    rows.push(id);
                    variables.push(variable);
                }
                let numbers: Vec<i64> = heads.map(|head| head.number).collect();
                let there = RowsAsked { rows: &rows, variables: &variables, numbers: &numbers };
                value.evaluate(asked.store, asked.names, there)
            }
            Leaf::Aggregate { call, args, set, is_final } => {
                Aggregation { call, args, set: *set, asked }.evaluate(*is_final)
            }
        }
    }
}

impl Leaf {
    fn new(leaf: &MatchLeaf, input: &SchemaRef) -> Self {
        match leaf {
            MatchLeaf::Value { row, value } => Leaf::Value { row: *row, value: RowValues::new(value, input) },
            MatchLeaf::Aggregate { call, args, variables, is_final } => Leaf::Aggregate {
                call: call.clone(),
                args: args.iter().map(|arg| RowValues::new(arg, input)).collect(),
                set: variables.0,
                is_final: *is_final,
            },
            MatchLeaf::MatchNumber => Leaf::MatchNumber,
            MatchLeaf::MatchRowtime => Leaf::MatchRowtime,
        }
    }
}

/// The row that a navigation leads to, and what it is in the match.
fn locate(navigation: Navigation, found: &Found, output: OutputRow) -> (RowId, Option<u8>) {
    let head = &found.heads[output.head];
    let all = found.labels_of(head);
    let visible = &all[..if navigation.is_final { all.len() } else { output.seen.min(all.len()) }];
    let offset = navigation.offset as usize;
    let is_one = |at: &usize| visible[*at].is_in(navigation.variables.0);
    let at = match navigation.from_last {
        true => (0..visible.len()).rev().filter(is_one).nth(offset),
        false => (0..visible.len()).filter(is_one).nth(offset),
    };
    let Some(at) = at else { return (RowId::NONE, None) };
    let there = at as i64 + navigation.physical;
    let label = usize::try_from(there).ok().and_then(|there| all.get(there));
    (found.row(head, there), label.map(|label| label.variable()))
}

/// One aggregate over the rows of matches.
struct Aggregation<'a> {
    call: &'a AggregateCall,
    args: &'a [RowValues],
    set: u64,
    asked: Asked<'a>,
}

impl Aggregation<'_> {
    /// One value an output row: of the whole match, or of its rows so far.
    fn evaluate(&self, is_final: bool) -> Result<ArrayRef, OperatorError> {
        let heads = &self.asked.found.heads;
        let is_whole = |row: &OutputRow| row.seen >= heads[row.head].len;
        let value = match is_final || self.asked.rows.iter().all(is_whole) {
            true => self.whole()?,
            false => self.running()?,
        };
        of_type(value, self.call.field.data_type())
    }

    fn accumulator(&self) -> Result<Box<dyn Accumulator>, OperatorError> {
        let types: Vec<DataType> = self.call.args.iter().map(|arg| self.args[*arg].data_type().clone()).collect();
        create_accumulator(self.call, &types)
    }

    /// Counts rows `which` of a match, given as (match, row), into groups.
    fn count(
        &self,
        state: &mut dyn Accumulator,
        which: &[(usize, usize)],
        groups: &[u32],
        first: u64,
    ) -> Result<(), OperatorError> {
        let found = self.asked.found;
        let rows: Vec<RowId> = which.iter().map(|(head, at)| found.row(&found.heads[*head], *at as i64)).collect();
        let label = |(head, at): &(usize, usize)| Some(found.labels_of(&found.heads[*head])[*at].variable());
        let variables: Vec<Option<u8>> = which.iter().map(label).collect();
        let numbers: Vec<i64> = which.iter().map(|(head, _)| found.heads[*head].number).collect();
        let asked = RowsAsked { rows: &rows, variables: &variables, numbers: &numbers };
        let evaluate = |arg: &RowValues| arg.evaluate(self.asked.store, self.asked.names, asked);
        let args = self.args.iter().map(evaluate).collect::<Result<Vec<_>, _>>()?;
        let columns: Vec<ArrayRef> = self.call.args.iter().map(|arg| ArrayRef::clone(&args[*arg])).collect();
        let filter = self.call.filter.map(|filter| args[filter].as_boolean());
        let counted = AggregateRows { args: &columns, groups, filter, arrival: Arrival::From(first) };
        state.update(&counted).map_err(|error| error.of_call(self.call))
    }

    /// The rows of a match that count.
    fn counted_rows(&self, head: usize) -> impl Iterator<Item = (usize, usize)> {
        let labels = self.asked.found.labels_of(&self.asked.found.heads[head]);
        let counts = move |at: &usize| labels[*at].is_in(self.set);
        (0..labels.len()).filter(counts).map(move |at| (head, at))
    }

    fn whole(&self) -> Result<ArrayRef, OperatorError> {
        let mut state = self.accumulator()?;
        let (mut which, mut groups, mut group_of_row) = (vec![], vec![], vec![]);
        let mut last = None;
        let mut count = 0u32;
        for row in self.asked.rows {
            if last != Some(row.head) {
                last = Some(row.head);
                count += 1;
                which.extend(self.counted_rows(row.head));
                groups.resize(which.len(), count - 1);
            }
            group_of_row.push(count - 1);
        }
        state.resize(count as usize);
        self.count(state.as_mut(), &which, &groups, 0)?;
        state.evaluate(&group_of_row).map_err(|error| error.of_call(self.call))
    }

    fn running(&self) -> Result<ArrayRef, OperatorError> {
        let mut state = self.accumulator()?;
        let mut values: Vec<ArrayRef> = vec![];
        let (mut last, mut counted) = (None, 0);
        for row in self.asked.rows {
            if last != Some(row.head) {
                (last, counted) = (Some(row.head), 0);
                state.resize(0);
                state.resize(1);
            }
            let upto = row.seen.min(self.asked.found.heads[row.head].len);
            let which: Vec<_> = self.counted_rows(row.head).filter(|(_, at)| (counted..upto).contains(at)).collect();
            self.count(state.as_mut(), &which, &vec![0; which.len()], counted as u64)?;
            counted = upto;
            values.push(state.evaluate(&[0]).map_err(|error| error.of_call(self.call))?);
        }
        let values: Vec<&dyn arrow::array::Array> = values.iter().map(|value| value.as_ref()).collect();
        Ok(concat(&values)?)
    }
}
