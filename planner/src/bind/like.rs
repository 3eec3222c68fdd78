//! `LIKE` and `ILIKE` with Flink's escapes, said with arrow's.
//!
//! In Flink no character escapes unless `ESCAPE` names one; for arrow the backslash always does. A pattern that is
//! written in the query is rewritten once; that of a column has its backslashes doubled row by row.
//!
//! ```text
//! x LIKE 'a!%b\c' ESCAPE '!'   ->   x LIKE 'a\%b\\c'
//! x LIKE p                     ->   x LIKE REPLACE(p, '\', '\\')
//! ```

use sqlparser::ast::{
    Expr as SqlExpr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, ObjectNamePart, Value, ValueWithSpan,
};
use tidemark_parser::Diagnostic;

use super::text::ScriptText;
use crate::codes::{BAD_QUERY, UNSUPPORTED};

/// Rewrites `expr` if it is a LIKE or ILIKE. A finding says what is wrong with its pattern or escape character.
pub(super) fn rewrite_like(expr: &mut SqlExpr, script: &ScriptText) -> Option<Diagnostic> {
    let (pattern, escape) = match expr {
        SqlExpr::Like { pattern, escape_char, .. } | SqlExpr::ILike { pattern, escape_char, .. } => {
            (pattern, escape_char)
        }
        SqlExpr::SimilarTo { escape_char: Some(escape), .. } => {
            let d = Diagnostic::error(UNSUPPORTED, "SIMILAR TO with ESCAPE is not supported");
            return Some(d.at(script.span(escape.span)).help("use REGEXP for a pattern that needs escapes"));
        }
        _ => return None,
    };
    let escape_character = match escape.as_ref().map(|e| escape_character(e, script)).transpose() {
        Ok(character) => character,
        Err(finding) => return Some(*finding),
    };
    match pattern.as_mut() {
        SqlExpr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), span }) => {
            match escaped_by_backslash(text, escape_character) {
                Ok(rewritten) => *text = rewritten,
                Err(message) => return Some(Diagnostic::error(BAD_QUERY, message).at(script.span(*span))),
            }
        }
        SqlExpr::Value(ValueWithSpan { value: Value::Null, .. }) => {}
        other if escape_character.is_some() => {
            let d = Diagnostic::error(UNSUPPORTED, "ESCAPE needs a pattern that is a string literal");
            return Some(d.at(script.span_of(other)).help("write the pattern as a literal, or leave ESCAPE out"));
        }
        other => **pattern = with_doubled_backslashes(other.clone()),
    }
    *escape = None;
    None
}

fn escape_character(escape: &ValueWithSpan, script: &ScriptText) -> Result<char, Box<Diagnostic>> {
    if let Value::SingleQuotedString(text) = &escape.value {
        let mut characters = text.chars();
        if let (Some(character), None) = (characters.next(), characters.next()) {
            return Ok(character);
        }
    }
    let d = Diagnostic::error(BAD_QUERY, format!("ESCAPE takes a single character, not {}", escape.value));
    Err(Box::new(d.at(script.span(escape.span))))
}

/// A pattern whose escape character is `escape`, rewritten for the backslash. The error is a sentence.
fn escaped_by_backslash(pattern: &str, escape: Option<char>) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        let literal = if Some(c) == escape {
            match characters.next() {
                Some(next) if matches!(next, '%' | '_') || Some(next) == escape => next,
                _ => {
                    return Err(format!(
                        "in this pattern, the escape character {c} stands before neither %, _ nor {c}"
                    ));
                }
            }
        } else if matches!(c, '%' | '_') {
            out.push(c);
            continue;
        } else {
            c
        };
        if matches!(literal, '%' | '_' | '\\') {
            out.push('\\');
        }
        out.push(literal);
    }
    Ok(out)
}

fn with_doubled_backslashes(pattern: SqlExpr) -> SqlExpr {
    let text = |text: &str| SqlExpr::value(Value::SingleQuotedString(text.into()));
    let args = [pattern, text("\\"), text("\\\\")].map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)));
    SqlExpr::Function(Function {
        name: ObjectName(vec![ObjectNamePart::Identifier(Ident::new("REPLACE"))]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: args.into(),
            clauses: vec![],
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: vec![],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_backslashes() {
        let check = |pattern: &str, escape: Option<char>, expected: &str| {
            assert_eq!(escaped_by_backslash(pattern, escape).as_deref(), Ok(expected), "{pattern}");
        };
        check("a%_b", None, "a%_b");
        check("a\\%b", None, "a\\\\%b");
        check("a!%b!_!!\\", Some('!'), "a\\%b\\_!\\\\");
        check("a\\%\\\\", Some('\\'), "a\\%\\\\");
        check("50%%", Some('%'), "50\\%");
        for wrong in ["a!", "a!b", "!"] {
            assert!(escaped_by_backslash(wrong, Some('!')).is_err(), "{wrong}");
        }
    }
}
