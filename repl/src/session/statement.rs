//! What each kind of statement does to a session.

use tidemark_parser::Diagnostic;
use tidemark_parser::ast::{Drop, Explain, Name, ObjectKind, ParsedStatement, Show, Statement, TableName, Text};
use tidemark_planner::bind::ddl::{self, Created};
use tidemark_planner::catalog::Relation;
use tidemark_planner::codes;
use tidemark_planner::settings::SettingError;
use tidemark_planner::{Planned, Planner};

use super::{Outcome, Session, answers};

type Findings = Vec<Diagnostic>;

impl Session {
    /// Plans a query, an INSERT or a statement set, or what an EXPLAIN asks about; `None` for all other statements,
    /// which take effect. Nothing is run.
    ///
    /// # Errors
    /// All that is wrong with the statement.
    pub fn plan(&mut self, statement: &ParsedStatement, text: &str) -> Result<Option<Planned>, Findings> {
        let job = match &statement.statement {
            Statement::Explain(explain) => &explain.statement.statement,
            other => other,
        };
        if let Some(planned) = self.plan_job(job, text)? {
            return Ok(Some(planned));
        }
        self.apply(statement, text)?;
        Ok(None)
    }

    /// Plans what runs as a job; `None` for other statements.
    pub(super) fn plan_job(&self, statement: &Statement, text: &str) -> Result<Option<Planned>, Findings> {
        let planner = Planner::new(&self.catalog, &self.settings, text);
        match statement {
            Statement::Query(query) => planner.plan_query(query).map(Some),
            Statement::Insert(insert) => planner.plan_inserts(std::slice::from_ref(&**insert)).map(Some),
            Statement::StatementSet(inserts) => planner.plan_inserts(inserts).map(Some),
            _ => Ok(None),
        }
    }

    /// Runs a statement that is no job.
    pub(super) fn apply(&mut self, statement: &ParsedStatement, text: &str) -> Result<Outcome, Findings> {
        let span = statement.span;
        match &statement.statement {
            Statement::CreateTable(create) => {
                let created = ddl::create_table(&mut self.catalog, &self.settings, create, text, span)?;
                Ok(Outcome::Changed(created_sentence("table", &create.name, created)))
            }
            Statement::CreateView(create) => {
                let created = ddl::create_view(&mut self.catalog, &self.settings, create, text, span)?;
                Ok(Outcome::Changed(created_sentence("view", &create.name, created)))
            }
            Statement::Drop(drop) => self.drop_relation(drop),
            Statement::Set(None) => answers::settings(&self.settings),
            Statement::Set(Some((key, value))) => self.set_at(key, value),
            Statement::Reset(key) => self.reset(key.as_ref()),
            Statement::Show(show) => self.show(show),
            Statement::Describe(name) => self.describe(name),
            Statement::Explain(explain) => self.explain_statement(explain, text),
            Statement::Query(_) | Statement::Insert(_) | Statement::StatementSet(_) => {
                unreachable!("jobs are planned, not applied")
            }
        }
    }

    fn drop_relation(&mut self, drop: &Drop) -> Result<Outcome, Findings> {
        let dropped = ddl::drop_relation(&mut self.catalog, drop)?;
        let kind = match drop.object {
            ObjectKind::Table => "table",
            ObjectKind::View => "view",
        };
        let name = drop.name.display();
        let sentence = match dropped {
            true => format!("{kind} `{name}` dropped"),
            false => format!("there is no {kind} `{name}`, nothing to drop"),
        };
        Ok(Outcome::Changed(sentence))
    }

    fn set_at(&mut self, key: &Name, value: &Text) -> Result<Outcome, Findings> {
        let set = self.set(&key.value, &value.value);
        set.map_err(|error| {
            let span = if let SettingError::BadValue { .. } = error { value.span } else { key.span };
            vec![setting_diagnostic(&error).at(span)]
        })?;
        Ok(Outcome::Changed(format!("'{}' is now '{}'", key.value, value.value)))
    }

    fn reset(&mut self, key: Option<&Name>) -> Result<Outcome, Findings> {
        let reset = self.settings.reset(key.map(|k| k.value.as_str()));
        reset.map_err(|error| vec![setting_diagnostic(&error).at(key.map(|k| k.span))])?;
        Ok(Outcome::Changed(match key {
            Some(key) => format!("'{}' has its default again", key.value),
            None => "all settings have their defaults again".into(),
        }))
    }

