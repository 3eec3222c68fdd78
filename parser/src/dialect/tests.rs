use crate::ast::Statement;
use crate::parse_script;
use expect_test::{Expect, expect};
use sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, FunctionArguments, SelectItem, TableFactor};

fn check(text: &str, expected: Expect) {
    let script = parse_script(text);
    let mut lines: Vec<String> = script
        .statements
        .iter()
        .map(|parsed| match &parsed.statement {
            Statement::Query(query) => query.to_string(),
            other => panic!("a query, not {other:?}"),
        })
        .collect();
    lines.extend(script.diagnostics.iter().map(|d| format!("{} {}", d.code, d.message)));
    expected.assert_eq(&lines.join("\n"));
}

fn unnamed(arg: &FunctionArg) -> &Expr {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))
        | FunctionArg::Named { arg: FunctionArgExpr::Expr(expr), .. } => expr,
        other => panic!("an expression, not {other}"),
    }
}

#[test]
fn window_functions_with_and_without_table() {
    check(
        "SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) AS w;
         SELECT * FROM HOP(TABLE a.b.c, DESCRIPTOR(`ts`), INTERVAL '5' SECOND, INTERVAL '1' HOUR, INTERVAL '1' MINUTE);
         SELECT * FROM TABLE(CUMULATE(DATA => TABLE bid, TIMECOL => DESCRIPTOR(ts), STEP => INTERVAL '1' HOUR, SIZE => INTERVAL '1' DAY));
         SELECT * FROM SESSION(TABLE bid PARTITION BY a, b, DESCRIPTOR(ts), INTERVAL '5' MINUTE);
         SELECT * FROM SESSION(TABLE bid PARTITION BY (a, b), DESCRIPTOR(ts), INTERVAL '5' MINUTE);
         SELECT * FROM TUMBLE((SELECT * FROM bid), DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY window_start, window_end",
        expect![[r#"
            SELECT * FROM TABLE(TUMBLE(TABLE(bid), DESCRIPTOR(ts), INTERVAL '10' MINUTES)) AS w
            SELECT * FROM HOP(TABLE(a.b.c), DESCRIPTOR(`ts`), INTERVAL '5' SECOND, INTERVAL '1' HOUR, INTERVAL '1' MINUTE)
            SELECT * FROM TABLE(CUMULATE(DATA => TABLE(bid), TIMECOL => DESCRIPTOR(ts), STEP => INTERVAL '1' HOUR, SIZE => INTERVAL '1' DAY))
            SELECT * FROM SESSION(TABLE(bid, a, b), DESCRIPTOR(ts), INTERVAL '5' MINUTE)
            SELECT * FROM SESSION(TABLE(bid, a, b), DESCRIPTOR(ts), INTERVAL '5' MINUTE)
            SELECT * FROM TUMBLE((SELECT * FROM bid), DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY window_start, window_end"#]],
    );
}

#[test]
fn the_shape_of_a_table_argument() {
    let script = parse_script("SELECT * FROM f(TABLE t, TABLE a.b PARTITION BY k, (SELECT 1), DATA => TABLE u)");
    let Statement::Query(query) = &script.statements[0].statement else { panic!("a query") };
    let TableFactor::Table { args: Some(args), .. } = &query.body.as_select().expect("a select").from[0].relation
    else {
        panic!("a table function");
    };
    let inner = |idx: usize| match unnamed(&args.args[idx]) {
        Expr::Function(function) => {
            assert_eq!(function.name.to_string(), "TABLE");
            let FunctionArguments::List(list) = &function.args else { panic!("a list") };
            list.args.iter().map(|arg| unnamed(arg).clone()).collect::<Vec<_>>()
        }
        other => panic!("a call of TABLE, not {other}"),
    };
    assert!(matches!(inner(0).as_slice(), [Expr::Identifier(name)] if name.value == "t"));
    assert!(
        matches!(inner(1).as_slice(), [Expr::CompoundIdentifier(name), Expr::Identifier(key)] if name.len() == 2 && key.value == "k")
    );
    assert!(matches!(unnamed(&args.args[2]), Expr::Subquery(_)));
    assert!(matches!(inner(3).as_slice(), [Expr::Identifier(name)] if name.value == "u"));
}

#[test]
fn flink_expressions() {
    check(
        "SELECT MAP['a', 1, 'b', 2], MAP[], ARRAY[1, 2], ROW(1, 'x'), a['k'], b[1], r.f.g, (1, 2);
         SELECT CAST(x AS TIMESTAMP_LTZ(3)), CAST(x AS STRING), TRY_CAST(x AS BYTES), CAST(x AS ROW<a INT>), x != 1;
         SELECT TIMESTAMPDIFF(SECOND, a, b), TIMESTAMPADD(DAY, 1, a), FLOOR(a TO HOUR), CEIL(b), EXTRACT(DOW FROM a);
         SELECT DATE '2026-01-01', TIMESTAMP '2026-01-01 00:00:00', INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1' DAY * 2;
         SELECT COUNT(DISTINCT a) FILTER (WHERE b), SUM(a) OVER w, LISTAGG(a, ','), U&'\\00e9', X'ff'
           FROM t GROUP BY GROUPING SETS ((a), ()), CUBE (b), ROLLUP (c) WINDOW w AS (PARTITION BY a ORDER BY ts)",
        expect![[r#"
            SELECT MAP {'a': 1, 'b': 2}, MAP {}, ARRAY[1, 2], ROW(1, 'x'), a['k'], b[1], r.f.g, (1, 2)
            SELECT CAST(x AS TIMESTAMP_LTZ(3)), CAST(x AS STRING), TRY_CAST(x AS BYTES), CAST(x AS STRUCT<`a` INT>), x <> 1
            SELECT TIMESTAMPDIFF(SECOND, a, b), TIMESTAMPADD(DAY, 1, a), FLOOR(a TO HOUR), CEIL(b), EXTRACT(DOW FROM a)
            SELECT DATE '2026-01-01', TIMESTAMP '2026-01-01 00:00:00', INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1' DAY * 2
            SELECT COUNT(DISTINCT a) FILTER (WHERE b), SUM(a) OVER w, LISTAGG(a, ','), U&'\00E9', X'ff' FROM t GROUP BY GROUPING SETS ((a), ()), CUBE (b), ROLLUP (c) WINDOW w AS (PARTITION BY a ORDER BY ts)"#]],
    );
}

#[test]
fn interval_binds_tighter_than_what_follows_its_unit() {
    let script = parse_script("SELECT INTERVAL '1' DAY * 2");
    let Statement::Query(query) = &script.statements[0].statement else { panic!("a query") };
    let projection = &query.body.as_select().expect("a select").projection;
    assert!(matches!(projection.as_slice(), [SelectItem::UnnamedExpr(Expr::BinaryOp { .. })]));
}

#[test]
fn tables_of_all_sorts() {
    check(
        "SELECT * FROM (VALUES (1, 'a')) AS t(a, b), UNNEST(x) WITH ORDINALITY AS u(v, o), LATERAL TABLE(f(x)) AS l(c);
         SELECT * FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS r ON o.c = r.c LEFT JOIN LATERAL (SELECT 1) ON TRUE;
         SELECT * FROM (a) CROSS JOIN (b JOIN c USING (id));
         SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC) <= 3;
         SELECT a FROM t ORDER BY a LIMIT 5 OFFSET 2; SELECT a FROM t FETCH FIRST 3 ROWS ONLY;
         SELECT TUMBLE_START(ts, INTERVAL '1' HOUR) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
        expect![[r#"
            SELECT * FROM (VALUES (1, 'a')) AS t (a, b), UNNEST(x) WITH ORDINALITY AS u (v, o), LATERAL TABLE(f(x)) AS l (c)
            SELECT * FROM o JOIN r AS r FOR SYSTEM_TIME AS OF o.ts ON o.c = r.c LEFT JOIN LATERAL (SELECT 1) ON true
            SELECT * FROM a CROSS JOIN (b JOIN c USING(id))
            SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC) <= 3
            SELECT a FROM t ORDER BY a LIMIT 5 OFFSET 2
            SELECT a FROM t FETCH FIRST 3 ROWS ONLY
            SELECT TUMBLE_START(ts, INTERVAL '1' HOUR) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)"#]],
    );
}

#[test]
fn is_distinct_from_binds_tighter_than_and() {
    let script = parse_script("SELECT a IS NOT DISTINCT FROM b + 1 AND c IS DISTINCT FROM d OR e");
    let Statement::Query(query) = &script.statements[0].statement else { panic!("a query") };
    let SelectItem::UnnamedExpr(Expr::BinaryOp { left, right, .. }) =
        &query.body.as_select().expect("a select").projection[0]
    else {
        panic!("OR is the outermost operator");
    };
    assert_eq!(right.to_string(), "e");
    let Expr::BinaryOp { left, right, .. } = left.as_ref() else { panic!("AND comes next") };
    assert_eq!(
        (left.to_string(), right.to_string()),
        ("a IS NOT DISTINCT FROM b + 1".into(), "c IS DISTINCT FROM d".into())
    );
}
