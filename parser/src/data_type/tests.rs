use super::{data_type_of, parse_type, sql_type_of};
use crate::ast::SqlTypeKind;
use crate::dialect::FlinkDialect;
use crate::lex::{Source, lex};
use crate::span::Span;
use crate::syntax_error::Complaint;
use expect_test::{Expect, expect};
use sqlparser::ast::{DataType, Expr};
use sqlparser::parser::Parser;

fn parse(text: &str) -> Result<SqlTypeKind, String> {
    let mut parser = Parser::new(&FlinkDialect).with_tokens_with_locations(lex(&Source::new(text)).tokens);
    let parsed = parse_type(&mut parser, &|_| Span::default()).map_err(|error| Complaint::of(&error).message)?;
    parser.expect_token(&sqlparser::tokenizer::Token::EOF).map_err(|error| Complaint::of(&error).message)?;
    Ok(parsed.kind)
}

/// Each type as it prints, which is its full form; and back again through `sqlparser`'s `DataType`.
fn check(types: &[&str], expected: Expect) {
    let lines: Vec<String> = types
        .iter()
        .map(|text| match parse(text) {
            Ok(kind) => {
                assert_eq!(parse(&kind.to_string()).as_ref(), Ok(&kind), "what prints must parse");
                assert_eq!(sql_type_of(&data_type_of(&kind)).as_ref(), Ok(&kind), "there and back");
                kind.to_string()
            }
            Err(message) => format!("error: {message}"),
        })
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn scalars_and_their_synonyms() {
    check(
        &[
            "boolean",
            "TINYINT",
            "SMALLINT",
            "INT",
            "INTEGER",
            "BIGINT",
            "FLOAT",
            "DOUBLE",
            "DOUBLE PRECISION",
            "DECIMAL",
            "DEC(5)",
            "NUMERIC(10, 2)",
            "DATE",
            "TIME",
            "TIME(3)",
            "TIME WITHOUT TIME ZONE",
        ],
        expect![[r#"
            BOOLEAN
            TINYINT
            SMALLINT
            INT
            INT
            BIGINT
            FLOAT
            DOUBLE
            DOUBLE
            DECIMAL
            DECIMAL(5)
            DECIMAL(10, 2)
            DATE
            TIME
            TIME(3)
            TIME"#]],
    );
}

#[test]
fn strings_and_bytes() {
    check(
        &[
            "CHAR",
            "CHAR(3)",
            "CHARACTER VARYING(5)",
            "VARCHAR",
            "VARCHAR(10)",
            "STRING",
            "BINARY(2)",
            "BINARY VARYING(2)",
            "VARBINARY(8)",
            "BYTES",
        ],
        expect![[r#"
            CHAR
            CHAR(3)
            VARCHAR(5)
            STRING
            VARCHAR(10)
            STRING
            BINARY(2)
            VARBINARY(2)
            VARBINARY(8)
            BYTES"#]],
    );
}

#[test]
fn timestamps_and_intervals() {
    check(
        &[
            "TIMESTAMP",
            "TIMESTAMP(3)",
            "TIMESTAMP(3) WITHOUT TIME ZONE",
            "TIMESTAMP_LTZ",
            "TIMESTAMP_LTZ(9)",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE",
            "INTERVAL YEAR",
            "INTERVAL YEAR(4) TO MONTH",
            "INTERVAL DAY TO SECOND(3)",
            "INTERVAL HOUR",
            "INTERVAL MONTH TO DAY",
        ],
        expect![[r#"
            TIMESTAMP
            TIMESTAMP(3)
            TIMESTAMP(3)
            TIMESTAMP_LTZ
            TIMESTAMP_LTZ(9)
            TIMESTAMP_LTZ(3)
            INTERVAL YEAR TO MONTH
            INTERVAL YEAR TO MONTH
            INTERVAL DAY TO SECOND
            INTERVAL DAY TO SECOND
            error: an interval counts either years and months, or days to seconds"#]],
    );
}

#[test]
fn nested_types() {
    check(
        &[
            "ARRAY<INT>",
            "INT ARRAY",
            "INT ARRAY ARRAY",
            "MAP<STRING, ARRAY<MAP<INT, BIGINT>>>",
            "MULTISET<STRING>",
            "STRING MULTISET",
            "ARRAY<INT NOT NULL>",
            "ROW<a INT, `b c` STRING NOT NULL 'comment'>",
            "ROW(a INT)",
            "ROW<INT, DOUBLE PRECISION, TIMESTAMP(3) WITH LOCAL TIME ZONE, INT ARRAY>",
            "ROW<array ARRAY<INT>, day INT>",
            "MULTISET<ROW<a ARRAY<INT>>>",
            "ROW<interval_ INTERVAL DAY, INTERVAL DAY>",
        ],
        expect![[r#"
            ARRAY<INT>
            ARRAY<INT>
            ARRAY<ARRAY<INT>>
            MAP<STRING, ARRAY<MAP<INT, BIGINT>>>
            MULTISET<STRING>
            MULTISET<STRING>
            ARRAY<INT>
            ROW<`a` INT, `b c` STRING NOT NULL>
            ROW<`a` INT>
            ROW<`f0` INT, `f1` DOUBLE, `f2` TIMESTAMP_LTZ(3), `f3` ARRAY<INT>>
            ROW<`array` ARRAY<INT>, `day` INT>
            MULTISET<ROW<`a` ARRAY<INT>>>
            ROW<`interval_` INTERVAL DAY TO SECOND, `f1` INTERVAL DAY TO SECOND>"#]],
    );
}

#[test]
fn what_is_no_type_is_said() {
    check(
        &[
            "TEXT",
            "VARCHAR(0)",
            "CHAR(99999999999)",
            "TIME(10)",
            "DECIMAL(39)",
            "DECIMAL(5, 6)",
            "DECIMAL()",
            "ROW<>",
            "MAP<INT>",
            "ARRAY",
            "`INT`",
            "INT INT",
            "TIMESTAMP WITH TIME ZONE",
            "'x'",
            "INT(11)",
        ],
        expect![[r#"
            error: unknown data type `TEXT`
            error: the length of VARCHAR must be between 1 and 2147483647, not 0
            error: the length of CHAR must be between 1 and 2147483647, not 99999999999
            error: the precision of TIME must be between 0 and 9, not 10
            error: the precision of DECIMAL must be between 1 and 38, not 39
            error: the scale of DECIMAL must be between 0 and 5, not 6
            error: expected a number, found `)`
            error: expected `<`, found `<>`
            error: expected `,`, found `>`
            error: expected `<`, found the end
            error: expected a data type, found ``INT``
            error: expected `EOF`, found `INT`
            error: TIMESTAMP WITH TIME ZONE is not supported
            error: expected a data type, found `'x'`
            error: expected `EOF`, found `(`"#]],
    );
}

#[test]
fn a_cast_means_what_a_column_means() {
    for text in [
        "STRING",
        "BYTES",
        "TIMESTAMP_LTZ(3)",
        "ROW<a INT NOT NULL, b ARRAY<STRING>>",
        "MULTISET<INT>",
        "DECIMAL(38, 18)",
    ] {
        let sql = format!("SELECT CAST(x AS {text}), TRY_CAST(x AS {text})");
        let script = crate::parse_script(&sql);
        let crate::ast::Statement::Query(query) = &script.statements[0].statement else { panic!("a query") };
        for item in &query.body.as_select().expect("a select").projection {
            let sqlparser::ast::SelectItem::UnnamedExpr(Expr::Cast { data_type, .. }) = item else { panic!("a cast") };
            assert_eq!(sql_type_of(data_type), parse(text), "{text}");
        }
    }
}

#[test]
fn sqlparsers_own_types_are_understood_when_they_are_ours() {
    assert_eq!(
        sql_type_of(&DataType::Timestamp(Some(3), sqlparser::ast::TimezoneInfo::None)),
        Ok(SqlTypeKind::Timestamp(Some(3)))
    );
    assert_eq!(sql_type_of(&DataType::Integer(None)), Ok(SqlTypeKind::Int));
    assert_eq!(sql_type_of(&DataType::Uuid), Err("unknown data type `UUID`".to_owned()));
    assert_eq!(sql_type_of(&DataType::Text), Err("unknown data type `TEXT`".to_owned()));
}
