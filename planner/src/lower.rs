//! Logical plan to stream plan: one exhaustive match, an unsupported node is a finding and never a panic.

mod aggregate;
mod attribute;
mod expression;
mod fixed_interval;
mod join;
mod match_recognize;
mod order;
mod scan;
mod sink;
mod values;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion_common::DFSchemaRef;
use datafusion_expr::{Distinct, Expr, LogicalPlan};
use sqlparser::ast::{
    Expr as SqlExpr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Ident, Query, Select, Visit,
    Visitor, visit_expressions, visit_relations,
};
use tidemark_parser::{Diagnostic, Span};

use crate::bind::diagnose;
use crate::bind::query::QueryBinder;
use crate::catalog::{Catalog, Relation as Definition};
use crate::changelog::ChangelogMode;
use crate::codes::UNSUPPORTED;
use crate::logical::match_recognize::MatchRecognize;
use crate::logical::window_tvf::WindowTvf;
use crate::settings::Settings;
use crate::stream_plan::{Distribution, NodeId, NodeKind, StreamNode, StreamPlan};
use attribute::Attribute;

pub(crate) use expression::ExprCompiler;

/// A finding aborts the lowering: later ones would only follow from it.
pub(crate) type Lowered<T> = Result<T, Box<Diagnostic>>;

/// A lowered logical node.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    /// The stream node that yields its rows.
    pub node: NodeId,
    /// For each logical column, the stream node's column that holds it.
    pub columns: Vec<usize>,
    /// For each logical column, what it means for time.
    pub attributes: Vec<Attribute>,
    /// The logical columns.
    pub schema: DFSchemaRef,
    /// Does the relation end by itself?
    pub bounded: bool,
    /// Why it is updating, when it is.
    pub updating_because: Option<Reason>,
}

/// What made a relation updating, in words, and where that stands.
#[derive(Clone, Debug)]
pub(crate) struct Reason {
    /// Such as `GROUP BY without a window`.
    pub what: &'static str,
    /// The place.
    pub span: Option<Span>,
}

/// A finding that has no place in the script says at least in which view it arose.
fn say_in_view(view: &str, finding: &mut Diagnostic) {
    if finding.span.is_none() {
        finding.message = format!("in view `{view}`: {}", finding.message);
    }
}

/// Notes where columns stand in GROUP BY.
struct GroupPlaces<'a, 't> {
    script: &'a crate::bind::ScriptText<'t>,
    places: &'a mut BTreeMap<String, Span>,
}

impl Visitor for GroupPlaces<'_, '_> {
    type Break = ();

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        let GroupByExpr::Expressions(groups, _) = &select.group_by else { return ControlFlow::Continue(()) };
        for group in groups {
            let name = match group {
                SqlExpr::Identifier(ident) => Some(ident),
                SqlExpr::CompoundIdentifier(parts) => parts.last(),
                _ => None,
            };
            if let (Some(ident), Some(span)) = (name, self.script.span_of(group)) {
                self.places.entry(ident.value.clone()).or_insert(span);
            }
        }
        ControlFlow::Continue(())
    }
}

/// Lowers the plans of one script into one stream plan.
pub(crate) struct Lowering<'a> {
    pub catalog: &'a Catalog,
    pub settings: &'a Settings,
    pub text: &'a str,
    pub plan: StreamPlan,
    pub warnings: Vec<Diagnostic>,
    /// What the names of the statement's nodes begin with.
    scope: String,
    scopes: BTreeMap<String, usize>,
    names: BTreeMap<&'static str, usize>,
    places: BTreeMap<String, Span>,
    group_places: BTreeMap<String, Span>,
}

impl<'a> Lowering<'a> {
    /// An empty plan for the script `text`.
    pub fn new(catalog: &'a Catalog, settings: &'a Settings, text: &'a str) -> Self {
        Self {
            catalog,
            settings,
            text,
            plan: StreamPlan::default(),
            warnings: vec![],
            scope: String::new(),
            scopes: BTreeMap::new(),
            names: BTreeMap::new(),
            places: BTreeMap::new(),
            group_places: BTreeMap::new(),
        }
    }

