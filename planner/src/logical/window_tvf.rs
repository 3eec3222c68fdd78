//! `TUMBLE`, `HOP`, `CUMULATE`, `SESSION` as a relation: the input's columns, then `window_start`, `window_end`, `window_time`.
//!
//! ```text
//! (ts 10:03, v 1)   TUMBLE 10 min   (ts 10:03, v 1, window_start 10:00, window_end 10:10, window_time 10:09:59.999)
//! ```

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, TimeUnit};
use datafusion_common::{DFSchema, DFSchemaRef, Result, TableReference};
use datafusion_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};
use tidemark_parser::Span;

use crate::stream_plan::WindowKind;

/// Inclusive start of the window.
pub const WINDOW_START: &str = "window_start";
/// Exclusive end of the window.
pub const WINDOW_END: &str = "window_end";
/// End − 1 ms: the time attribute of what comes out of the window.
pub const WINDOW_TIME: &str = "window_time";

/// Assigns rows to windows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WindowTvf {
    /// The rows.
    pub input: Arc<LogicalPlan>,
    /// The time attribute: a column of the input.
    pub time: Expr,
    /// The windows.
    pub kind: WindowKind,
    /// Over the input: the values that each have sessions of their own. Empty for all other windows.
    pub partition: Vec<Expr>,
    /// Where `DESCRIPTOR(…)` stands.
    pub span: Option<Span>,
    schema: DFSchemaRef,
}

impl WindowTvf {
    /// A node over `input`; fails when the input already has one of the window columns.
    pub fn try_new(
        input: Arc<LogicalPlan>,
        time: Expr,
        kind: WindowKind,
        partition: Vec<Expr>,
        span: Option<Span>,
    ) -> Result<Self> {
        let (_, time_field) = datafusion_expr::ExprSchemable::to_field(&time, input.schema())?;
        let time_type = match time_field.data_type() {
            DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Millisecond, zone.clone()),
            other => other.clone(),
        };
        let wall = DataType::Timestamp(TimeUnit::Millisecond, None);
        let mut fields: Vec<(Option<TableReference>, Arc<Field>)> =
            input.schema().iter().map(|(q, f)| (q.cloned(), Arc::clone(f))).collect();
        for (name, data_type) in [(WINDOW_START, wall.clone()), (WINDOW_END, wall), (WINDOW_TIME, time_type)] {
            fields.push((None, Arc::new(Field::new(name, data_type, false))));
        }
        let schema = Arc::new(DFSchema::new_with_metadata(fields, input.schema().metadata().clone())?);
        Ok(Self { input, time, kind, partition, span, schema })
    }

    /// How many columns the input has: the window columns follow.
    pub fn input_width(&self) -> usize {
        self.input.schema().fields().len()
    }
}

impl PartialOrd for WindowTvf {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self == other { Some(Ordering::Equal) } else { self.input.partial_cmp(&other.input) }
    }
}

impl UserDefinedLogicalNodeCore for WindowTvf {
    fn name(&self) -> &str {
        "WindowTvf"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        std::iter::once(&self.time).chain(&self.partition).cloned().collect()
    }

    /// A row that is filtered out still belongs to its session: only what holds for all of a session's rows may be
    /// asked before.
    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        if !self.kind.is_session() {
            return [WINDOW_START, WINDOW_END, WINDOW_TIME].map(String::from).into();
        }
        let is_partition = |name: &str| self.partition.iter().any(|p| matches!(p, Expr::Column(c) if c.name == name));
        self.schema.fields().iter().map(|f| f.name()).filter(|name| !is_partition(name)).cloned().collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "WindowTvf: {} on {}", self.kind, self.time)?;
        match self.partition.as_slice() {
            [] => Ok(()),
            keys => write!(f, " by {}", keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        }
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Self> {
        let mut exprs = exprs.into_iter();
        let time = exprs.next().unwrap_or_else(|| self.time.clone());
        let input = inputs.pop().map_or_else(|| Arc::clone(&self.input), Arc::new);
        Self::try_new(input, time, self.kind, exprs.collect(), self.span)
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let own: Vec<_> = std::iter::once(&self.time).chain(&self.partition).flat_map(Expr::column_refs).collect();
        let own = own.into_iter().map(|column| self.input.schema().index_of_column(column).ok());
        let own: Vec<usize> = own.collect::<Option<_>>()?;
        let width = self.input_width();
        let mut needed: Vec<usize> = output_columns.iter().copied().filter(|c| *c < width).chain(own).collect();
        needed.sort_unstable();
        needed.dedup();
        Some(vec![needed])
    }
}
