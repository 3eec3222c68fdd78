//! What a column means for time. Attributes survive where a column is passed on unchanged, and nowhere else.

use datafusion_expr::Expr;

/// Time attribute or window bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Attribute {
    /// An ordinary column.
    #[default]
    None,
    /// Event time: the watermark speaks of it.
    Rowtime,
    /// Processing time.
    Proctime,
    /// `window_start`, aligned in this zone.
    WindowStart { zone: Option<String> },
    /// `window_end`.
    WindowEnd { zone: Option<String> },
}

impl Attribute {
    /// What an expression over columns with these attributes has: a column keeps its own, anything else none.
    pub fn of_expr(expr: &Expr, schema: &datafusion_common::DFSchema, attributes: &[Attribute]) -> Attribute {
        match expr {
            Expr::Column(column) => match schema.index_of_column(column) {
                Ok(index) => attributes[index].clone(),
                Err(_) => Attribute::None,
            },
            Expr::Alias(alias) => Self::of_expr(&alias.expr, schema, attributes),
            _ => Attribute::None,
        }
    }

    /// What all have in common.
    pub fn common<'a>(mut all: impl Iterator<Item = &'a Attribute>) -> Attribute {
        let Some(first) = all.next() else { return Attribute::None };
        if all.all(|a| a == first) { first.clone() } else { Attribute::None }
    }
}
