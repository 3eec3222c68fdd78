//! Statements to job graphs.
//!
//! ```text
//! text -> parser -> bind (names, types) -> optimize -> lower (stream plan) -> job graph
//! ```

use arrow::datatypes::SchemaRef;
use datafusion_expr::LogicalPlan;
use tidemark_parser::Diagnostic;
use tidemark_parser::ast::{Insert, Query};

use crate::bind::insert::bind_insert;
use crate::bind::query::QueryBinder;
use crate::bind::{ScriptText, diagnose, place_of};
use crate::catalog::Catalog;
use crate::changelog::ChangelogMode;
use crate::job_graph::JobGraph;
use crate::lower::Lowering;
use crate::optimize;
use crate::settings::Settings;
use crate::stack::with_deep_stack;

/// Plans statements of one script against a catalog.
#[derive(Clone, Copy, Debug)]
pub struct Planner<'a> {
    catalog: &'a Catalog,
    settings: &'a Settings,
    text: &'a str,
}

/// A planned job.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The optimised logical plans, one a query or INSERT.
    pub logical: Vec<LogicalPlan>,
    /// What the runtime runs.
    pub graph: JobGraph,
    /// What a query yields; `None` for INSERTs.
    pub output: Option<QueryOutput>,
    /// What is worth knowing before it runs.
    pub warnings: Vec<Diagnostic>,
}

/// What a query yields.
#[derive(Clone, Debug)]
pub struct QueryOutput {
    /// The columns.
    pub schema: SchemaRef,
    /// Which changes the result carries.
    pub changelog: ChangelogMode,
    /// Columns that identify a row of an updating result.
    pub upsert_key: Vec<usize>,
    /// Does it end by itself?
    pub bounded: bool,
}

impl<'a> Planner<'a> {
    /// A planner for the script `text`.
    pub fn new(catalog: &'a Catalog, settings: &'a Settings, text: &'a str) -> Self {
        Self { catalog, settings, text }
    }

    /// Plans a query whose rows go to whoever asked.
    pub fn plan_query(&self, query: &Query) -> Result<Planned, Vec<Diagnostic>> {
        with_deep_stack(|| self.query(query))
    }

    fn query(&self, query: &Query) -> Result<Planned, Vec<Diagnostic>> {
        let logical = self.bind(query).map_err(|findings| self.placed(findings, query))?;
        let mut lowering = Lowering::new(self.catalog, self.settings, self.text);
        lowering.note_places(query);
        let relation = lowering.collect(&logical).map_err(|d| self.placed(vec![*d], query))?;
        let node = lowering.plan.node(relation.node);
        let output = QueryOutput {
            schema: node.schema.clone(),
            changelog: node.changelog,
            upsert_key: node.upsert_key.clone(),
            bounded: relation.bounded,
        };
        Ok(self.planned(vec![logical], Some(output), lowering))
    }

    /// The columns that a query yields, without looking at its sources.
    pub fn schema_of(&self, query: &Query) -> Result<SchemaRef, Vec<Diagnostic>> {
        let plan = with_deep_stack(|| self.bind(query)).map_err(|findings| self.placed(findings, query))?;
        Ok(std::sync::Arc::new(plan.schema().as_arrow().clone()))
    }

    /// Plans INSERTs that run as one job.
    pub fn plan_inserts(&self, inserts: &[Insert]) -> Result<Planned, Vec<Diagnostic>> {
        with_deep_stack(|| self.inserts(inserts))
    }

    fn inserts(&self, inserts: &[Insert]) -> Result<Planned, Vec<Diagnostic>> {
        let mut lowering = Lowering::new(self.catalog, self.settings, self.text);
        let mut findings = vec![];
        let mut plans = vec![];
        for insert in inserts {
            let planned = bind_insert(self.catalog, self.settings, insert, self.text).and_then(|bound| {
                let plan = self.optimize(bound.plan.clone())?;
                lowering.note_places(&insert.query);
                lowering.insert(&bound, &plan, insert.table.span).map_err(|d| vec![*d])?;
                Ok(plan)
            });
            match planned {
                Ok(plan) => plans.push(plan),
                Err(more) => findings.extend(self.placed(more, &insert.query)),
            }
        }
        if findings.is_empty() { Ok(self.planned(plans, None, lowering)) } else { Err(findings) }
    }

    /// The findings, each with a place in the script.
    fn placed(&self, findings: Vec<Diagnostic>, query: &Query) -> Vec<Diagnostic> {
        let script = ScriptText::new(self.text);
        let place = |d: Diagnostic| match d.span {
            Some(_) => d,
            None => {
                let place = place_of(&d, query, &script);
                d.at(place)
            }
        };
        findings.into_iter().map(place).collect()
    }

    fn bind(&self, query: &Query) -> Result<LogicalPlan, Vec<Diagnostic>> {
        let bound = QueryBinder::new(self.catalog, self.settings, self.text).bind(query)?;
        self.optimize(bound)
    }

    fn optimize(&self, plan: LogicalPlan) -> Result<LogicalPlan, Vec<Diagnostic>> {
        optimize::optimize(plan).map_err(|e| diagnose(&e, &ScriptText::new(self.text)))
    }

    fn planned(&self, logical: Vec<LogicalPlan>, output: Option<QueryOutput>, mut lowering: Lowering) -> Planned {
        lowering.plan.attach_read_watermarks();
        let graph = JobGraph::build(lowering.plan, self.settings.parallelism(), self.settings.max_parallelism());
        Planned { logical, graph, output, warnings: lowering.warnings }
    }
}

#[cfg(test)]
mod tests;
