//! Literals that DataFusion reads otherwise than Flink, or does not know.
//!
//! ```text
//! 1e3                                     ->  CAST('1e3' AS DOUBLE)
//! 9223372036854775808                     ->  CAST('9223372036854775808' AS DECIMAL(19, 0))
//! TIMESTAMP '2026-01-01 10:00:00.5'       ->  of precision 1
//! U&'\0041'                               ->  'A'
//! INTERVAL '1 02:03' DAY TO MINUTE        ->  INTERVAL '1 DAY 2 HOUR 3 MINUTE'
//! ```

mod interval;

use sqlparser::ast::{
    AccessExpr, CastKind, DataType as SqlDataType, ExactNumberInfo, Expr, Spanned, TimezoneInfo, UnaryOperator, Value,
    ValueWithSpan,
};
use tidemark_parser::Diagnostic;

use super::text::ScriptText;
use crate::codes::{BAD_QUERY, UNSUPPORTED};

const MOST_DIGITS: usize = 38;

/// Rewrites one node, innermost first; a literal that means nothing is a finding.
pub(super) fn rewrite_literal(expr: &mut Expr, script: &ScriptText) -> Option<Diagnostic> {
    match expr {
        Expr::Value(value) => match value_of(value) {
            Ok(Some(replacement)) => *expr = replacement,
            Ok(None) => {}
            Err(d) => return Some(d.at(script.span(value.span))),
        },
        // The smallest BIGINT: its digits alone are none.
        Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } => {
            if let Expr::Cast { expr: text, data_type: SqlDataType::Decimal(_), .. } = inner.as_ref()
                && let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(digits), span }) = text.as_ref()
                && format!("-{digits}").parse::<i64>().is_ok()
            {
                **inner = Expr::Value(Value::Number(digits.clone(), false).with_span(*span));
            }
        }
        Expr::TypedString(typed) => {
            if let SqlDataType::Timestamp(precision @ None, TimezoneInfo::None) = &mut typed.data_type
                && let Value::SingleQuotedString(text) = &typed.value.value
            {
                *precision = Some(text.rsplit_once('.').map_or(0, |(_, digits)| digits.len() as u64));
            }
        }
        Expr::Interval(literal) => {
            return interval::rewrite_interval(literal).err().map(|d| d.at(script.span(literal.value.span())));
        }
        Expr::Prefixed { prefix, .. } => {
            let message = format!("character sets of literals are not supported: `{}`", prefix.value);
            let d = Diagnostic::error(UNSUPPORTED, message).at(script.span(prefix.span));
            return Some(d.help("leave it out: all text is Unicode"));
        }
        // `r.field` of an element is a field.
        Expr::CompoundFieldAccess { access_chain, .. } => {
            for access in access_chain {
                if let AccessExpr::Dot(Expr::Identifier(field)) = access {
                    let name = Value::SingleQuotedString(field.value.clone()).with_span(field.span);
                    *access = AccessExpr::Dot(Expr::Value(name));
                }
            }
        }
        _ => {}
    }
    None
}

fn value_of(literal: &ValueWithSpan) -> Result<Option<Expr>, Diagnostic> {
    let text = |content: &str| Expr::Value(Value::SingleQuotedString(content.to_string()).with_span(literal.span));
    let cast = |digits: &str, data_type| Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(text(digits)),
        data_type,
        array: false,
        format: None,
    };
    match &literal.value {
        Value::Number(digits, _) if digits.contains(['e', 'E']) => {
            Ok(Some(cast(digits, SqlDataType::Double(ExactNumberInfo::None))))
        }
        Value::Number(digits, _) => {
            let count = digits.trim_start_matches('0').chars().filter(char::is_ascii_digit).count();
            if count > MOST_DIGITS {
                let d =
                    Diagnostic::error(BAD_QUERY, format!("the number has {count} digits, of {MOST_DIGITS} at most"));
                return Err(d.help("write it as a DOUBLE: 1.5e40"));
            }
            let is_wide = digits.chars().all(|c| c.is_ascii_digit()) && digits.parse::<i64>().is_err();
            let decimal = || SqlDataType::Decimal(ExactNumberInfo::PrecisionAndScale(count as u64, 0));
            Ok(is_wide.then(|| cast(digits, decimal())))
        }
        Value::UnicodeStringLiteral(content) | Value::NationalStringLiteral(content) => Ok(Some(text(content))),
        Value::SingleQuotedByteStringLiteral(_) | Value::DoubleQuotedByteStringLiteral(_) => {
            let d = Diagnostic::error(UNSUPPORTED, "there are no literals of this kind");
            Err(d.help("write bytes as hexadecimal digits: x'0aff'"))
        }
        _ => Ok(None),
    }
}
