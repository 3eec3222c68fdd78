//! SQL syntax that DataFusion's planner does not know, turned into function calls, one node of the parsed tree at
//! a time.
//!
//! ```text
//! FLOOR(ts TO HOUR)             ->  floor_to(ts, 'HOUR')
//! TIMESTAMPDIFF(DAY, a, b)      ->  TIMESTAMPDIFF('DAY', a, b)
//! EXTRACT(YEAR FROM ts)         ->  extract('YEAR', ts)
//! IF(c, a, b)                   ->  CASE WHEN c THEN a ELSE b END
//! ```
//!
//! **Invariant:** a new node has the span of the node it replaces, so that errors still point at the user's text.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, CeilFloorKind, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, Spanned, TrimWhereField, UnaryOperator, Value,
};
use sqlparser::tokenizer::Span;

pub(crate) const FLOOR_TO: &str = "floor_to";
pub(super) const CEIL_TO: &str = "ceil_to";
pub(super) const EXTRACT: &str = "extract";
pub(super) const SIMILAR_TO: &str = "similar_to";

/// Functions that syntax stands for: no names of Flink's, so SHOW FUNCTIONS does not list them.
pub(super) const BEHIND_SYNTAX: [&str; 4] = [FLOOR_TO, CEIL_TO, EXTRACT, SIMILAR_TO];

/// Functions that exist only as other syntax, with their parameters' text.
pub(super) const REWRITTEN: [(&str, &str); 3] =
    [("if", "BOOLEAN, ANY, ANY"), ("ifnull", "ANY, ANY"), ("mod", "NUMERIC, NUMERIC")];

/// Rewrites one node; call it for every expression, innermost first.
pub fn rewrite_expr(expr: &mut Expr) {
    let span = expr.span();
    let replaced = match expr {
        Expr::Floor { expr: inner, field: CeilFloorKind::DateTimeField(field) } => {
            to_unit(FLOOR_TO, inner, field, span)
        }
        Expr::Ceil { expr: inner, field: CeilFloorKind::DateTimeField(field) } => to_unit(CEIL_TO, inner, field, span),
        Expr::Extract { field, expr: inner, .. } => {
            Some(call(EXTRACT, span, vec![unit_literal(field, span), take(inner)]))
        }
        Expr::Position { expr: part, r#in: whole } => Some(call("position", span, vec![take(part), take(whole)])),
        Expr::Substring { expr: text, substring_from, substring_for, .. } => {
            let from = substring_from.as_mut().map_or_else(|| number("1", span), |e| take(e));
            let args = [take(text), from].into_iter().chain(substring_for.as_mut().map(|e| take(e)));
            Some(call("substring", span, args.collect()))
        }
        Expr::Overlay { expr: text, overlay_what, overlay_from, overlay_for } => {
            let args = [take(text), take(overlay_what), take(overlay_from)];
            let args = args.into_iter().chain(overlay_for.as_mut().map(|e| take(e)));
            Some(call("overlay", span, args.collect()))
        }
        Expr::Trim { expr: text, trim_where, trim_what, trim_characters } => {
            let name = match trim_where {
                None | Some(TrimWhereField::Both) => "btrim",
                Some(TrimWhereField::Leading) => "ltrim",
                Some(TrimWhereField::Trailing) => "rtrim",
            };
            let mut args = vec![take(text)];
            args.extend(trim_what.as_mut().map(|e| take(e)));
            args.extend(trim_characters.take().unwrap_or_default());
            Some(call(name, span, args))
        }
        Expr::SimilarTo { negated, expr: text, pattern, escape_char } => {
            let mut args = vec![take(text), take(pattern)];
            args.extend(escape_char.take().map(Expr::Value));
            let matched = call(SIMILAR_TO, span, args);
            Some(if *negated { Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(matched) } } else { matched })
        }
        Expr::Function(function) => rewrite_call(function, span),
        _ => None,
    };
    if let Some(replacement) = replaced {
        *expr = replacement;
    }
}

