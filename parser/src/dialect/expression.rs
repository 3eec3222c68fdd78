//! Expressions that start with a word which `sqlparser` reads differently or not at all:
//! `CAST(x AS type)`, `MAP[k, v, …]`, `TABLE t [PARTITION BY k, …]`, and words that start no expression.
//!
//! It is also here that `sqlparser` is kept from reading `FLOOR(…)` and its like a second time, as an ordinary call,
//! after an error inside: nested, that takes time exponential in the depth.

use crate::data_type::{data_type_of, parse_type};
use crate::span::Span;
use sqlparser::ast::{
    CastKind, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, Map,
    MapEntry, ObjectName,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Word};

/// Reserved words that end the expression before them. `sqlparser` would take them for a column's name and complain
/// somewhere behind.
const NO_EXPRESSION: [Keyword; 20] = [
    Keyword::AND,
    Keyword::AS,
    Keyword::ELSE,
    Keyword::END,
    Keyword::EXCEPT,
    Keyword::FROM,
    Keyword::GROUP,
    Keyword::HAVING,
    Keyword::INTERSECT,
    Keyword::INTO,
    Keyword::JOIN,
    Keyword::LIMIT,
    Keyword::ON,
    Keyword::OR,
    Keyword::ORDER,
    Keyword::SELECT,
    Keyword::THEN,
    Keyword::UNION,
    Keyword::WHEN,
    Keyword::WHERE,
];

/// `left IS [NOT] DISTINCT FROM right`, of which `sqlparser` takes all that follows as the right side, `AND` included.
pub(super) fn parse_distinct_from(
    parser: &mut Parser,
    left: &Expr,
    precedence: u8,
) -> Option<Result<Expr, ParserError>> {
    let is_not = parser.parse_keywords(&[Keyword::IS, Keyword::NOT, Keyword::DISTINCT, Keyword::FROM]);
    if !is_not && !parser.parse_keywords(&[Keyword::IS, Keyword::DISTINCT, Keyword::FROM]) {
        return None;
    }
    let left = Box::new(left.clone());
    Some(parser.parse_subexpr(precedence).map(|right| match is_not {
        true => Expr::IsNotDistinctFrom(left, Box::new(right)),
        false => Expr::IsDistinctFrom(left, Box::new(right)),
    }))
}

/// The dialect's hook: `None` leaves the expression to `sqlparser`.
pub(super) fn parse_prefix(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    let Token::Word(Word { quote_style: None, keyword, value }) = &parser.peek_token_ref().token else { return None };
    let keyword = *keyword;
    if is_row_semantics(value) && matches!(parser.peek_tokens::<3>(), [_, Token::Word(_), Token::LParen]) {
        return Some(parse_row_semantics(parser));
    }
    match (keyword, &parser.peek_nth_token_ref(1).token) {
        (Keyword::CAST, Token::LParen) => Some(parse_cast(parser, CastKind::Cast)),
        (Keyword::TRY_CAST, Token::LParen) => Some(parse_cast(parser, CastKind::TryCast)),
        (Keyword::MAP, Token::LBracket) => Some(parse_map(parser)),
        (Keyword::TABLE, Token::Word(_)) => Some(parse_table_argument(parser)),
        (Keyword::ARRAY, Token::Lt) => {
            parser.advance_token();
            Some(parser.expected("`[`", parser.peek_token()))
        }
        (Keyword::CASE, _) => Some(after_word(parser, Parser::parse_case_expr)),
        (Keyword::INTERVAL, _) => Some(after_word(parser, Parser::parse_interval)),
        _ if NO_EXPRESSION.contains(&keyword) => Some(parser.expected("an expression", parser.peek_token())),
        (_, Token::LParen) => parse_special_call(parser, keyword),
        _ => None,
    }
}

/// RUNNING and FINAL before a call, in `MATCH_RECOGNIZE`.
fn is_row_semantics(word: &str) -> bool {
    word.eq_ignore_ascii_case("RUNNING") || word.eq_ignore_ascii_case("FINAL")
}

