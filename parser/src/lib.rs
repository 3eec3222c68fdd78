//! SQL text of the Flink dialect to statements with byte spans, and diagnostics that render with a caret.
//!
//! **Invariant:** this crate knows text only. It must not know catalogs, types' meaning, or plans:
//! whether `t` exists or `x + 1` makes sense is the planner's business.
//!
//! The path of a script: `lex` cuts the whole text into tokens once, so that every place is a place
//! in the script; `script` splits the tokens at the semicolons; for each statement the token pre-pass
//! (`lexical_check`, [`hint`]) judges and rewrites what `sqlparser` would accept in silence or not at all, and
//! one module per statement parses it over a `cursor`.
//!
//! ```
//! let script = tidemark_parser::parse_script("SELECT 1; SELECT 2");
//! assert_eq!(script.statements.len(), 2);
//! assert!(script.diagnostics.is_empty());
//! ```

pub mod ast;
pub mod code;
pub mod diagnostic;
pub mod hint;
pub mod match_recognize;
pub mod span;

mod create_table;
mod create_view;
mod cursor;
mod data_type;
mod dialect;
mod explain;
mod insert;
mod lex;
mod lexical_check;
mod query;
mod render;
mod script;
mod session;
mod statement;
mod suggest;
mod syntax_error;

pub use data_type::sql_type_of;
pub use diagnostic::{Diagnostic, Label, Severity};
pub use dialect::FlinkDialect;
pub use render::render;
pub use script::{Script, is_complete, parse_script};
pub use span::{LineIndex, Span};
pub use sqlparser;
pub use suggest::suggest;
