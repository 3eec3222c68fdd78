//! The operator of a `MATCH_RECOGNIZE` query by itself, driven row by row and watermark by watermark.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{SchemaRef, TimestampMillisecondType};
use tidemark::Session;
use tidemark_parser::ast::Statement;
use tidemark_parser::parse_script;
use tidemark_planner::Planner;
use tidemark_planner::stream_plan::{NodeId, NodeKind, StreamPlan};
use tidemark_runtime::change_batch::ChangeBatch;
use tidemark_runtime::element::Watermark;
use tidemark_runtime::format::zone::Zone;
use tidemark_runtime::metrics::OperatorMetrics;
use tidemark_runtime::operator::{Operator, OperatorContext, Output, factory};

use crate::harness::rows_of;

/// A row as texts; NULL is `None`.
pub type Row = Vec<Option<String>>;

/// A planned query's operator.
pub struct MatchOperator {
    plan: StreamPlan,
    node: NodeId,
    input: SchemaRef,
    /// The columns of the query's result.
    columns: Vec<String>,
    operator: Box<dyn Operator>,
    /// The watermark that consumers have been told.
    given: Watermark,
    metrics: Arc<OperatorMetrics>,
}

impl MatchOperator {
    /// Plans `query` over the table that `create` declares, whose rows are like those of `rows`.
    pub fn plan(create: &str, settings: &[(&str, &str)], query: &str, rows: &RecordBatch) -> Result<Self, String> {
        let mut session = Session::new();
        for (key, value) in settings {
            session.set(key, value).map_err(|e| e.to_string())?;
        }
        session.hold_batches("rows", vec![rows.clone()]);
        session.execute(create).map_err(|e| e.to_string())?;
        Self::plan_in(&session, query)
    }

    /// Plans `query` in a session.
    pub fn plan_in(session: &Session, query: &str) -> Result<Self, String> {
        let script = parse_script(query);
        if let Some(found) = script.diagnostics.first() {
            return Err(format!("{}: {query}", found.message));
        }
        let Some(Statement::Query(parsed)) = script.statements.first().map(|s| &s.statement) else {
            return Err("not a query".into());
        };
        let planner = Planner::new(session.catalog(), session.settings(), query);
        let planned = planner.plan_query(parsed).map_err(|found| format!("{}: {query}", found[0].message))?;
        let result = planned.output.ok_or("not a query")?.schema;
        let columns = result.fields().iter().map(|field| field.name().clone()).collect();
        let plan = planned.graph.plan;
        let is_match = |kind: &NodeKind| matches!(kind, NodeKind::MatchRecognize(_));
        let node = plan.nodes.iter().find(|node| is_match(&node.kind)).ok_or("no MATCH_RECOGNIZE in the plan")?.id;
        let input = SchemaRef::clone(&plan.node(plan.node(node).inputs[0]).schema);
        let (operator, metrics) = open(&plan, node)?;
        Ok(Self { plan, node, input, columns, operator, given: Watermark::MIN, metrics })
    }

    /// The columns that it takes.
    pub fn input(&self) -> &SchemaRef {
        &self.input
    }

    /// Forgets all rows.
    pub fn restart(&mut self) -> Result<(), String> {
        (self.operator, self.metrics) = open(&self.plan, self.node)?;
        self.given = Watermark::MIN;
        Ok(())
    }

    /// Goes on in a new operator from what this one keeps.
    pub fn checkpoint_and_restore(&mut self) -> Result<(), String> {
        let tables = self.operator.state_tables();
        let snapshot = self.operator.snapshot().map_err(|e| e.to_string())?;
        assert_eq!(self.operator.snapshot().map_err(|e| e.to_string())?, snapshot, "a snapshot changes nothing");
        for (table, announced) in snapshot.tables.iter().zip(&tables) {
            assert_eq!((&table.name, &table.schema), (&announced.name, &announced.schema));
            assert!(table.entries.is_sorted_by_key(|entry| entry.key_group), "in order of key groups");
            assert!(table.entries.iter().all(|entry| entry.rows.num_rows() > 0), "an entry has rows");
        }
        let (mut operator, _) = open(&self.plan, self.node)?;
        operator.restore(&snapshot).map_err(|e| e.to_string())?;
        assert_eq!(operator.snapshot().map_err(|e| e.to_string())?, snapshot, "what was kept is taken up whole");
        self.operator = operator;
        Ok(())
    }

