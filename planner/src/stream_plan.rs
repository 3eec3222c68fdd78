//! The stream plan: what the runtime executes, one node an operator, before it is cut into tasks.
//!
//! A plan is an arena of nodes in topological order (inputs before their consumers). Expressions are compiled
//! and refer to input columns by index; nothing logical is left in it.

mod join;
pub mod match_recognize;
pub mod row_pattern;

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{FieldRef, SchemaRef};
use serde::Serialize;

use crate::catalog::table::TableDef;
use crate::changelog::ChangelogMode;
use crate::compiled_expr::CompiledExpr;
pub use join::{JoinBound, JoinCondition, JoinNode, JoinSide, JoinType};
use match_recognize::MatchRecognizeNode;

/// Index of a node in [`StreamPlan::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct NodeId(pub usize);

/// A whole plan: one or more sinks over shared nodes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StreamPlan {
    /// Nodes, inputs before consumers.
    pub nodes: Vec<StreamNode>,
}

/// One operator of the plan.
#[derive(Clone, Debug, Serialize)]
pub struct StreamNode {
    /// Its place in the arena.
    pub id: NodeId,
    /// A stable name for state and metrics: what it is and its number among those of its kind in its statement, such
    /// as `window-aggregate-2`; in an INSERT behind the table's name, `daily/window-aggregate-2`.
    pub uid: String,
    /// What it does.
    pub kind: NodeKind,
    /// Where its rows come from, in input order.
    pub inputs: Vec<NodeId>,
    /// The columns it emits.
    #[serde(serialize_with = "serialize_schema")]
    pub schema: SchemaRef,
    /// The changes it emits.
    pub changelog: ChangelogMode,
    /// Columns that identify a row of an updating result; empty when unknown or not needed.
    pub upsert_key: Vec<usize>,
    /// How its input rows are spread over subtasks; one entry an input.
    pub distribution: Vec<Distribution>,
    /// Must it run as a single subtask (global order, limit, global aggregate)?
    pub singleton: bool,
}

/// How rows travel from a producer to the subtasks of a consumer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Stay in the same subtask.
    Forward,
    /// By key group of these input columns.
    Hash(Vec<usize>),
    /// All to subtask 0.
    Single,
}

/// What a node does.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum NodeKind {
    /// Reads a table's connector.
    Source(SourceNode),
    /// Emits constant rows, then ends.
    Values {
        /// The rows.
        #[serde(skip)]
        rows: RecordBatch,
    },
    /// Derives the watermark from rows; marks rows that are behind it.
    WatermarkAssigner(WatermarkNode),
    /// Filters, then projects.
    Calc(CalcNode),
    /// Appends `window_start`, `window_end`, `window_time`, one output row a window of a row.
    WindowTvf(WindowTvfNode),
    /// Aggregates per window and key; a window's rows leave when the watermark passes its end.
    WindowAggregate(WindowAggregateNode),
    /// Aggregates per key without a window: an updating result.
    GroupAggregate(GroupAggregateNode),
    /// Finds patterns among the rows of each key.
    MatchRecognize(Box<MatchRecognizeNode>),
    /// Joins two inputs.
    Join(JoinNode),
    /// Rows of all inputs, in arrival order.
    Union,
    /// Orders rows.
    Sort(SortNode),
    /// The first rows after skipping some.
    Limit {
        /// Rows to skip.
        offset: u64,
        /// Rows to emit; none means all.
        fetch: Option<u64>,
    },
    /// Writes a table's connector.
    Sink(SinkNode),
    /// Hands rows to whoever asked the query.
    Collect,
}

/// Reads a table.
#[derive(Clone, Debug, Serialize)]
pub struct SourceNode {
    /// The table; `OPTIONS` hints are already merged into its options.
    #[serde(serialize_with = "serialize_table")]
    pub table: Arc<TableDef>,
    /// The physical columns to read (a subset of the table's, in table order): the node's leading output columns.
    #[serde(skip)]
    pub physical: SchemaRef,
    /// Metadata keys to append behind them, one column each.
    pub metadata: Vec<String>,
    /// Does the source end by itself?
    pub bounded: bool,
}

/// Derives watermarks.
#[derive(Clone, Debug, Serialize)]
pub struct WatermarkNode {
    /// The event time column.
    pub rowtime: usize,
    /// Its name, for messages.
    pub rowtime_name: String,
    /// The table's name, for messages.
    pub table: String,
    /// The watermark that a row gives rise to: a timestamp, or NULL for none.
    pub expr: CompiledExpr,
    /// After so many milliseconds without rows the input no longer holds others back.
    pub idle_timeout_ms: Option<u64>,
    /// Attach the watermark to every row, whether or not it is behind: the query reads CURRENT_WATERMARK.
    pub always_attach: bool,
    /// What to do with rows whose event time is NULL.
    pub null_rowtime: NullRowtime,
}

/// What to do with a row whose event time is NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NullRowtime {
    /// Fail the job.
    Fail,
    /// Drop the row and count it.
    Drop,
}

