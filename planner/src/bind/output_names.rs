//! Names of a result's columns: an expression without a name is called by its text, and no two share one.

use sqlparser::ast::{
    Expr, GroupByExpr, Ident, Query, Select, SelectItem, SelectItemQualifiedWildcardKind as Qualified, SetExpr,
};

use super::text::ScriptText;

/// Names the unnamed columns of what `query` yields.
pub(crate) fn name_outputs(query: &mut Query, script: &ScriptText) {
    if let Some(select) = first_select(&mut query.body) {
        name_items(select, script);
    }
}

/// Spells out the columns that `*` and `t.*` stand for next to other columns, so that those of one name can be told
/// apart. `columns` plans a query and yields table and name of each of its columns.
pub(crate) fn expand_wildcard(query: &mut Query, columns: impl Fn(Query) -> Option<Vec<(Option<String>, String)>>) {
    let is_wildcard = |item: &SelectItem| match item {
        SelectItem::Wildcard(options) => options.to_string().is_empty(),
        SelectItem::QualifiedWildcard(Qualified::ObjectName(_), options) => options.to_string().is_empty(),
        _ => false,
    };
    let Some(select) = first_select(&mut query.body) else { return };
    if select.projection.len() < 2 || !select.projection.iter().any(is_wildcard) {
        return;
    }
    let items = std::mem::take(&mut select.projection);
    let mut expanded = vec![];
    for item in items {
        let named = is_wildcard(&item).then(|| columns(alone(query, item.clone()))).flatten();
        match named {
            Some(columns) => expanded.extend(columns.into_iter().map(column_item)),
            None => expanded.push(item),
        }
    }
    if let Some(select) = first_select(&mut query.body) {
        select.projection = expanded;
    }
}

/// `query` with `item` as all that it selects, and without what depends on the other items.
fn alone(query: &Query, item: SelectItem) -> Query {
    let mut query = Query { order_by: None, limit_clause: None, fetch: None, ..query.clone() };
    if let Some(select) = first_select(&mut query.body) {
        let plain = Select {
            projection: vec![item],
            distinct: None,
            group_by: GroupByExpr::Expressions(vec![], vec![]),
            having: None,
            qualify: None,
            ..select.clone()
        };
        query.body = Box::new(SetExpr::Select(Box::new(plain)));
    }
    query
}

fn column_item((table, name): (Option<String>, String)) -> SelectItem {
    let quoted = |name: &str| Ident::with_quote('`', name);
    SelectItem::UnnamedExpr(match table {
        Some(table) => Expr::CompoundIdentifier(vec![quoted(&table), quoted(&name)]),
        None => Expr::Identifier(quoted(&name)),
    })
}

/// The SELECT whose column names are the result's: the leftmost of a set operation.
fn first_select(body: &mut SetExpr) -> Option<&mut Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => first_select(&mut query.body),
        SetExpr::SetOperation { left, .. } => first_select(left),
        _ => None,
    }
}

fn name_items(select: &mut Select, script: &ScriptText) {
    let mut taken: Vec<String> = vec![];
    for item in &mut select.projection {
        let name = match item {
            SelectItem::ExprWithAlias { alias, .. } => alias.value.clone(),
            SelectItem::UnnamedExpr(Expr::Identifier(ident)) => ident.value.clone(),
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => {
                parts.last().map_or_else(String::new, |p| p.value.clone())
            }
            SelectItem::UnnamedExpr(expr) => source_text(expr, script),
            _ => continue,
        };
        let unique = unique_name(&name, &taken);
        let is_plain = matches!(item, SelectItem::UnnamedExpr(Expr::Identifier(_) | Expr::CompoundIdentifier(_)));
        match item {
            SelectItem::UnnamedExpr(expr) if unique != name || !is_plain => {
                *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::with_quote('`', &unique) };
            }
            SelectItem::ExprWithAlias { alias, .. } if unique != name => *alias = Ident::with_quote('`', &unique),
            _ => {}
        }
        taken.push(unique);
    }
}

/// The expression as it was written, on one line; as it prints where its place is not known.
fn source_text(expr: &Expr, script: &ScriptText) -> String {
    // `sqlparser` keeps no place for closing parentheses and keywords at an expression's end: the text that its span
    // covers is used only when it is the whole of it.
    let printed = expr.to_string();
    let written = script.span_of(expr).map_or("", |span| span.slice(script.text));
    let same = |a: &str, b: &str| {
        let strip = |t: &str| t.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_lowercase();
        strip(a) == strip(b)
    };
    if same(written, &printed) { written.split_whitespace().collect::<Vec<_>>().join(" ") } else { printed }
}

fn unique_name(name: &str, taken: &[String]) -> String {
    if !taken.iter().any(|t| t == name) {
        return name.to_string();
    }
    (0..).map(|n| format!("{name}{n}")).find(|n| !taken.contains(n)).expect("some number is free")
}
