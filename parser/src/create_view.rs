//! `CREATE [TEMPORARY] VIEW`

use crate::ast::CreateView;
use crate::cursor::{Cursor, Parsed};
use sqlparser::tokenizer::Token;

/// Reads what follows `CREATE [TEMPORARY] VIEW`.
pub(crate) fn create_view(cursor: &mut Cursor, temporary: bool) -> Parsed<CreateView> {
    let if_not_exists = cursor.eat("IF NOT EXISTS");
    let name = cursor.table_name()?;
    let mut columns = vec![];
    if cursor.at_token(&Token::LParen) {
        columns = cursor.parenthesised(|cursor| {
            let column = cursor.name("a column's name")?;
            cursor.comment()?;
            Ok(column)
        })?;
    }
    let comment = cursor.comment()?;
    cursor.expect("AS")?;
    let (query, query_span) = cursor.query()?;
    Ok(CreateView { temporary, if_not_exists, name, columns, comment, query, query_span })
}