    /// Remembers where `query` names its tables and the columns it groups by, for findings about them.
    pub fn note_places(&mut self, query: &Query) {
        let script = crate::bind::ScriptText::new(self.text);
        let _ = query.visit(&mut GroupPlaces { script: &script, places: &mut self.group_places });
        let mut note = |name: Option<&Ident>| {
            if let Some(ident) = name
                && let Some(span) = script.span(ident.span)
            {
                self.places.entry(ident.value.clone()).or_insert(span);
            }
            ControlFlow::<()>::Continue(())
        };
        let _ = visit_relations(query, |name| note(name.0.last().and_then(|part| part.as_ident())));
        // The table of a window function is an argument of it: `TABLE t`.
        let _ = visit_expressions(query, |expr| match expr {
            SqlExpr::Function(f) if f.name.to_string().eq_ignore_ascii_case("TABLE") => match &f.args {
                FunctionArguments::List(list) => match list.args.first() {
                    Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(SqlExpr::Identifier(ident)))) => note(Some(ident)),
                    _ => ControlFlow::Continue(()),
                },
                _ => ControlFlow::Continue(()),
            },
            _ => ControlFlow::Continue(()),
        });
    }

    /// Lowers `plan` and everything below it.
    pub fn lower(&mut self, plan: &LogicalPlan) -> Lowered<Relation> {
        match plan {
            LogicalPlan::Projection(p) => match p.input.as_ref() {
                LogicalPlan::Filter(f) => {
                    let input = self.lower(&f.input)?;
                    self.calc(input, Some(&f.predicate), &p.expr, &p.schema)
                }
                input => {
                    let input = self.lower(input)?;
                    self.calc(input, None, &p.expr, &p.schema)
                }
            },
            LogicalPlan::Filter(f) => {
                let input = self.lower(&f.input)?;
                let identity: Vec<Expr> = input.schema.columns().into_iter().map(Expr::Column).collect();
                let schema = Arc::clone(&input.schema);
                self.calc(input, Some(&f.predicate), &identity, &schema)
            }
            LogicalPlan::SubqueryAlias(a) => {
                let told = self.warnings.len();
                let lowered = self.lower(&a.input);
                if let Some(Definition::View(_)) = self.catalog.relation(a.alias.table()) {
                    self.warnings[told..].iter_mut().for_each(|d| say_in_view(a.alias.table(), d));
                }
                let input = lowered.map_err(|mut d| {
                    if let Some(Definition::View(_)) = self.catalog.relation(a.alias.table()) {
                        say_in_view(a.alias.table(), &mut d);
                    }
                    d
                })?;
                Ok(Relation { schema: Arc::clone(&a.schema), ..input })
            }
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::Values(values) => self.values(&values.values, &values.schema),
            LogicalPlan::EmptyRelation(empty) => self.empty(empty.produce_one_row, &empty.schema),
            LogicalPlan::Union(union) => self.union(&union.inputs, &union.schema),
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Distinct(Distinct::All(input)) => self.distinct(input),
            LogicalPlan::Sort(sort) => self.sort(&sort.expr, &sort.input, 0, sort.fetch),
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Extension(extension) => {
                let node = extension.node.as_any();
                match (node.downcast_ref::<WindowTvf>(), node.downcast_ref::<MatchRecognize>()) {
                    (Some(tvf), _) => self.window_tvf(tvf),
                    (_, Some(clause)) => self.match_recognize(clause),
                    _ => self.unsupported(extension.node.name()),
                }
            }
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Window(_) => self.unsupported("an OVER aggregate or Top-N (ROW_NUMBER)"),
            LogicalPlan::Unnest(_) => self.unsupported("UNNEST"),
            LogicalPlan::Subquery(_) => self.unsupported("a scalar subquery"),
            LogicalPlan::Distinct(Distinct::On(_)) => self.unsupported("DISTINCT ON"),
            LogicalPlan::RecursiveQuery(_) => self.unsupported("WITH RECURSIVE"),
            LogicalPlan::Repartition(_)
            | LogicalPlan::Statement(_)
            | LogicalPlan::Explain(_)
            | LogicalPlan::Analyze(_)
            | LogicalPlan::Dml(_)
            | LogicalPlan::Ddl(_)
            | LogicalPlan::Copy(_)
            | LogicalPlan::DescribeTable(_) => self.unsupported("such a statement inside a query"),
        }
    }

    fn unsupported<T>(&self, what: &str) -> Lowered<T> {
        Err(Box::new(
            Diagnostic::error(UNSUPPORTED, format!("this query contains {what}, which cannot be run yet"))
                .help("see the README for what this version runs"),
        ))
    }

    /// Begins the plan of an INSERT into `table`. Its nodes are named and numbered apart from those of other INSERTs,
    /// so that one more of those renames nothing: state is found again by these names.
    fn begin_insert(&mut self, table: &str) {
        let count = self.scopes.entry(table.to_owned()).or_default();
        *count += 1;
        self.scope = if *count == 1 { format!("{table}/") } else { format!("{table}#{count}/") };
        self.names.clear();
    }

    /// Adds a node; its name is `base` and a number.
    fn push(
        &mut self,
        base: &'static str,
        kind: NodeKind,
        inputs: Vec<(NodeId, Distribution)>,
        schema: SchemaRef,
    ) -> NodeId {
        let changelog = self.inputs_changelog(&inputs);
        let id = NodeId(self.plan.nodes.len());
        let count = self.names.entry(base).or_default();
        *count += 1;
        let (inputs, distribution): (Vec<_>, Vec<_>) = inputs.into_iter().unzip();
        let singleton = distribution.contains(&Distribution::Single);
        let uid = format!("{}{base}-{count}", self.scope);
        self.plan.nodes.push(StreamNode {
            id,
            uid,
            kind,
            inputs,
            schema,
            changelog,
            upsert_key: vec![],
            distribution,
            singleton,
        });
        id
    }

    /// Takes back the last node.
    fn pop(&mut self) {
        if let Some(node) = self.plan.nodes.pop()
            && let Some((base, _)) = node.uid[self.scope.len()..].rsplit_once('-')
            && let Some(count) = self.names.get_mut(base)
        {
            *count -= 1;
        }
    }

    fn inputs_changelog(&self, inputs: &[(NodeId, Distribution)]) -> ChangelogMode {
        let updating = inputs.iter().any(|(id, _)| !self.plan.node(*id).changelog.is_append());
        if updating { ChangelogMode::Retract } else { ChangelogMode::Append }
    }

    fn set_changelog(&mut self, node: NodeId, changelog: ChangelogMode, upsert_key: Vec<usize>) {
        let node = &mut self.plan.nodes[node.0];
        node.changelog = changelog;
        node.upsert_key = upsert_key;
    }

    fn schema_of(&self, node: NodeId) -> SchemaRef {
        Arc::clone(&self.plan.node(node).schema)
    }

    fn is_append(&self, relation: &Relation) -> bool {
        self.plan.node(relation.node).changelog.is_append()
    }

    fn binder(&self) -> QueryBinder<'a> {
        QueryBinder::new(self.catalog, self.settings, "")
    }

    /// DataFusion's error, as the first finding it holds.
    fn finding(&self, error: datafusion_common::DataFusionError) -> Box<Diagnostic> {
        let script = crate::bind::ScriptText::new(self.text);
        Box::new(diagnose(&error, &script).swap_remove(0))
    }

    /// Where the first column of `expr` stands in the script.
    fn span_of_expr(&self, expr: &Expr) -> Option<Span> {
        crate::bind::ScriptText::new(self.text).span_of_columns(expr)
    }

    fn union(&mut self, inputs: &[Arc<LogicalPlan>], schema: &DFSchemaRef) -> Lowered<Relation> {
        let mut relations = vec![];
        for input in inputs {
            let lowered = self.lower(input)?;
            // All inputs in the same layout and types.
            let columns: Vec<Expr> = lowered.schema.columns().into_iter().map(Expr::Column).collect();
            relations.push(self.calc_as(lowered, &columns, schema)?);
        }
        let edges = relations.iter().map(|r| (r.node, Distribution::Forward)).collect();
        let arrow_schema = Arc::new(schema.as_arrow().clone());
        let node = self.push("union", NodeKind::Union, edges, arrow_schema);
        let width = schema.fields().len();
        let attributes = (0..width).map(|i| Attribute::common(relations.iter().map(|r| &r.attributes[i]))).collect();
        Ok(Relation {
            node,
            columns: (0..width).collect(),
            attributes,
            schema: Arc::clone(schema),
            bounded: relations.iter().all(|r| r.bounded),
            updating_because: relations.into_iter().find_map(|r| r.updating_because),
        })
    }
}
