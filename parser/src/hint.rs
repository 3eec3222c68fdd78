//! Hints: `/*+ NAME(…), … */`.
//!
//! `sqlparser` drops comments, hints with them. So that no hint is ignored, each one is read here and then
//!
//! * behind `SELECT`: left where it is and found in [`Select::optimizer_hints`](sqlparser::ast::Select);
//! * behind a table's name in `FROM` or `JOIN`: found in [`TableFactor::Table::with_hints`](TableFactor), one
//!   [`Expr::Function`] a hint: `t /*+ OPTIONS('k' = 'v') */` gives `OPTIONS('k' = 'v')`, whose argument is the
//!   comparison of two strings. [`options_of`] reads it;
//! * behind the sink's name in `INSERT INTO`: found in [`Insert::options`](crate::ast::Insert);
//! * anywhere else: refused.
//!
//! The way of a table's hint: the comment becomes the tokens ``PARTITION (`$hint0`)``, which `sqlparser` accepts right
//! behind a table's name (before version, alias and all) and nowhere else in a query; when the tree is built, the hint
//! takes the place of its marker. A marker that `sqlparser` stumbles over, or that is left over, is a misplaced hint.

#[cfg(test)]
mod tests;

use crate::ast::{Name, OptionEntry};
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::dialect::FlinkDialect;
use crate::lex::Source;
use crate::span::LineIndex;
use crate::syntax_error::Complaint;
use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Query, TableFactor, Value,
    ValueWithSpan, VisitMut, VisitorMut,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span as TokenSpan, Token, TokenWithSpan, Tokenizer, Whitespace, Word};
use std::ops::ControlFlow;

const MARKER: &str = "$hint";

/// How many tokens stand in the place of a table's hint: ``PARTITION ( `$hint0` )``.
pub(crate) const MARKER_TOKENS: usize = 4;

/// The table hints of one statement.
#[derive(Debug, Default)]
pub(crate) struct Hints(Vec<Hint>);

#[derive(Debug)]
struct Hint {
    calls: Vec<Expr>,
    place: TokenSpan,
    is_honoured: bool,
}

impl Hints {
    /// Takes the hints out of a statement's tokens and leaves markers in the place of table hints.
    pub fn extract(source: &Source, tokens: Vec<TokenWithSpan>) -> (Vec<TokenWithSpan>, Hints, Vec<Diagnostic>) {
        let mut kept: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
        let (mut hints, mut findings) = (Hints::default(), vec![]);
        for token in tokens {
            let Token::Whitespace(Whitespace::MultiLineComment(comment)) = &token.token else {
                kept.push(token);
                continue;
            };
            let calls = match read_calls(source, comment, token.span) {
                Ok(calls) => calls,
                Err(finding) => {
                    findings.push(*finding);
                    continue;
                }
            };
            match kept.last().map(|previous| &previous.token) {
                Some(Token::Word(Word { keyword: Keyword::SELECT, .. })) => kept.push(token),
                Some(Token::Word(_)) => {
                    kept.extend(marker(hints.0.len(), token.span));
                    hints.0.push(Hint { calls, place: token.span, is_honoured: false });
                }
                _ => findings.push(misplaced(source, token.span)),
            }
        }
        (kept, hints, findings)
    }

    /// The calls of the hint that a marker stands for.
    pub fn take(&mut self, marker: &Ident) -> Option<Vec<Expr>> {
        let idx: usize = marker.value.strip_prefix(MARKER)?.parse().ok()?;
        let hint = self.0.get_mut(idx)?;
        hint.is_honoured = true;
        Some(std::mem::take(&mut hint.calls))
    }

    /// Moves the hints of a query's tables from their markers to `with_hints`.
    pub fn place_in(&mut self, query: &mut Query) {
        if !self.0.is_empty() {
            // The visitor never breaks off.
            let _ = query.visit(self);
        }
    }

    /// Says that the hint at this place stands where nothing honours it, if there is one.
    pub fn misplaced_at(&self, source: &Source, place: TokenSpan) -> Option<Diagnostic> {
        self.0.iter().any(|hint| hint.place == place).then(|| misplaced(source, place))
    }

    /// Hints that parsed but ended up nowhere.
    pub fn left_over(&self, source: &Source) -> Vec<Diagnostic> {
        self.0.iter().filter(|hint| !hint.is_honoured).map(|hint| misplaced(source, hint.place)).collect()
    }
}

impl VisitorMut for Hints {
    type Break = ();

