//! Where a plan ends: a table, or whoever asked.

use std::sync::Arc;

use datafusion_expr::{Expr, LogicalPlan};
use tidemark_parser::{Diagnostic, LineIndex, Span};

use super::{Lowered, Lowering, Relation};
use crate::bind::insert::BoundInsert;
use crate::bind::option_diagnostic;
use crate::codes::{BAD_OPTION, SINK_MISMATCH};
use crate::stream_plan::{Distribution, NodeKind, SinkNode};

impl Lowering<'_> {
    /// Hands the rows of `plan` to whoever asked.
    pub fn collect(&mut self, plan: &LogicalPlan) -> Lowered<Relation> {
        let relation = self.lower(plan)?;
        let relation = self.materialise(relation)?;
        let schema = self.schema_of(relation.node);
        let key = self.plan.node(relation.node).upsert_key.clone();
        let changelog = self.plan.node(relation.node).changelog;
        let node = self.push("collect", NodeKind::Collect, vec![(relation.node, Distribution::Single)], schema);
        self.set_changelog(node, changelog, key);
        Ok(Relation { node, ..relation })
    }

    /// Writes the rows of an INSERT.
    pub fn insert(&mut self, insert: &BoundInsert, plan: &LogicalPlan, span: Span) -> Lowered<()> {
        let table = &insert.table;
        let Some(connector) = self.catalog.connector(table.connector()) else {
            return Err(Box::new(
                Diagnostic::error(BAD_OPTION, format!("there is no connector '{}'", table.connector())).at(span),
            ));
        };
        let info = connector.sink(table).map_err(|e| {
            let mut d = option_diagnostic(e, &[], Some(span));
            d.message = format!("table `{}`: {}", table.name, d.message);
            Box::new(d)
        })?;
        self.begin_insert(&table.name);
        let relation = self.lower(plan)?;
        let columns: Vec<Expr> = relation.schema.columns().into_iter().map(Expr::Column).collect();
        let schema = Arc::clone(&relation.schema);
        let relation = self.calc_as(relation, &columns, &schema)?;
        if info.accepts.is_append() && !self.is_append(&relation) {
            return Err(Box::new(self.append_only_sink(&relation, &table.name, span)));
        }
        let kind = NodeKind::Sink(SinkNode { table: Arc::clone(table) });
        let distribution = if connector.writes_alone(table) { Distribution::Single } else { Distribution::Forward };
        self.push("sink", kind, vec![(relation.node, distribution)], table.physical_schema());
        self.refuse_own_output(span)
    }

    /// Refuses a job that reads what it writes.
    fn refuse_own_output(&self, span: Span) -> Lowered<()> {
        let sources = self.plan.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Source(source) => Some(&source.table),
            _ => None,
        });
        for source in sources {
            let Some(connector) = self.catalog.connector(source.connector()) else { continue };
            let mut sinks = self.plan.nodes.iter().filter_map(|node| match &node.kind {
                NodeKind::Sink(sink) if sink.table.connector() == source.connector() => Some(&sink.table),
                _ => None,
            });
            let Some(sink) = sinks.find(|sink| connector.reads_its_output(source, sink)) else { continue };
            let message = match sink.name == source.name {
                true => format!("`{}` cannot be read and written in one statement", sink.name),
                false => format!("`{}` cannot be written while `{}` reads the same file", sink.name, source.name),
            };
            return Err(Box::new(Diagnostic::error(SINK_MISMATCH, message).at(span).help("write to another file")));
        }
        Ok(())
    }

    fn append_only_sink(&self, relation: &Relation, table: &str, span: Span) -> Diagnostic {
        let mut message = format!("`{table}` takes only new rows, but this query's result is updating");
        let mut d = Diagnostic::error(SINK_MISMATCH, "");
        if let Some(reason) = &relation.updating_because {
            message.push_str(&format!(" because of {}", reason.what));
            if let Some(place) = reason.span {
                let line = LineIndex::new(self.text).line_column(place.start).0;
                message.push_str(&format!(" in line {line}"));
                d = d.label(place, "this makes the result updating");
            }
        }
        d.message = message;
        d.at(span).help("group by a window, or write to a table that takes updates ('connector' = 'print')")
    }
}
