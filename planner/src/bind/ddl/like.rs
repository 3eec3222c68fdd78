//! `CREATE TABLE … LIKE source (…)`.

use tidemark_parser::Diagnostic;
use tidemark_parser::ast::{CreateTable, LikeAction, LikeFeature};

use super::unknown_relation;
use crate::catalog::options::Options;
use crate::catalog::table::{ColumnKind, TableDef};
use crate::catalog::{Catalog, Relation};
use crate::codes::BAD_DEFINITION;

/// The parts of the `LIKE` source that its rules let through.
pub(super) fn inherit(catalog: &Catalog, statement: &CreateTable) -> Result<Option<TableDef>, Vec<Diagnostic>> {
    let Some(like) = &statement.like else { return Ok(None) };
    let source = match catalog.relation(&like.source.display()) {
        Some(Relation::Table(table)) => table,
        Some(Relation::View(_)) => {
            let d =
                Diagnostic::error(BAD_DEFINITION, format!("`{}` is a view: LIKE copies tables", like.source.display()));
            return Err(vec![d.at(like.source.span)]);
        }
        None => return Err(vec![unknown_relation(catalog, &like.source.display(), like.source.span)]),
    };
    let mut copy = (**source).clone();
    let mut excluded = vec![];
    for rule in &like.rules {
        match rule.action {
            LikeAction::Excluding => excluded.push(rule.feature),
            LikeAction::Including | LikeAction::Overwriting => excluded.retain(|f| *f != rule.feature),
        }
    }
    let drops = |feature| excluded.contains(&feature) || excluded.contains(&LikeFeature::All);
    if drops(LikeFeature::Options) {
        copy.options = Options::default();
    }
    if drops(LikeFeature::Constraints) || statement.primary_key.is_some() {
        copy.primary_key.clear();
    }
    if drops(LikeFeature::Watermarks) || !statement.watermarks.is_empty() {
        copy.watermark = None;
    }
    copy.columns.retain(|c| match c.kind {
        ColumnKind::Physical => true,
        ColumnKind::Computed { .. } => !drops(LikeFeature::Generated),
        ColumnKind::Metadata { .. } => !drops(LikeFeature::Metadata),
    });
    Ok(Some(copy))
}
