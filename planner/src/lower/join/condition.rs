//! The condition of a join, taken apart: pairs of keys, and what is left over.

use arrow::datatypes::DataType;
use datafusion_common::{DFSchema, DFSchemaRef, NullEquality, Result, plan_datafusion_err};
use datafusion_expr::type_coercion::binary::comparison_coercion;
use datafusion_expr::utils::split_conjunction_owned;
use datafusion_expr::{BinaryExpr, Cast, Expr, ExprSchemable, Join, Operator, lit};

use crate::lower::Relation;
use crate::lower::attribute::Attribute;

/// Expressions that must be equal: of the left input and of the right one.
pub(super) struct KeyPair {
    pub exprs: [Expr; 2],
    /// Is NULL equal to NULL?
    pub null_safe: bool,
    types: [DataType; 2],
}

impl KeyPair {
    /// What the key is for time on side `side`, whose relation is given.
    pub fn attribute_of(&self, side: usize, relation: &Relation) -> Attribute {
        Attribute::of_expr(&self.exprs[side], &relation.schema, &relation.attributes)
    }

    /// The same for both sides.
    pub fn attributes(&self, relations: &[Relation; 2]) -> [Attribute; 2] {
        [0, 1].map(|side| self.attribute_of(side, &relations[side]))
    }
}

/// A condition: all of it must be true.
pub(super) struct Condition {
    pub keys: Vec<KeyPair>,
    pub residual: Vec<Expr>,
}

impl Condition {
    /// The condition of `join`, whose inputs have these schemas; `swapped` when they have changed places.
    pub fn split(join: &Join, swapped: bool, schemas: [&DFSchemaRef; 2]) -> Result<Self> {
        let mut condition = Condition { keys: vec![], residual: vec![] };
        for (left, right) in &join.on {
            let (left, right) = if swapped { (right, left) } else { (left, right) };
            let null_safe = join.null_equality == NullEquality::NullEqualsNull;
            condition.add_key(left.clone(), right.clone(), null_safe, &schemas)?;
        }
        for expr in join.filter.iter().cloned().flat_map(split_conjunction_owned) {
            match as_pair(&expr, &schemas) {
                Some((left, right, null_safe)) => condition.add_key(left, right, null_safe, &schemas)?,
                None if expr == lit(true) => {}
                None => condition.residual.push(expr),
            }
        }
        Ok(condition)
    }

    fn add_key(&mut self, left: Expr, right: Expr, null_safe: bool, schemas: &[&DFSchemaRef; 2]) -> Result<()> {
        let types = [left.get_type(schemas[0])?, right.get_type(schemas[1])?];
        self.keys.push(KeyPair { exprs: [left, right], null_safe, types });
        Ok(())
    }

    /// Every expression of it.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.keys.iter().flat_map(|k| &k.exprs).chain(&self.residual)
    }

    /// The keys, each pair made of one type: values of different types would not hash alike.
    pub fn typed_keys(&self) -> Result<Vec<(Expr, Expr)>> {
        let typed = |key: &KeyPair| {
            let [left, right] = key.exprs.clone();
            let [left_type, right_type] = &key.types;
            if left_type == right_type {
                return Ok((left, right));
            }
            let common = comparison_coercion(left_type, right_type)
                .ok_or_else(|| plan_datafusion_err!("a join cannot compare {left_type} with {right_type}"))?;
            let cast = |expr: Expr, own: &DataType| match *own == common {
                true => expr,
                false => Expr::Cast(Cast::new(Box::new(expr), common.clone())),
            };
            Ok((cast(left, left_type), cast(right, right_type)))
        };
        self.keys.iter().map(typed).collect()
    }

    /// Instead of the single comparison: `(x = y) IS NOT FALSE`, which every pair of rows is asked.
    pub fn compare_with_nulls(&mut self) {
        let comparisons = self.keys.drain(..).map(|key| {
            let [left, right] = key.exprs;
            left.eq(right)
        });
        let comparisons: Vec<Expr> = comparisons.chain(std::mem::take(&mut self.residual)).collect();
        self.residual = comparisons.into_iter().map(|c| Expr::IsNotFalse(Box::new(c))).collect();
    }
}

/// `left = right` or `left IS NOT DISTINCT FROM right`, each side over one input only.
fn as_pair(expr: &Expr, schemas: &[&DFSchemaRef; 2]) -> Option<(Expr, Expr, bool)> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else { return None };
    let null_safe = match op {
        Operator::Eq => false,
        Operator::IsNotDistinctFrom => true,
        _ => return None,
    };
    if reads_only(left, schemas[0]) && reads_only(right, schemas[1]) {
        return Some((left.as_ref().clone(), right.as_ref().clone(), null_safe));
    }
    let crossed = reads_only(left, schemas[1]) && reads_only(right, schemas[0]);
    crossed.then(|| (right.as_ref().clone(), left.as_ref().clone(), null_safe))
}

/// Does it read some column, and only of this schema?
fn reads_only(expr: &Expr, schema: &DFSchema) -> bool {
    let columns = expr.column_refs();
    !columns.is_empty() && !expr.is_volatile() && columns.into_iter().all(|c| schema.is_column_from_schema(c))
}
