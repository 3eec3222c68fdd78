//! Statements to catalog entries and logical plans: names and types are resolved here.

mod coerce;
mod conditions;
pub mod ddl;
mod errors;
mod expr_planner;
mod group_window;
pub mod insert;
mod lengths;
mod like;
mod limits;
mod literals;
mod match_recognize;
mod output_names;
mod place;
pub mod query;
mod relation;
mod table_options;
mod text;
mod unknown_function;
mod window_tvf;

pub(crate) use errors::{Finding, diagnose};
pub(crate) use place::place_of;
pub(crate) use relation::CatalogTable;
pub(crate) use table_options::option_diagnostic;
pub(crate) use text::ScriptText;
