//! `CAST(x AS VARCHAR(n))` cuts the text off, `CAST(x AS CHAR(n))` cuts it off or pads it with blanks: Arrow's text has
//! no length.

use sqlparser::ast::{DataType, Expr, Spanned, Value};
use tidemark_parser::ast::SqlTypeKind;

use crate::functions::syntax::call;

/// Rewrites one node, innermost first.
pub(super) fn rewrite_length(expr: &mut Expr) {
    let Expr::Cast { data_type, .. } = expr else { return };
    let (length, pads) = match tidemark_parser::sql_type_of(data_type) {
        Ok(SqlTypeKind::Varchar(Some(length))) => (length, false),
        Ok(SqlTypeKind::Char(length)) => (length.unwrap_or(1), true),
        _ => return,
    };
    *data_type = DataType::String(None);
    let span = expr.span();
    let cast = std::mem::replace(expr, Expr::Value(Value::Null.with_empty_span()));
    let value = |value: Value| Expr::Value(value.with_span(span));
    let length = value(Value::Number(length.to_string(), false));
    *expr = match pads {
        true => call("rpad", span, vec![cast, length, value(Value::SingleQuotedString(" ".into()))]),
        false => call("left", span, vec![cast, length]),
    };
}