/// Filters, then projects.
#[derive(Clone, Debug, Serialize)]
pub struct CalcNode {
    /// Columns appended behind the input's, for expressions to read.
    pub hidden: Vec<HiddenColumn>,
    /// Rows to keep: those where it is true.
    pub predicate: Option<CompiledExpr>,
    /// The output columns.
    pub projection: Vec<CompiledExpr>,
}

/// A value that the task knows and an expression may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HiddenColumn {
    /// The clock, as `Timestamp(ms, "UTC")`: PROCTIME(), NOW().
    ProcessingTime,
    /// The watermark before this row, as `Timestamp(ms)` without zone; NULL before the first: CURRENT_WATERMARK.
    RowWatermark,
}

/// Assigns rows to windows without aggregating.
#[derive(Clone, Debug, Serialize)]
pub struct WindowTvfNode {
    /// The windows.
    pub window: TimeWindow,
    /// The input columns whose values each have sessions of their own; empty for all other windows.
    pub partition: Vec<usize>,
}

/// Windows over a time column of the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimeWindow {
    /// The event time column; `None` for processing time.
    pub time_column: Option<usize>,
    /// Shape.
    pub kind: WindowKind,
    /// The zone in which windows are aligned, for `TIMESTAMP_LTZ` and processing time; `None` for a time without
    /// zone. `window_start` and `window_end` are then wall-clock times of that zone, `window_time` is an instant.
    pub zone: Option<String>,
}

/// Shapes of windows. All lengths in milliseconds, all positive; offsets may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum WindowKind {
    Tumble {
        size_ms: i64,
        offset_ms: i64,
    },
    Hop {
        size_ms: i64,
        slide_ms: i64,
        offset_ms: i64,
    },
    Cumulate {
        max_size_ms: i64,
        step_ms: i64,
        offset_ms: i64,
    },
    /// Rows of a key that are at most `gap_ms` apart.
    Session {
        gap_ms: i64,
    },
}

impl WindowKind {
    /// Is it made by its rows rather than cut out of time?
    pub fn is_session(&self) -> bool {
        matches!(self, WindowKind::Session { .. })
    }
}

impl std::fmt::Display for WindowKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let offset = |f: &mut std::fmt::Formatter<'_>, ms: i64| match ms {
            0 => write!(f, ")"),
            ms => write!(f, ", offset {})", spell_ms(ms)),
        };
        match *self {
            WindowKind::Tumble { size_ms, offset_ms } => {
                write!(f, "TUMBLE({}", spell_ms(size_ms))?;
                offset(f, offset_ms)
            }
            WindowKind::Hop { size_ms, slide_ms, offset_ms } => {
                write!(f, "HOP({} every {}", spell_ms(size_ms), spell_ms(slide_ms))?;
                offset(f, offset_ms)
            }
            WindowKind::Cumulate { max_size_ms, step_ms, offset_ms } => {
                write!(f, "CUMULATE({} in steps of {}", spell_ms(max_size_ms), spell_ms(step_ms))?;
                offset(f, offset_ms)
            }
            WindowKind::Session { gap_ms } => write!(f, "SESSION(gap {})", spell_ms(gap_ms)),
        }
    }
}

/// Milliseconds in the largest unit that divides them: `1 h`, `90 min`, `-5 s`.
pub fn spell_ms(ms: i64) -> String {
    for (unit, name) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")] {
        if ms != 0 && ms % unit == 0 {
            return format!("{} {name}", ms / unit);
        }
    }
    format!("{ms} ms")
}

/// How a window aggregate learns a row's windows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowAssignment {
    /// From a time column.
    Time(TimeWindow),
    /// From columns of the input that already hold them: a window over a window's result.
    /// Both are `Timestamp(ms)` without zone.
    Attached {
        /// `window_start`.
        start: usize,
        /// `window_end`.
        end: usize,
        /// The zone in which they were aligned, as in [`TimeWindow::zone`].
        zone: Option<String>,
    },
}

/// Aggregates per window and key.
///
/// Output columns: the keys in order, then one column an aggregate, then the columns of `window_columns`.
/// With `grouping_sets` a key that the set leaves out is NULL, and a `BIGINT`-less `__grouping_id` column follows
/// the keys when `grouping_id` is set.
#[derive(Clone, Debug, Serialize)]
pub struct WindowAggregateNode {
    /// How rows find their windows.
    pub window: WindowAssignment,
    /// Key columns of the input.
    pub keys: Vec<usize>,
    /// For GROUPING SETS: per set, which of `keys` take part. Empty when there is one set with all keys.
    pub grouping_sets: Vec<GroupingSet>,
    /// The aggregates.
    pub aggregates: Vec<AggregateCall>,
    /// Window columns to append, in this order.
    pub window_columns: Vec<WindowColumn>,
}

/// One set of GROUPING SETS / ROLLUP / CUBE.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupingSet {
    /// For each key: does it take part?
    pub present: Vec<bool>,
    /// The value of the `__grouping_id` output column.
    pub id: u64,
}

/// A property of the window as an output column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowColumn {
    /// Inclusive start, `Timestamp(ms)` without zone.
    Start,
    /// Exclusive end, `Timestamp(ms)` without zone.
    End,
    /// End − 1 ms: the time attribute of the result; `Timestamp(ms)`, with the zone when the window has one.
    Time,
}