    fn show(&self, show: &Show) -> Result<Outcome, Findings> {
        let names_of = |wanted: fn(&Relation) -> bool| {
            let relations = self.catalog.relations().filter(|(_, r)| wanted(r));
            relations.map(|(name, _)| name.to_string()).collect::<Vec<_>>()
        };
        match show {
            Show::Tables => answers::names("table name", names_of(|_| true)),
            Show::Views => answers::names("view name", names_of(|r| matches!(r, Relation::View(_)))),
            Show::Functions => answers::functions(self.settings.time_zone()),
            Show::CreateTable(name) => match self.relation(name)? {
                Relation::Table(table) => Ok(Outcome::Text(table.sql.clone())),
                Relation::View(_) => Err(vec![wrong_kind(name, "view", "SHOW CREATE VIEW")]),
            },
            Show::CreateView(name) => match self.relation(name)? {
                Relation::View(view) => Ok(Outcome::Text(view.sql.clone())),
                Relation::Table(_) => Err(vec![wrong_kind(name, "table", "SHOW CREATE TABLE")]),
            },
            Show::Columns(name) => self.describe(name),
        }
    }

    fn describe(&self, name: &TableName) -> Result<Outcome, Findings> {
        match self.relation(name)? {
            Relation::Table(table) => answers::columns(&answers::of_table(table)),
            Relation::View(view) => {
                let planner = Planner::new(&self.catalog, &self.settings, &view.query_text);
                answers::columns(&answers::of_view(view, planner.schema_of(&view.query)?.fields()))
            }
        }
    }

    fn relation(&self, name: &TableName) -> Result<&Relation, Findings> {
        let found = self.catalog.relation(&name.display());
        found.ok_or_else(|| vec![ddl::unknown_relation(&self.catalog, &name.display(), name.span)])
    }

    fn explain_statement(&self, explain: &Explain, text: &str) -> Result<Outcome, Findings> {
        let unknown = |detail: &&Name| !matches!(detail.value.as_str(), CHANGELOG_MODE | JSON_EXECUTION_PLAN);
        let unknown: Vec<_> = explain.details.iter().filter(unknown).map(unsupported_detail).collect();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let Some(planned) = self.plan_job(&explain.statement.statement, text)? else {
            let message = "only a query, an INSERT or a statement set has a plan";
            return Err(vec![Diagnostic::error(codes::UNSUPPORTED, message).at(explain.statement.span)]);
        };
        let is_json = explain.details.iter().any(|d| d.value == JSON_EXECUTION_PLAN);
        Ok(Outcome::Text(if is_json { json_plan(&planned) } else { planned.explain() }))
    }
}

/// What changes each node emits: always shown.
const CHANGELOG_MODE: &str = "CHANGELOG_MODE";
/// The job graph as JSON instead of the text.
const JSON_EXECUTION_PLAN: &str = "JSON_EXECUTION_PLAN";

fn json_plan(planned: &Planned) -> String {
    serde_json::to_string_pretty(&planned.graph).expect("a job graph has string keys only")
}

fn unsupported_detail(detail: &Name) -> Diagnostic {
    Diagnostic::error(codes::UNSUPPORTED, format!("EXPLAIN cannot show {}", detail.value))
        .at(detail.span)
        .help(format!("it knows {CHANGELOG_MODE}, which is always shown, and {JSON_EXECUTION_PLAN}"))
}

fn created_sentence(kind: &str, name: &TableName, created: Created) -> String {
    match created {
        Created::New => format!("{kind} `{}` created", name.display()),
        Created::Existed => format!("`{}` exists already, nothing to create", name.display()),
    }
}

fn wrong_kind(name: &TableName, kind: &str, instead: &str) -> Diagnostic {
    Diagnostic::error(codes::UNKNOWN_NAME, format!("`{}` is a {kind}", name.display()))
        .at(name.span)
        .help(format!("use {instead} `{}`", name.display()))
}

fn setting_diagnostic(error: &SettingError) -> Diagnostic {
    let diagnostic = Diagnostic::error(codes::BAD_SETTING, error.to_string());
    match error.help() {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}