/// `RUNNING LAST(x)` becomes the call `RUNNING(LAST(x))`.
fn parse_row_semantics(parser: &mut Parser) -> Result<Expr, ParserError> {
    let word = parser.parse_identifier()?;
    let call = parser.parse_prefix()?;
    Ok(call_of(word, vec![call]))
}

/// Calls whose arguments are not a plain list.
fn parse_special_call(parser: &mut Parser, keyword: Keyword) -> Option<Result<Expr, ParserError>> {
    Some(match keyword {
        Keyword::CEIL => after_word(parser, |parser| parser.parse_ceil_floor_expr(true)),
        Keyword::FLOOR => after_word(parser, |parser| parser.parse_ceil_floor_expr(false)),
        Keyword::EXTRACT => after_word(parser, Parser::parse_extract_expr),
        Keyword::OVERLAY => after_word(parser, Parser::parse_overlay_expr),
        Keyword::TRIM => after_word(parser, Parser::parse_trim_expr),
        Keyword::EXISTS => after_word(parser, |parser| parser.parse_exists_expr(false)),
        Keyword::SUBSTR | Keyword::SUBSTRING => parser.parse_substring(),
        _ => return None,
    })
}

/// Skips the word that says what comes, and parses what comes.
fn after_word<'a>(
    parser: &mut Parser<'a>,
    parse: impl FnOnce(&mut Parser<'a>) -> Result<Expr, ParserError>,
) -> Result<Expr, ParserError> {
    parser.advance_token();
    parse(parser)
}

fn parse_cast(parser: &mut Parser, kind: CastKind) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let expr = Box::new(parser.parse_expr()?);
    parser.expect_keyword_is(Keyword::AS)?;
    // sqlparser's DataType has no place for spans.
    let data_type = data_type_of(&parse_type(parser, &|_| Span::default())?.kind);
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Cast { kind, expr, data_type, array: false, format: None })
}

fn parse_map(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LBracket)?;
    let mut entries = Vec::new();
    if !parser.consume_token(&Token::RBracket) {
        entries = parser.parse_comma_separated(|parser| {
            let key = Box::new(parser.parse_expr()?);
            parser.expect_token(&Token::Comma)?;
            Ok(MapEntry { key, value: Box::new(parser.parse_expr()?) })
        })?;
        parser.expect_token(&Token::RBracket)?;
    }
    Ok(Expr::Map(Map { entries }))
}

/// `TABLE a.b.c [PARTITION BY k, …]` becomes the call `TABLE(a.b.c, k, …)`.
fn parse_table_argument(parser: &mut Parser) -> Result<Expr, ParserError> {
    let keyword = parser.parse_identifier()?;
    let mut parts = vec![parser.parse_identifier()?];
    while parser.consume_token(&Token::Period) {
        parts.push(parser.parse_identifier()?);
    }
    let table = match <[_; 1]>::try_from(parts) {
        Ok([name]) => Expr::Identifier(name),
        Err(parts) => Expr::CompoundIdentifier(parts),
    };
    let mut args = vec![table];
    if parser.parse_keywords(&[Keyword::PARTITION, Keyword::BY]) {
        args.extend(parse_partition_keys(parser)?);
    }
    Ok(call_of(keyword, args))
}

fn call_of(name: Ident, args: Vec<Expr>) -> Expr {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![name]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: vec![] }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: vec![],
    })
}

/// `k, …` or `(k, …)`. Without parentheses the list ends where the next thing is not a lone name: the comma before it
/// separates the function's arguments.
fn parse_partition_keys(parser: &mut Parser) -> Result<Vec<Expr>, ParserError> {
    if parser.consume_token(&Token::LParen) {
        let keys = parser.parse_comma_separated(Parser::parse_identifier)?;
        parser.expect_token(&Token::RParen)?;
        return Ok(keys.into_iter().map(Expr::Identifier).collect());
    }
    let mut keys = vec![Expr::Identifier(parser.parse_identifier()?)];
    while let [Token::Comma, Token::Word(_), Token::Comma | Token::RParen] = parser.peek_tokens::<3>() {
        parser.advance_token();
        keys.push(Expr::Identifier(parser.parse_identifier()?));
    }
    Ok(keys)
}