/// A call whose name stands for something else, or whose first argument is a unit.
fn rewrite_call(function: &mut Function, span: Span) -> Option<Expr> {
    let [part] = function.name.0.as_slice() else { return None };
    let name = part.as_ident()?.value.to_ascii_lowercase();
    match name.as_str() {
        "timestampadd" | "timestampdiff" => {
            let unit = expr_args(function)?.into_iter().next()?;
            if let Expr::Identifier(ident) = unit {
                *unit = text(&ident.value.to_ascii_uppercase(), ident.span);
            }
            None
        }
        "if" => {
            let [condition, then, otherwise] = take_args(function)?;
            Some(Expr::Case {
                case_token: AttachedToken::empty(),
                end_token: AttachedToken::empty(),
                operand: None,
                conditions: vec![CaseWhen { condition, result: then }],
                else_result: Some(Box::new(otherwise)),
            })
        }
        "ifnull" => take_args::<2>(function).map(|args| call("coalesce", span, flat(args.into()))),
        "coalesce" => {
            let args = expr_args(function)?.into_iter().map(take).collect();
            Some(call("coalesce", span, flat(args)))
        }
        "mod" => {
            let [dividend, divisor] = take_args(function)?;
            let (left, right) = (Box::new(Expr::Nested(Box::new(dividend))), Box::new(Expr::Nested(Box::new(divisor))));
            Some(Expr::Nested(Box::new(Expr::BinaryOp { left, op: BinaryOperator::Modulo, right })))
        }
        "array_slice" => {
            // Up to the last element.
            let [array, first] = take_args(function)?;
            Some(call("array_slice", span, vec![array, first, number("-1", span)]))
        }
        // DataFusion's takes the element first.
        "array_prepend" => {
            let [array, element] = take_args(function)?;
            Some(call("array_prepend", span, vec![element, array]))
        }
        "array_sort" => {
            order_words(function);
            None
        }
        // Without arguments it reads the clock, which only the lowering knows.
        "unix_timestamp" if expr_args(function)?.is_empty() => {
            Some(call("unix_timestamp", span, vec![call("now", span, vec![])]))
        }
        _ => None,
    }
}

/// The arguments of COALESCE with those of the COALESCEs among them in their place: the planner writes each but the
/// last twice, so that a nest of them would grow exponentially.
fn flat(args: Vec<Expr>) -> Vec<Expr> {
    let is_coalesce = |f: &Function| f.over.is_none() && f.name.to_string().eq_ignore_ascii_case("coalesce");
    let inner = |mut arg: Expr| {
        if let Expr::Function(f) = &mut arg
            && is_coalesce(f)
            && let Some(args) = expr_args(f).filter(|args| !args.is_empty())
        {
            return args.into_iter().map(take).collect();
        }
        vec![arg]
    };
    args.into_iter().flat_map(inner).collect()
}

/// ARRAY_SORT's `ascending` and `nulls first` as the words that DataFusion takes. NULLs are first in ascending order
/// and last in descending order unless the call says otherwise.
fn order_words(function: &mut Function) {
    let Some(args) = expr_args(function) else { return };
    let literal = |e: &Expr| match e {
        Expr::Value(value) => match value.value {
            Value::Boolean(flag) => Some(flag),
            _ => None,
        },
        _ => None,
    };
    let (span, ascending) = match args.get(1) {
        Some(e) => (e.span(), literal(e)),
        None => (Span::empty(), Some(true)),
    };
    let Some(ascending) = ascending else { return };
    let Some(nulls_first) = args.get(2).map_or(Some(ascending), |e| literal(e)) else { return };
    let words = [if ascending { "ASC" } else { "DESC" }, if nulls_first { "NULLS FIRST" } else { "NULLS LAST" }];
    let FunctionArguments::List(list) = &mut function.args else { return };
    list.args.truncate(1);
    list.args.extend(words.map(|word| FunctionArg::Unnamed(FunctionArgExpr::Expr(text(word, span)))));
}

/// `FLOOR(x TO unit)`; without a unit it is a function of numbers, which the planner knows.
fn to_unit(name: &str, inner: &mut Expr, field: &DateTimeField, span: Span) -> Option<Expr> {
    if *field == DateTimeField::NoDateTime {
        return None;
    }
    let unit = unit_literal(field, span);
    Some(call(name, span, vec![take(inner), unit]))
}

fn unit_literal(field: &DateTimeField, span: Span) -> Expr {
    text(&field.to_string().to_ascii_uppercase(), span)
}

fn text(value: &str, span: Span) -> Expr {
    Expr::Value(Value::SingleQuotedString(value.to_string()).with_span(span))
}

fn number(digits: &str, span: Span) -> Expr {
    Expr::Value(Value::Number(digits.to_string(), false).with_span(span))
}

/// Moves a node out of a tree that is about to be replaced.
fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::Value(Value::Null.with_empty_span()))
}

/// A call of the function `name`, which stands where `span` says.
pub(crate) fn call(name: &str, span: Span, args: Vec<Expr>) -> Expr {
    Expr::Function(Function {
        name: ObjectName::from(Ident::with_span(span, name)),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: args.into_iter().map(|e| FunctionArg::Unnamed(FunctionArgExpr::Expr(e))).collect(),
            clauses: vec![],
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: vec![],
    })
}

/// The positional arguments of a plain call; `None` if there is anything else in it.
fn expr_args(function: &mut Function) -> Option<Vec<&mut Expr>> {
    let FunctionArguments::List(list) = &mut function.args else { return None };
    list.args
        .iter_mut()
        .map(|arg| match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
            _ => None,
        })
        .collect()
}

/// Moves the arguments out if there are exactly `N`; a wrong number is left for the planner to refuse.
fn take_args<const N: usize>(function: &mut Function) -> Option<[Expr; N]> {
    let args: [&mut Expr; N] = expr_args(function)?.try_into().ok()?;
    Some(args.map(take))
}

#[cfg(test)]
mod tests;