    fn pre_visit_table_factor(&mut self, table_factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { partitions, with_hints, .. } = table_factor
            && let [marker] = partitions.as_slice()
            && let Some(calls) = self.take(marker)
        {
            partitions.clear();
            *with_hints = calls;
        }
        ControlFlow::Continue(())
    }
}

/// The entries of an `OPTIONS('key' = 'value', …)` hint, with their places in the text that `lines` indexes; `None`
/// when the hint has another name.
///
/// # Errors
/// A diagnostic when an argument is not `'key' = 'value'`.
pub fn options_of(hint: &Expr, lines: &LineIndex) -> Option<Result<Vec<OptionEntry>, Box<Diagnostic>>> {
    let Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) = hint else { return None };
    if !name.to_string().eq_ignore_ascii_case("OPTIONS") {
        return None;
    }
    let entries = list.args.iter().map(|arg| {
        option_entry(arg, lines).ok_or_else(|| {
            let place = sqlparser::ast::Spanned::span(hint);
            let message = format!("an option is 'key' = 'value', not {arg}");
            Box::new(Diagnostic::error(code::HINT, message).at(lines.span(place)))
        })
    });
    Some(entries.collect())
}

fn option_entry(arg: &FunctionArg, lines: &LineIndex) -> Option<OptionEntry> {
    let FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::BinaryOp { left, op: BinaryOperator::Eq, right })) = arg
    else {
        return None;
    };
    Some(OptionEntry { key: string_of(left, lines)?, value: string_of(right, lines)? })
}

fn string_of(expr: &Expr, lines: &LineIndex) -> Option<Name> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(value), span }) => {
            Some(Name { value: value.clone(), span: lines.span(*span)? })
        }
        _ => None,
    }
}

fn marker(idx: usize, place: TokenSpan) -> [TokenWithSpan; MARKER_TOKENS] {
    let name = Token::make_word(&format!("{MARKER}{idx}"), Some('`'));
    [Token::make_keyword("PARTITION"), Token::LParen, name, Token::RParen].map(|token| TokenWithSpan::new(token, place))
}

fn misplaced(source: &Source, place: TokenSpan) -> Diagnostic {
    Diagnostic::error(code::HINT, "a hint at this place has no effect")
        .at(source.span(place))
        .help("a hint stands right after a table's name, before its alias, or right after SELECT")
}

/// Reads `+ NAME(…), …`, the inside of a hint's comment.
fn read_calls(source: &Source, comment: &str, place: TokenSpan) -> Result<Vec<Expr>, Box<Diagnostic>> {
    let unreadable = |why: &str, at| {
        let message = format!("this hint cannot be read: {why}");
        let help = "a hint is one or more calls, as in /*+ OPTIONS('key' = 'value') */";
        Box::new(Diagnostic::error(code::HINT, message).at(source.span(at)).help(help))
    };
    let tokens = tokenise(comment.strip_prefix('+').unwrap_or(comment), place.start)
        .map_err(|error| unreadable(&Complaint::of(&error).message, place))?;
    let count = tokens.len();
    let mut parser = Parser::new(&FlinkDialect).with_tokens_with_locations(tokens);
    let calls = parser.parse_comma_separated(Parser::parse_expr).map_err(|error| {
        let complaint = Complaint::of(&error);
        let at = complaint.location.map_or(place, |start| TokenSpan::new(start, start));
        unreadable(&complaint.message, at)
    })?;
    if parser.index() < count {
        let token = parser.peek_token();
        return Err(unreadable(&format!("`{token}` is unexpected"), token.span));
    }
    match calls.iter().find(|call| !matches!(call, Expr::Function(_))) {
        Some(call) => Err(unreadable(&format!("`{call}` is not a call"), place)),
        None => Ok(calls),
    }
}

/// Tokens of a hint's inside, placed where they stand in the script: behind the three characters that open the comment.
fn tokenise(text: &str, comment_start: Location) -> Result<Vec<TokenWithSpan>, ParserError> {
    let shift = |location: Location| match location.line {
        1 => Location::new(comment_start.line, comment_start.column + 2 + location.column),
        line => Location::new(comment_start.line + line - 1, location.column),
    };
    let tokens = Tokenizer::new(&FlinkDialect, text).tokenize_with_location()?;
    let significant = tokens.into_iter().filter(|token| !matches!(token.token, Token::Whitespace(_)));
    Ok(significant
        .map(|TokenWithSpan { token, span }| TokenWithSpan::at(token, shift(span.start), shift(span.end)))
        .collect())
}