/// Aggregates per key without a window.
///
/// Output columns: the keys in order (then `__grouping_id` as above), then one column an aggregate.
#[derive(Clone, Debug, Serialize)]
pub struct GroupAggregateNode {
    /// Key columns of the input; empty for a global aggregate, which always has one row.
    pub keys: Vec<usize>,
    /// As in [`WindowAggregateNode::grouping_sets`].
    pub grouping_sets: Vec<GroupingSet>,
    /// The aggregates.
    pub aggregates: Vec<AggregateCall>,
}

/// One aggregate of a group.
#[derive(Clone, Debug, Serialize)]
pub struct AggregateCall {
    /// Which.
    pub function: AggregateFunction,
    /// Input columns; empty for `COUNT(*)`.
    pub args: Vec<usize>,
    /// `DISTINCT`: each combination of argument values counts once a group.
    pub distinct: bool,
    /// `FILTER (WHERE …)`: a boolean input column; only rows where it is true count.
    pub filter: Option<usize>,
    /// Type and nullability of the result; its name is the output column's.
    #[serde(serialize_with = "serialize_field")]
    pub field: FieldRef,
    /// The SQL text.
    pub text: String,
}

/// Aggregate functions. NULL arguments are skipped by all but `COUNT(*)` and `ArrayAgg`.
/// A group without any counted row gives NULL (`COUNT`: 0).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AggregateFunction {
    /// Rows, or rows whose arguments are all not NULL. `BIGINT NOT NULL`.
    Count,
    /// Sum; overflow is an error. Integers sum as `BIGINT`, decimals as `DECIMAL(38, s)`.
    Sum,
    /// Mean, of the call's result type (`DOUBLE` for integers and floats, decimal for decimals).
    Avg,
    /// Smallest, of the argument's type; any ordered type.
    Min,
    /// Largest.
    Max,
    /// Population standard deviation, `DOUBLE` (Welford).
    StddevPop,
    /// Sample standard deviation; NULL for fewer than two rows.
    StddevSamp,
    /// Population variance.
    VarPop,
    /// Sample variance; NULL for fewer than two rows.
    VarSamp,
    /// The first in arrival order that is not NULL.
    FirstValue,
    /// The last in arrival order that is not NULL.
    LastValue,
    /// Texts joined in arrival order, NULL skipped.
    ListAgg {
        /// Between two texts.
        separator: String,
    },
    /// All values in arrival order, NULL included, as `ARRAY`.
    ArrayAgg,
    /// True if all are.
    BoolAnd,
    /// True if any is.
    BoolOr,
}

/// Orders rows.
#[derive(Clone, Debug, Serialize)]
pub struct SortNode {
    /// The order; the first key decides first.
    pub keys: Vec<SortKey>,
    /// Sort by event time as the watermark advances: the first key is the ascending time attribute.
    /// Otherwise rows are sorted when the (bounded) input ends.
    pub by_watermark: bool,
    /// Rows to skip, then rows to keep.
    pub offset: u64,
    /// Rows to keep; none means all.
    pub fetch: Option<u64>,
}

/// One sort key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SortKey {
    /// Input column.
    pub column: usize,
    /// Largest first?
    pub descending: bool,
    /// NULLs before all others?
    pub nulls_first: bool,
}

/// Writes a table.
#[derive(Clone, Debug, Serialize)]
pub struct SinkNode {
    /// The table; `OPTIONS` hints are already merged into its options. Input columns are its physical columns in order.
    #[serde(serialize_with = "serialize_table")]
    pub table: Arc<TableDef>,
}

impl StreamPlan {
    /// Has every row carry its watermark when that is asked for: by an expression with CURRENT_WATERMARK, or by a
    /// session window, in which a row right at the end of a session belongs to it as long as that has not closed.
    pub(crate) fn attach_read_watermarks(&mut self) {
        let reads = |n: &StreamNode| match &n.kind {
            NodeKind::Calc(calc) => calc.hidden.contains(&HiddenColumn::RowWatermark),
            NodeKind::WindowTvf(tvf) => tvf.window.kind.is_session(),
            NodeKind::WindowAggregate(aggregate) => {
                matches!(&aggregate.window, WindowAssignment::Time(window) if window.kind.is_session())
            }
            _ => false,
        };
        if self.nodes.iter().any(reads) {
            for node in &mut self.nodes {
                if let NodeKind::WatermarkAssigner(assigner) = &mut node.kind {
                    assigner.always_attach = true;
                }
            }
        }
    }

    /// The node of that id.
    pub fn node(&self, id: NodeId) -> &StreamNode {
        &self.nodes[id.0]
    }
}

fn serialize_schema<S: serde::Serializer>(schema: &SchemaRef, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(schema.fields().iter().map(|f| crate::types::describe_field(f)))
}

fn serialize_field<S: serde::Serializer>(field: &FieldRef, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&crate::types::describe_field(field))
}

fn serialize_table<S: serde::Serializer>(table: &Arc<TableDef>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&table.name)
}
