//! The functions a query may call, by Flink's names and with Flink's meaning.
//!
//! DataFusion's functions stand where their meaning is Flink's or where Flink has no such name; the rest is here,
//! one file a theme. Syntax that is no function call in the parsed tree is made one by [`syntax`].

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use datafusion_expr::{AggregateUDF, ScalarUDF, WindowUDF};

mod adapted;
pub mod aggregate;
mod borrowed;
mod call;
mod collection;
mod compiled;
mod conditional;
pub(crate) mod decimal;
mod encoding;
pub mod expr_planner;
mod hash;
mod json;
pub mod marker;
pub(crate) mod not_null;
mod numeric;
mod param;
mod regexp;
pub(crate) mod row;
mod scalar;
mod string;
pub mod syntax;
mod temporal;
mod temporal_format;

#[cfg(test)]
mod check;

/// The wall-clock time that a `TIMESTAMP_LTZ` shows in its zone, without the zone.
pub(crate) fn to_local_time(instant: datafusion_expr::Expr) -> datafusion_expr::Expr {
    datafusion_functions::datetime::to_local_time().call(vec![instant])
}

pub(crate) use syntax::FLOOR_TO;

/// A time rounded down to a unit, such as `MILLISECOND`.
pub(crate) fn floor_to(time: datafusion_expr::Expr, unit: &str) -> datafusion_expr::Expr {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> =
        LazyLock::new(|| FunctionRegistry::new("UTC").scalar(FLOOR_TO).expect("FLOOR is one of the functions"));
    FUNCTION.call(vec![time, datafusion_expr::lit(unit)])
}

/// All functions of a session, by lower-cased name. Cheap to clone.
#[derive(Clone, Debug)]
pub struct FunctionRegistry {
    functions: Arc<Functions>,
}

#[derive(Debug, Default)]
struct Functions {
    scalar: BTreeMap<String, Entry<ScalarUDF>>,
    aggregate: BTreeMap<String, Entry<AggregateUDF>>,
    window: BTreeMap<String, Entry<WindowUDF>>,
}

#[derive(Debug)]
struct Entry<F> {
    udf: Arc<F>,
    parameters: String,
}

/// A function as SHOW FUNCTIONS lists it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionInfo {
    /// Lower-cased name.
    pub name: String,
    /// What it takes its rows from.
    pub kind: FunctionKind,
    /// Such as `SPLIT_INDEX(STRING, STRING|BIGINT, BIGINT)`.
    pub signature: String,
}

/// Kinds of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FunctionKind {
    /// One value a row.
    Scalar,
    /// One value a group.
    Aggregate,
    /// One value a row, from the rows of its window.
    Window,
}

impl std::fmt::Display for FunctionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FunctionKind::Scalar => "scalar",
            FunctionKind::Aggregate => "aggregate",
            FunctionKind::Window => "window",
        })
    }
}

impl FunctionRegistry {
    /// The functions of a session whose time zone is `time_zone` (an IANA name or an offset such as `+08:00`).
    pub fn new(time_zone: &str) -> Self {
        let zone: Arc<str> = Arc::from(time_zone);
        let mut functions = Functions::default();
        let own = [
            collection::functions(),
            conditional::functions(),
            encoding::functions(),
            hash::functions(),
            json::functions(),
            numeric::functions(),
            regexp::functions(),
            string::functions(),
            temporal::functions(&zone),
        ];
        for function in own.into_iter().flatten() {
            let parameters = function.parameter_text();
            functions.add_scalar(function.into_udf(), parameters);
        }
        let adapted = [collection::adapted(), conditional::adapted(), marker::functions(&zone)];
        for (udf, parameters) in adapted.into_iter().flatten() {
            functions.add_scalar(udf, parameters);
        }
        // Last: Tidemark's functions go over DataFusion's of the same name.
        for (udf, parameters) in borrowed::functions() {
            functions.add_scalar(udf, parameters);
        }
        for (other, name) in borrowed::OTHER_NAMES {
            if let Some(entry) = functions.scalar.get(name) {
                let entry = Entry { udf: Arc::clone(&entry.udf), parameters: entry.parameters.clone() };
                functions.scalar.insert(other.to_string(), entry);
            }
        }
        for (udf, parameters) in aggregate::functions() {
            functions.aggregate.insert(udf.name().to_string(), Entry { udf, parameters });
        }
        for udf in datafusion_functions_window::all_default_window_functions() {
            let parameters = borrowed::parameter_text(&udf.signature().type_signature);
            functions.window.insert(udf.name().to_string(), Entry { udf, parameters });
        }
        FunctionRegistry { functions: Arc::new(functions) }
    }

    /// The scalar function of that lower-cased name.
    pub fn scalar(&self, lower_name: &str) -> Option<Arc<ScalarUDF>> {
        self.functions.scalar.get(lower_name).map(|entry| Arc::clone(&entry.udf))
    }

    /// The aggregate function of that lower-cased name.
    pub fn aggregate(&self, lower_name: &str) -> Option<Arc<AggregateUDF>> {
        // Resolved before execution: which keys a grouping set leaves out.
        if matches!(lower_name, "grouping" | "grouping_id") {
            return Some(datafusion_functions_aggregate::grouping::grouping_udaf());
        }
        self.functions.aggregate.get(lower_name).map(|entry| Arc::clone(&entry.udf))
    }

    /// The window function of that lower-cased name.
    pub fn window(&self, lower_name: &str) -> Option<Arc<WindowUDF>> {
        self.functions.window.get(lower_name).map(|entry| Arc::clone(&entry.udf))
    }

    /// All functions that a query may call, sorted by name: those that need OVER are not among them.
    pub fn names(&self) -> Vec<FunctionInfo> {
        let mut infos: Vec<FunctionInfo> = Vec::new();
        let mut add = |name: &str, kind, parameters: &str| {
            let signature = format!("{}({parameters})", name.to_uppercase());
            infos.push(FunctionInfo { name: name.to_string(), kind, signature });
        };
        let is_listed = |name: &str| !syntax::BEHIND_SYNTAX.contains(&name);
        for (name, entry) in self.functions.scalar.iter().filter(|(name, _)| is_listed(name)) {
            add(name, FunctionKind::Scalar, &entry.parameters);
        }
        for (name, parameters) in syntax::REWRITTEN {
            add(name, FunctionKind::Scalar, parameters);
        }
        for (name, entry) in &self.functions.aggregate {
            add(name, FunctionKind::Aggregate, &entry.parameters);
        }
        infos.sort();
        infos
    }
}

impl Functions {
    /// Unless there is a function of that name.
    fn add_scalar(&mut self, udf: Arc<ScalarUDF>, parameters: String) {
        self.scalar.entry(udf.name().to_string()).or_insert(Entry { udf, parameters });
    }
}

#[cfg(test)]
mod tests;
