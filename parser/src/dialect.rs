//! What `sqlparser` has to know about Flink's SQL.

mod expression;
#[cfg(test)]
mod tests;

use sqlparser::ast::Expr;
use sqlparser::dialect::{Dialect, GenericDialect, Precedence};
use sqlparser::keywords::{Keyword, RESERVED_FOR_COLUMN_ALIAS, RESERVED_FOR_TABLE_ALIAS};
use sqlparser::parser::{Parser, ParserError};
use std::any::TypeId;

/// Flink SQL for `sqlparser`: names in back quotes only, case kept, window functions' `TABLE t` and named arguments,
/// `FOR SYSTEM_TIME AS OF`, Flink's types in `CAST`, `MAP[…]`.
///
/// Used directly, without [`parse_script`](crate::parse_script), it accepts more than Flink does and drops table hints.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlinkDialect;

/// Words that start a statement: as an alias without AS they would hide a missing semicolon.
const STATEMENT_STARTS: [Keyword; 10] = [
    Keyword::ALTER,
    Keyword::BEGIN,
    Keyword::CREATE,
    Keyword::DESCRIBE,
    Keyword::DROP,
    Keyword::EXECUTE,
    Keyword::EXPLAIN,
    Keyword::INSERT,
    Keyword::RESET,
    Keyword::SHOW,
];

impl Dialect for FlinkDialect {
    /// `sqlparser` grants `UNNEST` and some more to a closed list of dialects, the generic one among them.
    fn dialect(&self) -> TypeId {
        TypeId::of::<GenericDialect>()
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`'
    }

    fn identifier_quote_style(&self, _identifier: &str) -> Option<char> {
        Some('`')
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        ch.is_alphabetic() || ch == '_'
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        ch.is_alphanumeric() || ch == '_' || ch == '$'
    }

    fn supports_unicode_string_literal(&self) -> bool {
        true
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_window_clause_named_window_reference(&self) -> bool {
        true
    }

    fn supports_window_function_null_treatment_arg(&self) -> bool {
        true
    }

    fn supports_group_by_expr(&self) -> bool {
        true
    }

    fn supports_match_recognize(&self) -> bool {
        true
    }

    fn supports_named_fn_args_with_rarrow_operator(&self) -> bool {
        true
    }

    fn supports_table_versioning(&self) -> bool {
        true
    }

    fn supports_comment_optimizer_hint(&self) -> bool {
        true
    }

    fn supports_parens_around_table_factor(&self) -> bool {
        true
    }

    fn require_interval_qualifier(&self) -> bool {
        true
    }

    fn is_column_alias(&self, keyword: &Keyword, _parser: &mut Parser) -> bool {
        !RESERVED_FOR_COLUMN_ALIAS.contains(keyword) && !STATEMENT_STARTS.contains(keyword)
    }

    fn is_table_alias(&self, keyword: &Keyword, _parser: &mut Parser) -> bool {
        !RESERVED_FOR_TABLE_ALIAS.contains(keyword) && !STATEMENT_STARTS.contains(keyword)
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        expression::parse_prefix(parser)
    }

    fn parse_infix(&self, parser: &mut Parser, expr: &Expr, _precedence: u8) -> Option<Result<Expr, ParserError>> {
        expression::parse_distinct_from(parser, expr, self.prec_value(Precedence::Is))
    }
}
