//! Plans a query without running it: the planner as a library.
//!
//! `cargo run --example embed_planner -p tidemark-planner`
//!
//! An application that has its own sources declares them with a [`ConnectorFactory`] and does with the job graph what
//! it likes: print it, store it as JSON, lint it.

use std::sync::Arc;

use tidemark_parser::ast::Statement;
use tidemark_parser::{Diagnostic, parse_script, render};
use tidemark_planner::bind::ddl::create_table;
use tidemark_planner::catalog::Catalog;
use tidemark_planner::catalog::connector::{ConnectorFactory, OptionError, SinkInfo, SourceInfo};
use tidemark_planner::catalog::options::{OptionKind, OptionSpec};
use tidemark_planner::catalog::table::TableDef;
use tidemark_planner::changelog::ChangelogMode;
use tidemark_planner::settings::Settings;
use tidemark_planner::{Planned, Planner};

const SCRIPT: &str = "
CREATE TABLE orders (
  ts TIMESTAMP(3), customer STRING, amount DECIMAL(10, 2),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'queue', 'topic' = 'orders');

SELECT window_end, customer, SUM(amount) AS spent
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR))
WHERE amount > 0
GROUP BY window_start, window_end, customer;
";

/// A connector of the application's own, as far as the planner needs to know it.
#[derive(Debug)]
struct Queue;

impl ConnectorFactory for Queue {
    fn name(&self) -> &'static str {
        "queue"
    }

    fn options(&self) -> Vec<OptionSpec> {
        vec![OptionSpec { key: "topic", kind: OptionKind::Text, required: true, help: "the topic to read" }]
    }

    fn check_table(&self, _table: &TableDef) -> Result<(), OptionError> {
        Ok(())
    }

    fn source(&self, _table: &TableDef) -> Result<SourceInfo, OptionError> {
        Ok(SourceInfo { bounded: false, changelog: ChangelogMode::Append })
    }

    fn sink(&self, _table: &TableDef) -> Result<SinkInfo, OptionError> {
        Err(OptionError::new(None, "a queue cannot be written"))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let planned = plan(SCRIPT).map_err(|findings| render(&findings, "orders.sql", SCRIPT, false))?;
    println!("{}", planned.explain());
    println!("{}", serde_json::to_string_pretty(&planned.graph)?);
    Ok(())
}

/// Runs the script's DDL against a catalog of its own and plans its last query.
fn plan(script: &str) -> Result<Planned, Vec<Diagnostic>> {
    let settings = Settings::default();
    let mut catalog = Catalog::new(vec![Arc::new(Queue)]);
    let parsed = parse_script(script);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    let mut last = Err(vec![]);
    for statement in &parsed.statements {
        match &statement.statement {
            Statement::CreateTable(table) => {
                create_table(&mut catalog, &settings, table, script, statement.span)?;
            }
            Statement::Query(query) => last = Planner::new(&catalog, &settings, script).plan_query(query),
            _ => {}
        }
    }
    last
}
