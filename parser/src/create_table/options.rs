//! `WITH ('key' = 'value', …)`

use crate::ast::{Name, OptionEntry, Text};
use crate::code;
use crate::cursor::{Cursor, Parsed};
use crate::diagnostic::Diagnostic;
use sqlparser::tokenizer::Token;

/// Reads what follows `WITH`. A key given twice is reported, and parsing goes on.
pub(super) fn options(cursor: &mut Cursor) -> Parsed<Vec<OptionEntry>> {
    let entries = cursor.parenthesised(|cursor| {
        let key = key(cursor)?;
        cursor.expect_token(&Token::Eq)?;
        Ok(OptionEntry { key, value: value(cursor)? })
    })?;
    for (idx, entry) in entries.iter().enumerate() {
        if let Some(first) = entries[..idx].iter().find(|first| first.key.value == entry.key.value) {
            let message = format!("option '{}' is given twice", entry.key.value);
            let finding = Diagnostic::error(code::DUPLICATE, message).at(entry.key.span);
            cursor.findings.push(finding.label(first.key.span, "the first one"));
        }
    }
    Ok(entries)
}

fn key(cursor: &mut Cursor) -> Parsed<Name> {
    let is_bare = matches!(cursor.peek(0), Some(Token::Word(_)));
    cursor.string("an option's key").map_err(|diagnostic| match is_bare {
        true => Box::new(diagnostic.help("option keys are strings, as in WITH ('connector' = 'filesystem')")),
        false => diagnostic,
    })
}

fn value(cursor: &mut Cursor) -> Parsed<Text> {
    let literal = match cursor.peek(0) {
        Some(Token::Number(..) | Token::Word(_)) => Some(cursor.span_here().slice(cursor.text())),
        _ => None,
    };
    cursor.string("an option's value").map_err(|diagnostic| match literal {
        Some(literal) => Box::new(diagnostic.help(format!("option values are strings: '{literal}'"))),
        None => diagnostic,
    })
}
