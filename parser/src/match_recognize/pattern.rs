//! `PATTERN ( … )`
//!
//! ```text
//! alternation := concatenation ('|' concatenation)*
//! concatenation := (primary quantifier?)+
//! primary := variable | '^' | '$' | '(' ')' | '(' alternation ')' | '{-' alternation '-}' | PERMUTE '(' alternation, … ')'
//! ```

use super::Pattern;
use crate::code;
use crate::cursor::{Cursor, Parsed};
use crate::diagnostic::Diagnostic;
use sqlparser::tokenizer::Token;

/// Reads `( … )` behind PATTERN.
pub(super) fn pattern(cursor: &mut Cursor) -> Parsed<Pattern> {
    cursor.expect_token(&Token::LParen)?;
    group(cursor)
}

/// What stands behind an open parenthesis, up to and with the one that closes it.
fn group(cursor: &mut Cursor) -> Parsed<Pattern> {
    if cursor.eat_token(&Token::RParen) {
        return Ok(Pattern::Empty);
    }
    let inner = alternation(cursor)?;
    if !cursor.eat_token(&Token::RParen) {
        return Err(cursor.unexpected("a pattern variable, a quantifier, `|` or `)`"));
    }
    Ok(inner)
}

fn alternation(cursor: &mut Cursor) -> Parsed<Pattern> {
    let mut branches = vec![concatenation(cursor)?];
    while cursor.eat_token(&Token::Pipe) {
        branches.push(concatenation(cursor)?);
    }
    Ok(if branches.len() == 1 { branches.swap_remove(0) } else { Pattern::Alternation(branches) })
}

fn concatenation(cursor: &mut Cursor) -> Parsed<Pattern> {
    let mut parts = vec![quantified(cursor)?];
    while starts_primary(cursor) {
        parts.push(quantified(cursor)?);
    }
    Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Pattern::Concat(parts) })
}

fn starts_primary(cursor: &Cursor) -> bool {
    match cursor.peek(0) {
        Some(Token::Word(_) | Token::LParen | Token::LBrace | Token::Caret) => true,
        Some(token) => is_dollar(token),
        None => false,
    }
}

fn is_dollar(token: &Token) -> bool {
    matches!(token, Token::Placeholder(text) if text == "$")
}

fn primary(cursor: &mut Cursor) -> Parsed<Pattern> {
    let expected = "a pattern variable, `(`, `{-`, `^` or `$`";
    if cursor.at("PERMUTE") && cursor.peek(1) == Some(&Token::LParen) {
        cursor.expect("PERMUTE")?;
        return Ok(Pattern::Permute(cursor.parenthesised(alternation)?));
    }
    match cursor.peek(0) {
        Some(Token::Word(_)) => match cursor.parser().parse_identifier() {
            Ok(variable) => Ok(Pattern::Variable(variable)),
            Err(error) => Err(cursor.diagnose(&error)),
        },
        Some(Token::LParen) => {
            cursor.expect_token(&Token::LParen)?;
            group(cursor)
        }
        Some(Token::LBrace) => {
            cursor.expect_token(&Token::LBrace)?;
            cursor.expect_token(&Token::Minus)?;
            let inner = alternation(cursor)?;
            if cursor.peek(0) != Some(&Token::Minus) || cursor.peek(1) != Some(&Token::RBrace) {
                return Err(cursor.unexpected("`-}`"));
            }
            cursor.advance_to(cursor.mark() + 2);
            Ok(Pattern::Exclude(Box::new(inner)))
        }
        Some(Token::Caret) => {
            cursor.expect_token(&Token::Caret)?;
            Ok(Pattern::Start)
        }
        Some(token) if is_dollar(token) => {
            cursor.advance_to(cursor.mark() + 1);
            Ok(Pattern::End)
        }
        _ => Err(cursor.unexpected(expected)),
    }
}

fn quantified(cursor: &mut Cursor) -> Parsed<Pattern> {
    let inner = primary(cursor)?;
    let start = cursor.mark();
    let Some((min, max)) = quantifier(cursor)? else { return Ok(inner) };
    let reluctant = eat_question(cursor);
    if at_quantifier(cursor) {
        let diagnostic = Diagnostic::error(code::SYNTAX, "a part of a pattern takes one quantifier");
        let diagnostic = diagnostic.at(cursor.span_at(start).to(cursor.span_here()));
        return Err(Box::new(diagnostic.help("put the part in parentheses: (A+){2}")));
    }
    Ok(Pattern::Repeat { pattern: Box::new(inner), min, max, reluctant })
}

fn at_quantifier(cursor: &Cursor) -> bool {
    match cursor.peek(0) {
        Some(Token::Mul | Token::Plus) => true,
        Some(Token::LBrace) => cursor.peek(1) != Some(&Token::Minus),
        Some(token) => is_question(token),
        None => false,
    }
}

fn is_question(token: &Token) -> bool {
    matches!(token, Token::Placeholder(text) if text == "?")
}

fn eat_question(cursor: &mut Cursor) -> bool {
    let is_next = cursor.peek(0).is_some_and(is_question);
    if is_next {
        cursor.advance_to(cursor.mark() + 1);
    }
    is_next
}

/// The bounds of a quantifier, if one stands here.
fn quantifier(cursor: &mut Cursor) -> Parsed<Option<(u32, Option<u32>)>> {
    if !at_quantifier(cursor) {
        return Ok(None);
    }
    if eat_question(cursor) {
        return Ok(Some((0, Some(1))));
    }
    if cursor.eat_token(&Token::Mul) {
        return Ok(Some((0, None)));
    }
    if cursor.eat_token(&Token::Plus) {
        return Ok(Some((1, None)));
    }
    let start = cursor.mark();
    cursor.expect_token(&Token::LBrace)?;
    let min = bound(cursor)?;
    let is_exact = !cursor.at_token(&Token::Comma);
    let (min, max) = match (min, cursor.eat_token(&Token::Comma)) {
        (Some(min), false) => (min, Some(min)),
        (min, true) => (min.unwrap_or(0), bound(cursor)?),
        (None, false) => return Err(cursor.unexpected("a number or `,`")),
    };
    cursor.expect_token(&Token::RBrace)?;
    let wrong = |message: String| Err(Box::new(Diagnostic::error(code::SYNTAX, message).at(cursor.span_since(start))));
    match max {
        Some(max) if max < min => {
            wrong(format!("the bounds of this quantifier are the wrong way round: {min} > {max}"))
        }
        Some(0) if !is_exact => wrong("the upper bound of a quantifier is at least 1".into()),
        max => Ok(Some((min, max))),
    }
}

fn bound(cursor: &mut Cursor) -> Parsed<Option<u32>> {
    let Some(Token::Number(digits, _)) = cursor.peek(0) else { return Ok(None) };
    let Ok(bound) = digits.parse() else {
        let message = format!("the bound of a quantifier is a whole number up to {}", u32::MAX);
        return Err(Box::new(Diagnostic::error(code::SYNTAX, message).at(cursor.span_here())));
    };
    cursor.advance_to(cursor.mark() + 1);
    Ok(Some(bound))
}
