//! What a sink demands of the columns that it declares NOT NULL: `INSERT INTO t (id) …` writes `not_null(id, …)`.

use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef};
use datafusion_common::{Result, exec_err};
use datafusion_expr::{Expr, ScalarUDF, lit};

use super::call::Call;
use super::param::Param::{Any, Text};
use super::scalar::{Returns, ScalarFunction, takes};

const NAME: &str = "not_null";

static NOT_NULL: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
    ScalarFunction::new(NAME, takes(&[Any, Text, Text]), Returns::Argument(0), demand).not_null().into_udf()
});

/// `value`, which must not be NULL: it goes to `column` of `table`.
pub(crate) fn not_null(value: Expr, table: &str, column: &str) -> Expr {
    NOT_NULL.call(vec![value, lit(table), lit(column)])
}

/// The value that a call named `name` with `args` passes on, when it is one of this function.
pub(crate) fn passed_on<'a>(name: &str, args: &'a [Expr]) -> Option<&'a Expr> {
    args.first().filter(|_| name == NAME)
}

fn demand(call: &Call<'_>) -> Result<ArrayRef> {
    let (values, _) = call.raw(0);
    if values.is_empty() || (values.null_count() == 0 && !values.data_type().is_null()) {
        return call.full(0);
    }
    let (table, column) = (call.texts(1)?, call.texts(2)?);
    let name = |texts: super::call::Texts<'_>| texts.get(0).unwrap_or_default().to_string();
    exec_err!("column `{}` of table `{}` is NOT NULL, and there is a NULL for it", name(column), name(table))
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::DataType;
    use datafusion_common::ScalarValue;
    use datafusion_expr::lit;

    use super::not_null;
    use crate::functions::check::{check_error_of, check_value_of};

    #[test]
    fn a_null_is_an_error_that_names_the_column() {
        check_value_of(not_null(lit(1_i32), "t", "id"), "1", "INT");
        let null = ScalarValue::try_from(&DataType::Int32).unwrap();
        check_error_of(not_null(lit(null), "t", "id"), "column `id` of table `t` is NOT NULL");
    }
}
