//! GROUP BY in pieces: keys, grouping sets, calls.

use std::sync::Arc;

use datafusion_common::DFSchemaRef;
use datafusion_expr::utils::grouping_set_to_exprlist;
use datafusion_expr::{Aggregate, Expr, GroupingSet as LogicalGroupingSet};

use crate::lower::{Lowered, Lowering};
use crate::stream_plan::GroupingSet;

/// A GROUP BY in pieces: what to group by, in which combinations, and what to compute.
pub(super) struct Grouping {
    pub keys: Vec<Expr>,
    pub sets: Vec<GroupingSet>,
    pub calls: Vec<Expr>,
    pub schema: DFSchemaRef,
}

impl Grouping {
    pub fn has_sets(&self) -> bool {
        !self.sets.is_empty()
    }
}

const MAX_CUBE_KEYS: usize = 12;

impl Lowering<'_> {
    pub(super) fn grouping(&self, aggregate: &Aggregate) -> Lowered<Grouping> {
        let keys = grouping_set_to_exprlist(&aggregate.group_expr).map_err(|e| self.finding(e))?;
        let keys: Vec<Expr> = keys.into_iter().cloned().collect();
        let sets: Vec<Vec<Expr>> = match aggregate.group_expr.as_slice() {
            [Expr::GroupingSet(LogicalGroupingSet::GroupingSets(sets))] => sets.clone(),
            [Expr::GroupingSet(LogicalGroupingSet::Rollup(exprs))] => {
                (0..=exprs.len()).rev().map(|n| exprs[..n].to_vec()).collect()
            }
            [Expr::GroupingSet(LogicalGroupingSet::Cube(exprs))] if exprs.len() <= MAX_CUBE_KEYS => {
                let pick = |mask: usize| {
                    exprs.iter().enumerate().filter(|(i, _)| mask & (1 << i) == 0).map(|(_, e)| e.clone()).collect()
                };
                (0..1usize << exprs.len()).map(pick).collect()
            }
            [Expr::GroupingSet(LogicalGroupingSet::Cube(_))] => {
                return self.unsupported("a CUBE of more than 12 columns");
            }
            _ => vec![],
        };
        let width = keys.len();
        let set_of = |set: &Vec<Expr>| {
            let present: Vec<bool> = keys.iter().map(|k| set.contains(k)).collect();
            let id = present.iter().enumerate().filter(|(_, p)| !**p).map(|(i, _)| 1u64 << (width - 1 - i)).sum();
            GroupingSet { present, id }
        };
        let sets: Vec<GroupingSet> = sets.iter().map(set_of).collect();
        let duplicate = sets.iter().enumerate().any(|(i, s)| sets[..i].contains(s));
        if duplicate {
            return self.unsupported("GROUPING SETS in which a set occurs twice");
        }
        Ok(Grouping { keys, sets, calls: aggregate.aggr_expr.clone(), schema: Arc::clone(&aggregate.schema) })
    }
}
