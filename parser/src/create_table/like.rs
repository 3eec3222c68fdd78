//! `LIKE source [(INCLUDING|EXCLUDING|OVERWRITING what …)]`

use crate::ast::{LikeAction, LikeClause, LikeFeature, LikeRule};
use crate::cursor::{Cursor, Parsed};
use sqlparser::tokenizer::Token;

const ACTIONS: [&str; 3] = ["INCLUDING", "EXCLUDING", "OVERWRITING"];
const FEATURES: [&str; 7] = ["ALL", "CONSTRAINTS", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS"];

/// Reads what follows `LIKE`.
pub(super) fn like(cursor: &mut Cursor) -> Parsed<LikeClause> {
    let source = cursor.table_name()?;
    let mut rules = vec![];
    if cursor.eat_token(&Token::LParen) {
        while !cursor.eat_token(&Token::RParen) {
            rules.push(LikeRule { action: action(cursor)?, feature: feature(cursor)? });
        }
    }
    Ok(LikeClause { source, rules })
}

fn action(cursor: &mut Cursor) -> Parsed<LikeAction> {
    Ok(match ACTIONS.iter().position(|word| cursor.eat(word)) {
        Some(0) => LikeAction::Including,
        Some(1) => LikeAction::Excluding,
        Some(_) => LikeAction::Overwriting,
        None => return Err(cursor.unexpected_word(&ACTIONS)),
    })
}

fn feature(cursor: &mut Cursor) -> Parsed<LikeFeature> {
    Ok(match FEATURES.iter().position(|word| cursor.eat(word)) {
        Some(0) => LikeFeature::All,
        Some(1) => LikeFeature::Constraints,
        Some(2) => LikeFeature::Generated,
        Some(3) => LikeFeature::Metadata,
        Some(4) => LikeFeature::Options,
        Some(5) => LikeFeature::Partitions,
        Some(_) => LikeFeature::Watermarks,
        None => return Err(cursor.unexpected_word(&FEATURES)),
    })
}