    /// Takes rows; they have to wait for the watermark.
    pub fn process(&mut self, rows: RecordBatch) -> Result<(), String> {
        let mut out = Output::default();
        self.operator.process(0, ChangeBatch::insert_only(rows), 0, &mut out).map_err(|e| e.to_string())?;
        assert!(out.is_empty(), "rows wait for the watermark");
        Ok(())
    }

    /// The watermark advances: what is emitted.
    pub fn advance(&mut self, watermark_ms: i64) -> Result<Vec<Row>, String> {
        let mut out = Output::default();
        let given = self.operator.on_watermark(Watermark(watermark_ms), &mut out).map_err(|e| e.to_string())?;
        assert!(given <= Watermark(watermark_ms), "no watermark beyond the one that is taken");
        let rows = self.rows(out)?;
        self.given = self.given.max(given);
        Ok(rows)
    }

    /// The input has ended: what is emitted.
    pub fn finish(&mut self) -> Result<Vec<Row>, String> {
        let mut out = Output::default();
        self.operator.on_watermark(Watermark::MAX, &mut out).map_err(|e| e.to_string())?;
        self.operator.finish(&mut out).map_err(|e| e.to_string())?;
        self.rows(out)
    }

    /// The query's columns of what was emitted.
    fn rows(&self, mut out: Output) -> Result<Vec<Row>, String> {
        let mut rows = vec![];
        for batch in out.drain() {
            let places = self.columns.iter().map(|name| batch.batch.schema().index_of(name));
            let places = places.collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
            self.check_times(&batch.batch);
            let shown = batch.batch.project(&places).map_err(|e| e.to_string())?;
            rows.extend(rows_of(&shown, Zone::Utc));
        }
        Ok(rows)
    }

    /// No time attribute of what is emitted is behind the watermark that was given.
    fn check_times(&self, rows: &RecordBatch) {
        for times in ["ts", "found"].into_iter().filter_map(|name| rows.column_by_name(name)) {
            let times = times.as_primitive::<TimestampMillisecondType>().iter().flatten();
            let behind: Vec<i64> = times.filter(|time| *time <= self.given.0).collect();
            assert!(behind.is_empty(), "emitted at {behind:?}, but the watermark {} was given", self.given.0);
        }
    }

    /// How many rows its state has, those that say how far event time has come left out.
    pub fn kept_rows(&mut self) -> Result<usize, String> {
        let snapshot = self.operator.snapshot().map_err(|e| e.to_string())?;
        let rows = snapshot.tables.iter().filter(|table| table.name != "event time").flat_map(|table| &table.entries);
        Ok(rows.map(|entry| entry.rows.num_rows()).sum())
    }

    /// Rows that came too late.
    pub fn late_rows(&self) -> u64 {
        self.metrics.late_rows.load(Ordering::Relaxed)
    }
}

fn open(plan: &StreamPlan, node: NodeId) -> Result<(Box<dyn Operator>, Arc<OperatorMetrics>), String> {
    let mut operator = factory::create(plan, plan.node(node)).map_err(|e| e.to_string())?;
    let metrics = Arc::new(OperatorMetrics::new("match-recognize-1"));
    let metrics_of = Arc::clone(&metrics);
    let context = OperatorContext { batch_size: 8192, metrics: metrics_of, max_parallelism: 128, key_groups: 0..128 };
    operator.open(&context).map_err(|e| e.to_string())?;
    Ok((operator, metrics))
}
