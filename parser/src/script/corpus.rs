//! What wrong scripts look like to the person who wrote them.
//!
//! Every text was read and judged: does it name the place, say what is wrong in the words of SQL, and help?

use crate::{parse_script, render};
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let diagnostics = parse_script(text).diagnostics;
    expected.assert_eq(&render(&diagnostics, "q.sql", text, false));
}

#[test]
fn misspelt_statement() {
    check(
        "SELCT 1;
SELECT 2;
INSRT INTO t SELECT 1",
        expect![[r#"
            error[TM1006]: no statement starts with `SELCT`
             --> q.sql:1:1
              |
            1 | SELCT 1;
              | ^^^^^
              |
              = help: did you mean `SELECT`?

            error[TM1006]: no statement starts with `INSRT`
             --> q.sql:3:1
              |
            3 | INSRT INTO t SELECT 1
              | ^^^^^
              |
              = help: did you mean `INSERT`?
        "#]],
    );
}

#[test]
fn misspelt_clause() {
    check(
        "SELECT a FROM t WHER a = 1;
SELECT a FORM t;
SELECT a FROM t GRUOP BY a",
        expect![[r#"
            error[TM1001]: expected the end of the statement, found `a`
             --> q.sql:1:22
              |
            1 | SELECT a FROM t WHER a = 1;
              |                      ^
              |
              = help: did you mean `WHERE` instead of `WHER`?

            error[TM1001]: expected the end of the statement, found `t`
             --> q.sql:2:15
              |
            2 | SELECT a FORM t;
              |               ^
              |
              = help: did you mean `FROM` instead of `FORM`?

            error[TM1001]: expected the end of the statement, found `BY`
             --> q.sql:3:23
              |
            3 | SELECT a FROM t GRUOP BY a
              |                       ^^
              |
              = help: did you mean `GROUP` instead of `GRUOP`?
        "#]],
    );
}

#[test]
fn missing_expression() {
    check(
        "SELECT FROM t;
SELECT a FROM t WHERE;
SELECT a + FROM t;
SELECT a FROM t WHERE AND b",
        expect![[r#"
            error[TM1001]: expected an expression, found `FROM`
             --> q.sql:1:8
              |
            1 | SELECT FROM t;
              |        ^^^^

            error[TM1001]: expected an expression, found the end of the statement
             --> q.sql:2:22
              |
            2 | SELECT a FROM t WHERE;
              |                      ^

            error[TM1001]: expected an expression, found `FROM`
             --> q.sql:3:12
              |
            3 | SELECT a + FROM t;
              |            ^^^^

            error[TM1001]: expected an expression, found `AND`
             --> q.sql:4:23
              |
            4 | SELECT a FROM t WHERE AND b
              |                       ^^^
        "#]],
    );
}

#[test]
fn missing_table() {
    check(
        "SELECT a FROM WHERE a = 1;
SELECT a FROM t JOIN ON t.a = u.a;
SELECT a FROM",
        expect![[r#"
            error[TM1001]: the table's name is missing after FROM
             --> q.sql:1:10
              |
            1 | SELECT a FROM WHERE a = 1;
              |          ^^^^
              |
              = help: name a table here, or put a query in parentheses

            error[TM1001]: the table's name is missing after JOIN
             --> q.sql:2:17
              |
            2 | SELECT a FROM t JOIN ON t.a = u.a;
              |                 ^^^^
              |
              = help: name a table here, or put a query in parentheses

            error[TM1001]: the table's name is missing after FROM
             --> q.sql:3:10
              |
            3 | SELECT a FROM
              |          ^^^^
              |
              = help: name a table here, or put a query in parentheses
        "#]],
    );
}

#[test]
fn trailing_commas() {
    check(
        "SELECT a, FROM t;
SELECT a FROM t GROUP BY a, HAVING a > 1;
CREATE TABLE t (a INT,) WITH ('connector' = 'print',);
SELECT f(a,) FROM t",
        expect![[r#"
            error[TM1001]: trailing comma
             --> q.sql:1:9
              |
            1 | SELECT a, FROM t;
              |         ^
              |
              = help: remove this comma, or add what should follow it

            error[TM1001]: trailing comma
             --> q.sql:2:27
              |
            2 | SELECT a FROM t GROUP BY a, HAVING a > 1;
              |                           ^
              |
              = help: remove this comma, or add what should follow it

            error[TM1001]: trailing comma
             --> q.sql:3:22
              |
            3 | CREATE TABLE t (a INT,) WITH ('connector' = 'print',);
              |                      ^
              |
              = help: remove this comma, or add what should follow it

            error[TM1001]: trailing comma
             --> q.sql:3:52
              |
            3 | CREATE TABLE t (a INT,) WITH ('connector' = 'print',);
              |                                                    ^
              |
              = help: remove this comma, or add what should follow it

            error[TM1001]: trailing comma
             --> q.sql:4:11
              |
            4 | SELECT f(a,) FROM t
              |           ^
              |
              = help: remove this comma, or add what should follow it
        "#]],
    );
}

#[test]
fn double_quotes() {
    check(
        r#"SELECT "a" FROM t;
CREATE TABLE t (a INT) WITH ("connector" = "print")"#,
        expect![[r#"
            error[TM1003]: double quotes have no meaning in Flink SQL
             --> q.sql:1:8
              |
            1 | SELECT "a" FROM t;
              |        ^^^
              |
              = help: strings take single quotes: 'a'; names take back quotes: `a`

            error[TM1003]: double quotes have no meaning in Flink SQL
             --> q.sql:2:30
              |
            2 | CREATE TABLE t (a INT) WITH ("connector" = "print")
              |                              ^^^^^^^^^^^
              |
              = help: strings take single quotes: 'connector'; names take back quotes: `connector`

            error[TM1003]: double quotes have no meaning in Flink SQL
             --> q.sql:2:44
              |
            2 | CREATE TABLE t (a INT) WITH ("connector" = "print")
              |                                            ^^^^^^^
              |
              = help: strings take single quotes: 'print'; names take back quotes: `print`
        "#]],
    );
}

#[test]
fn strings_as_names() {
    check(
        "SELECT a AS 'x' FROM 'my table';
SELECT EXTRACT(DAY FROM '2026-01-01'), a IS DISTINCT FROM 'x' FROM t",
        expect![[r#"
            error[TM1003]: a name is expected here, not a string
             --> q.sql:1:13
              |
            1 | SELECT a AS 'x' FROM 'my table';
              |             ^^^
              |
              = help: write `x`

            error[TM1003]: a name is expected here, not a string
             --> q.sql:1:22
              |
            1 | SELECT a AS 'x' FROM 'my table';
              |                      ^^^^^^^^^^
              |
              = help: write `my table`
        "#]],
    );
}

#[test]
fn unterminated_string() {
    check(
        "SELECT 1;
SELECT 'abc;
SELECT 2;",
        expect![[r#"
            error[TM1002]: this string does not end
             --> q.sql:2:8
              |
            2 | SELECT 'abc;
              |        ^ starts here
              |
              = help: close it with a single quote; a single quote inside a string is doubled
        "#]],
    );
}

#[test]
fn unterminated_comment() {
    check(
        "SELECT 1;
SELECT /* abc
SELECT 2;",
        expect![[r#"
            error[TM1002]: this comment does not end
             --> q.sql:2:8
              |
            2 | SELECT /* abc
              |        ^^ starts here
              |
              = help: close it with `*/`
        "#]],
    );
}

#[test]
fn unterminated_name() {
    check(
        "SELECT `abc FROM t",
        expect![[r#"
            error[TM1002]: this quoted name does not end
             --> q.sql:1:8
              |
            1 | SELECT `abc FROM t
              |        ^ starts here
              |
              = help: close it with a back quote; a back quote inside a name is doubled
        "#]],
    );
}

#[test]
fn missing_semicolon() {
    check(
        "CREATE TABLE t (a INT) WITH ('connector' = 'print')
SELECT a FROM t
INSERT INTO t VALUES (1)",
        expect![[r#"
            error[TM1005]: a semicolon is missing between two statements
             --> q.sql:1:52
              |
            1 | CREATE TABLE t (a INT) WITH ('connector' = 'print')
              |                                                    ^ `;` is missing here
            2 | SELECT a FROM t
              | ------ the next statement starts here

            error[TM1005]: a semicolon is missing between two statements
             --> q.sql:2:16
              |
            2 | SELECT a FROM t
              |                ^ `;` is missing here
            3 | INSERT INTO t VALUES (1)
              | ------ the next statement starts here
        "#]],
    );
}

#[test]
fn leftover() {
    check(
        "SELECT a FROM t LIMIT 5 7;
DROP TABLE a b;
SHOW TABLES please",
        expect![[r#"
            error[TM1001]: expected the end of the statement, found `7`
             --> q.sql:1:25
              |
            1 | SELECT a FROM t LIMIT 5 7;
              |                         ^

            error[TM1001]: expected the end of the statement, found `b`
             --> q.sql:2:14
              |
            2 | DROP TABLE a b;
              |              ^

            error[TM1001]: expected the end of the statement, found `please`
             --> q.sql:3:13
              |
            3 | SHOW TABLES please
              |             ^^^^^^
        "#]],
    );
}

#[test]
fn unclosed_parenthesis() {
    check(
        "SELECT COUNT(*, SUM(a FROM t;
SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR",
        expect![[r#"
            error[TM1001]: expected `)`, found `FROM`
             --> q.sql:1:23
              |
            1 | SELECT COUNT(*, SUM(a FROM t;
              |                    -  ^^^^
              |                    |
              |                    opened here

            error[TM1001]: expected `)`, found the end of the statement
             --> q.sql:2:64
              |
            2 | SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR
              |                     - this parenthesis is not closed           ^
        "#]],
    );
}

#[test]
fn error_in_subquery() {
    check(
        "SELECT a FROM (
  SELECT a FROM (SELECT a b c FROM t)
) WHERE a > 1;
WITH x AS (SELECT a FROM t WHERE) SELECT * FROM x",
        expect![[r#"
            error[TM1001]: expected `)`, found `c`
             --> q.sql:2:29
              |
            2 |   SELECT a FROM (SELECT a b c FROM t)
              |                 -           ^
              |                 |
              |                 opened here

            error[TM1001]: expected an expression, found `)`
             --> q.sql:4:33
              |
            4 | WITH x AS (SELECT a FROM t WHERE) SELECT * FROM x
              |                                 ^
        "#]],
    );
}

#[test]
fn error_in_named_argument() {
    check(
        "SELECT * FROM TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' HOURZ)",
        expect![[r#"
            error[TM1001]: INTERVAL requires a unit after the literal value
             --> q.sql:1:87
              |
            1 | SELECT * FROM TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' HOURZ)
              |                                                                                       ^^^^^
              |
              = help: did you mean `HOUR` instead of `HOURZ`?
        "#]],
    );
}

#[test]
fn interval_without_unit() {
    check(
        "SELECT ts - INTERVAL '5' FROM t",
        expect![[r#"
            error[TM1001]: INTERVAL requires a unit after the literal value
             --> q.sql:1:26
              |
            1 | SELECT ts - INTERVAL '5' FROM t
              |                          ^^^^
        "#]],
    );
}

#[test]
fn primary_keys() {
    check(
        "CREATE TABLE t (a INT PRIMARY KEY, b INT, PRIMARY KEY (b) ENFORCED);
CREATE TABLE t (a INT, PRIMARY KEY (a));
CREATE TABLE u (a INT UNIQUE, UNIQUE (a))",
        expect![[r#"
            error[TM1010]: NOT ENFORCED is missing after PRIMARY KEY
             --> q.sql:1:23
              |
            1 | CREATE TABLE t (a INT PRIMARY KEY, b INT, PRIMARY KEY (b) ENFORCED);
              |                       ^^^^^^^^^^^
              |
              = help: write NOT ENFORCED: rows come from outside, so a key is a promise and is not checked

            error[TM1011]: a table has one primary key
             --> q.sql:1:43
              |
            1 | CREATE TABLE t (a INT PRIMARY KEY, b INT, PRIMARY KEY (b) ENFORCED);
              |                       -----------         ^^^^^^^^^^^^^^^^^^^^^^^^
              |                       |
              |                       the first one
              |
              = help: a key of several columns is written PRIMARY KEY (a, b) NOT ENFORCED

            error[TM1010]: a primary key cannot be ENFORCED
             --> q.sql:1:43
              |
            1 | CREATE TABLE t (a INT PRIMARY KEY, b INT, PRIMARY KEY (b) ENFORCED);
              |                                           ^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = help: write NOT ENFORCED: rows come from outside, so a key is a promise and is not checked

            error[TM1010]: NOT ENFORCED is missing after PRIMARY KEY
             --> q.sql:2:24
              |
            2 | CREATE TABLE t (a INT, PRIMARY KEY (a));
              |                        ^^^^^^^^^^^^^^^
              |
              = help: write NOT ENFORCED: rows come from outside, so a key is a promise and is not checked

            error[TM1010]: UNIQUE is not supported
             --> q.sql:3:23
              |
            3 | CREATE TABLE u (a INT UNIQUE, UNIQUE (a))
              |                       ^^^^^^
              |
              = help: only PRIMARY KEY (…) NOT ENFORCED can be declared
        "#]],
    );
}

#[test]
fn table_options() {
    check(
        "CREATE TABLE t (a INT) WITH (connector = 'print');
CREATE TABLE t (a INT) WITH ('rows' = 5);
CREATE TABLE t (a INT) WITH ('a' = '1', 'b' = '2', 'a' = '3')",
        expect![[r#"
            error[TM1001]: expected an option's key in single quotes, found `connector`
             --> q.sql:1:30
              |
            1 | CREATE TABLE t (a INT) WITH (connector = 'print');
              |                              ^^^^^^^^^
              |
              = help: option keys are strings, as in WITH ('connector' = 'filesystem')

            error[TM1001]: expected an option's value in single quotes, found `5`
             --> q.sql:2:39
              |
            2 | CREATE TABLE t (a INT) WITH ('rows' = 5);
              |                                       ^
              |
              = help: option values are strings: '5'

            error[TM1011]: option 'a' is given twice
             --> q.sql:3:52
              |
            3 | CREATE TABLE t (a INT) WITH ('a' = '1', 'b' = '2', 'a' = '3')
              |                              --- the first one     ^^^
        "#]],
    );
}

#[test]
fn table_clauses() {
    check(
        "CREATE TABLE t (a INT) WIHT ('a' = 'b');
CREATE TABLE t (a INT) WITH ('a' = 'b') COMMENT 'late';
CREATE TABLE t (a INT) COMMENT 'x' COMMENT 'y';
CREATE TABLE t (a INT) DISTRIBUTED BY HASH(a)",
        expect![[r#"
            error[TM1001]: expected `COMMENT`, `PARTITIONED BY`, `WITH`, `LIKE` or `AS`, found `WIHT`
             --> q.sql:1:24
              |
            1 | CREATE TABLE t (a INT) WIHT ('a' = 'b');
              |                        ^^^^
              |
              = help: did you mean `WITH`?

            error[TM1001]: COMMENT stands before WITH
             --> q.sql:2:41
              |
            2 | CREATE TABLE t (a INT) WITH ('a' = 'b') COMMENT 'late';
              |                                         ^^^^^^^
              |
              = help: the order is (columns) COMMENT '…' PARTITIONED BY (…) WITH (…) LIKE … or AS …

            error[TM1011]: COMMENT is given twice
             --> q.sql:3:36
              |
            3 | CREATE TABLE t (a INT) COMMENT 'x' COMMENT 'y';
              |                                    ^^^^^^^
              |
              = help: the order is (columns) COMMENT '…' PARTITIONED BY (…) WITH (…) LIKE … or AS …

            error[TM1004]: DISTRIBUTED BY is not supported yet
             --> q.sql:4:24
              |
            4 | CREATE TABLE t (a INT) DISTRIBUTED BY HASH(a)
              |                        ^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn column_definitions() {
    check(
        "CREATE TABLE t (a);
CREATE TABLE t (a INT b INT);
CREATE TABLE t (select INT);
CREATE TABLE t (a INT DEFAULT 5);
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts ts - INTERVAL '1' SECOND)",
        expect![[r#"
            error[TM1001]: expected a data type, found `)`
             --> q.sql:1:18
              |
            1 | CREATE TABLE t (a);
              |                  ^

            error[TM1001]: expected `,` or `)`, found `b`
             --> q.sql:2:23
              |
            2 | CREATE TABLE t (a INT b INT);
              |                       ^

            error[TM1001]: expected a column's name, found `select`
             --> q.sql:3:17
              |
            3 | CREATE TABLE t (select INT);
              |                 ^^^^^^
              |
              = help: a reserved word takes back quotes as a name: `select`

            error[TM1004]: DEFAULT after a column is not supported yet
             --> q.sql:4:23
              |
            4 | CREATE TABLE t (a INT DEFAULT 5);
              |                       ^^^^^^^
              |
              = help: a computed column is written: name AS expression

            error[TM1001]: expected `AS`, found `ts`
             --> q.sql:5:51
              |
            5 | CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts ts - INTERVAL '1' SECOND)
              |                                                   ^^
        "#]],
    );
}

#[test]
fn types() {
    check(
        "CREATE TABLE t (a TEXT);
CREATE TABLE t (a BIGINTT);
CREATE TABLE t (a DECIMAL(40, 2));
CREATE TABLE t (a DECIMAL(10, 12));
CREATE TABLE t (a TIMESTAMP(10));
CREATE TABLE t (a TIMESTAMP WITH TIME ZONE);
CREATE TABLE t (a ARRAY<INT);
SELECT CAST(a AS VARCHAR(0)), 1;
SELECT CAST(a AS STRNG);
SELECT CAST(a INT)",
        expect![[r#"
            error[TM1009]: unknown data type `TEXT`
             --> q.sql:1:19
              |
            1 | CREATE TABLE t (a TEXT);
              |                   ^^^^
              |
              = help: in Flink SQL it is called STRING

            error[TM1009]: unknown data type `BIGINTT`
             --> q.sql:2:19
              |
            2 | CREATE TABLE t (a BIGINTT);
              |                   ^^^^^^^
              |
              = help: did you mean `BIGINT`?

            error[TM1009]: the precision of DECIMAL must be between 1 and 38, not 40
             --> q.sql:3:27
              |
            3 | CREATE TABLE t (a DECIMAL(40, 2));
              |                           ^^

            error[TM1009]: the scale of DECIMAL must be between 0 and 10, not 12
             --> q.sql:4:31
              |
            4 | CREATE TABLE t (a DECIMAL(10, 12));
              |                               ^^

            error[TM1009]: the precision of TIMESTAMP must be between 0 and 9, not 10
             --> q.sql:5:29
              |
            5 | CREATE TABLE t (a TIMESTAMP(10));
              |                             ^^

            error[TM1009]: TIMESTAMP WITH TIME ZONE is not supported
             --> q.sql:6:29
              |
            6 | CREATE TABLE t (a TIMESTAMP WITH TIME ZONE);
              |                             ^^^^
              |
              = help: TIMESTAMP WITH LOCAL TIME ZONE, or TIMESTAMP_LTZ for short, is an instant shown in the session's time zone

            error[TM1001]: expected `>`, found `)`
             --> q.sql:7:28
              |
            7 | CREATE TABLE t (a ARRAY<INT);
              |                            ^

            error[TM1009]: the length of VARCHAR must be between 1 and 2147483647, not 0
             --> q.sql:8:26
              |
            8 | SELECT CAST(a AS VARCHAR(0)), 1;
              |                          ^

            error[TM1009]: unknown data type `STRNG`
             --> q.sql:9:18
              |
            9 | SELECT CAST(a AS STRNG);
              |                  ^^^^^
              |
              = help: did you mean `STRING`?

            error[TM1001]: expected `AS`, found `INT`
              --> q.sql:10:15
               |
            10 | SELECT CAST(a INT)
               |               ^^^
        "#]],
    );
}

#[test]
fn foreign_sql() {
    check(
        "SELECT a::INT FROM t;
SELECT a FROM t EMIT CHANGES;
SELECT a FROM t WITH (NOLOCK);
SELECT a FROM t PARTITION (p)",
        expect![[r#"
            error[TM1004]: `::` is not Flink SQL
             --> q.sql:1:9
              |
            1 | SELECT a::INT FROM t;
              |         ^^
              |
              = help: write CAST(x AS INT) or TRY_CAST(x AS INT)

            error[TM1004]: EMIT is not supported
             --> q.sql:2:17
              |
            2 | SELECT a FROM t EMIT CHANGES;
              |                 ^^^^
              |
              = help: a window's result comes when the watermark passes its end, other results with each change

            error[TM1004]: WITH (…) belongs to CREATE TABLE
             --> q.sql:3:17
              |
            3 | SELECT a FROM t WITH (NOLOCK);
              |                 ^^^^
              |
              = help: in a query, options are a hint after the table's name: t /*+ OPTIONS('key' = 'value') */

            error[TM1004]: PARTITION (…) after a table is not supported
             --> q.sql:4:17
              |
            4 | SELECT a FROM t PARTITION (p)
              |                 ^^^^^^^^^
              |
              = help: name the partition in WHERE
        "#]],
    );
}

#[test]
fn unsupported_statements() {
    check(
        "CREATE FUNCTION f AS 'x';
CREATE CATALOG c WITH ('type' = 'jdbc');
ALTER TABLE t RENAME TO u;
USE db;
DELETE FROM t;
INSERT OVERWRITE t SELECT 1;
INSERT INTO t PARTITION (a = 1) SELECT 1;
SHOW CATALOGS;
DESCRIBE EXTENDED t;
CREATE OR REPLACE VIEW v AS SELECT 1;
DROP FUNCTION f",
        expect![[r#"
            error[TM1004]: CREATE FUNCTION is not supported yet
             --> q.sql:1:1
              |
            1 | CREATE FUNCTION f AS 'x';
              | ^^^^^^^^^^^^^^^

            error[TM1004]: CREATE CATALOG is not supported yet
             --> q.sql:2:1
              |
            2 | CREATE CATALOG c WITH ('type' = 'jdbc');
              | ^^^^^^^^^^^^^^

            error[TM1004]: ALTER TABLE is not supported yet
             --> q.sql:3:1
              |
            3 | ALTER TABLE t RENAME TO u;
              | ^^^^^^^^^^^

            error[TM1004]: USE is not supported yet
             --> q.sql:4:1
              |
            4 | USE db;
              | ^^^

            error[TM1004]: DELETE FROM is not supported yet
             --> q.sql:5:1
              |
            5 | DELETE FROM t;
              | ^^^^^^^^^^^

            error[TM1004]: INSERT OVERWRITE is not supported yet
             --> q.sql:6:1
              |
            6 | INSERT OVERWRITE t SELECT 1;
              | ^^^^^^^^^^^^^^^^

            error[TM1004]: INSERT INTO … PARTITION is not supported yet
             --> q.sql:7:15
              |
            7 | INSERT INTO t PARTITION (a = 1) SELECT 1;
              |               ^^^^^^^^^

            error[TM1004]: SHOW CATALOGS is not supported yet
             --> q.sql:8:1
              |
            8 | SHOW CATALOGS;
              | ^^^^^^^^^^^^^

            error[TM1004]: DESCRIBE EXTENDED is not supported yet
             --> q.sql:9:1
              |
            9 | DESCRIBE EXTENDED t;
              | ^^^^^^^^^^^^^^^^^

            error[TM1004]: CREATE OR REPLACE VIEW is not supported yet
              --> q.sql:10:1
               |
            10 | CREATE OR REPLACE VIEW v AS SELECT 1;
               | ^^^^^^^^^^^^^^^^^^^^^^

            error[TM1004]: DROP FUNCTION is not supported yet
              --> q.sql:11:1
               |
            11 | DROP FUNCTION f
               | ^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn misplaced_hints() {
    check(
        "SELECT a FROM t AS x /*+ OPTIONS('a' = 'b') */;
SELECT a FROM t WHERE a /*+ OPTIONS('a' = 'b') */ = 1;
SELECT a /*+ X(b) */ FROM t;
SELECT * FROM TUMBLE(TABLE t /*+ OPTIONS('a' = 'b') */, DESCRIPTOR(ts), INTERVAL '1' HOUR)",
        expect![[r#"
            error[TM1007]: a hint at this place has no effect
             --> q.sql:1:22
              |
            1 | SELECT a FROM t AS x /*+ OPTIONS('a' = 'b') */;
              |                      ^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = help: a hint stands right after a table's name, before its alias, or right after SELECT

            error[TM1007]: a hint at this place has no effect
             --> q.sql:2:25
              |
            2 | SELECT a FROM t WHERE a /*+ OPTIONS('a' = 'b') */ = 1;
              |                         ^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = help: a hint stands right after a table's name, before its alias, or right after SELECT

            error[TM1007]: a hint at this place has no effect
             --> q.sql:3:10
              |
            3 | SELECT a /*+ X(b) */ FROM t;
              |          ^^^^^^^^^^^
              |
              = help: a hint stands right after a table's name, before its alias, or right after SELECT

            error[TM1007]: a hint at this place has no effect
             --> q.sql:4:30
              |
            4 | SELECT * FROM TUMBLE(TABLE t /*+ OPTIONS('a' = 'b') */, DESCRIPTOR(ts), INTERVAL '1' HOUR)
              |                              ^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = help: a hint stands right after a table's name, before its alias, or right after SELECT
        "#]],
    );
}

#[test]
fn unreadable_hints() {
    check(
        "SELECT a FROM t /*+ OPTIONS('a' = */;
SELECT a FROM t /*+ BROADCAST */;
SELECT a FROM t /*+ */;
SELECT a FROM t /*+ A(b) C(d) */;
INSERT INTO t /*+ STATE_TTL('t' = '1d') */ SELECT 1;
INSERT INTO t /*+ OPTIONS('a') */ SELECT 1",
        expect![[r#"
            error[TM1007]: this hint cannot be read: expected an expression, found the end
             --> q.sql:1:17
              |
            1 | SELECT a FROM t /*+ OPTIONS('a' = */;
              |                 ^^^^^^^^^^^^^^^^^^^^
              |
              = help: a hint is one or more calls, as in /*+ OPTIONS('key' = 'value') */

            error[TM1007]: this hint cannot be read: `BROADCAST` is not a call
             --> q.sql:2:17
              |
            2 | SELECT a FROM t /*+ BROADCAST */;
              |                 ^^^^^^^^^^^^^^^^
              |
              = help: a hint is one or more calls, as in /*+ OPTIONS('key' = 'value') */

            error[TM1007]: this hint cannot be read: expected an expression, found the end
             --> q.sql:3:17
              |
            3 | SELECT a FROM t /*+ */;
              |                 ^^^^^^
              |
              = help: a hint is one or more calls, as in /*+ OPTIONS('key' = 'value') */

            error[TM1007]: this hint cannot be read: `C` is unexpected
             --> q.sql:4:26
              |
            4 | SELECT a FROM t /*+ A(b) C(d) */;
              |                          ^
              |
              = help: a hint is one or more calls, as in /*+ OPTIONS('key' = 'value') */

            error[TM1007]: a sink takes an OPTIONS hint, not STATE_TTL('t' = '1d')
             --> q.sql:5:19
              |
            5 | INSERT INTO t /*+ STATE_TTL('t' = '1d') */ SELECT 1;
              |                   ^^^^^^^^^^^^^^^^^^^^

            error[TM1007]: an option is 'key' = 'value', not 'a'
             --> q.sql:6:19
              |
            6 | INSERT INTO t /*+ OPTIONS('a') */ SELECT 1
              |                   ^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn statement_sets() {
    check(
        "EXECUTE STATEMENT SET BEGIN
  INSERT INTO a SELEC 1;
  INSERT INTO b SELECT;
  SELECT 3;
END;
EXECUTE STATEMENT SET BEGIN END;
EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 INSERT INTO b SELECT 2; END",
        expect![[r#"
            error[TM1001]: expected a query (SELECT, VALUES or WITH), found `SELEC`
             --> q.sql:2:17
              |
            2 |   INSERT INTO a SELEC 1;
              |                 ^^^^^
              |
              = help: did you mean `SELECT` instead of `SELEC`?

            error[TM1001]: expected an expression, found the end of the statement
             --> q.sql:3:23
              |
            3 |   INSERT INTO b SELECT;
              |                       ^

            error[TM1001]: expected `INSERT`, found `SELECT`
             --> q.sql:4:3
              |
            4 |   SELECT 3;
              |   ^^^^^^
              |
              = help: a statement set holds INSERT INTO statements, separated by semicolons

            error[TM1001]: a statement set without a statement
             --> q.sql:6:1
              |
            6 | EXECUTE STATEMENT SET BEGIN END;
              | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

            error[TM1005]: a semicolon is missing between two statements
             --> q.sql:7:51
              |
            7 | EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 INSERT INTO b SELECT 2; END
              |                                                   ^------ the next statement starts here
              |                                                   |
              |                                                   `;` is missing here
        "#]],
    );
}

#[test]
fn open_statement_set() {
    check(
        "SELECT 1;
BEGIN STATEMENT SET;
INSERT INTO a SELECT CASE WHEN x THEN 1 END FROM b;
SELECT 2;",
        expect![[r#"
            error[TM1001]: this statement set does not end
             --> q.sql:2:1
              |
            2 | BEGIN STATEMENT SET;
              | ^^^^^^^^^^^^^^^^^^^^
              |
              = help: close it with END;
        "#]],
    );
}

#[test]
fn inserts() {
    check(
        "INSERT t SELECT 1;
INSERT INTO t (a, b);
INSERT INTO t (a b) SELECT 1, 2;
INSERT INTO t;
WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x;
INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING",
        expect![[r#"
            error[TM1001]: expected `INTO`, found `t`
             --> q.sql:1:8
              |
            1 | INSERT t SELECT 1;
              |        ^

            error[TM1001]: expected a query (SELECT, VALUES or WITH), found the end of the statement
             --> q.sql:2:21
              |
            2 | INSERT INTO t (a, b);
              |                     ^

            error[TM1001]: expected `,` or `)`, found `b`
             --> q.sql:3:18
              |
            3 | INSERT INTO t (a b) SELECT 1, 2;
              |                  ^

            error[TM1001]: expected a query (SELECT, VALUES or WITH), found the end of the statement
             --> q.sql:4:14
              |
            4 | INSERT INTO t;
              |              ^

            error[TM1001]: expected a query, found a statement that writes
             --> q.sql:5:1
              |
            5 | WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x;
              | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = help: put WITH after INSERT INTO t: INSERT INTO t WITH … SELECT …

            error[TM1004]: ON CONFLICT is not supported yet
             --> q.sql:6:26
              |
            6 | INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING
              |                          ^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn session_statements() {
    check(
        "SET 'a';
SET 'a' = ;
SET = 5;
SHOW TABELS;
SHOW;
SHOW COLUMNS t;
DESCRIBE;
DROP TABEL t;
CREATE TABEL t (a INT)",
        expect![[r#"
            error[TM1001]: expected `=`, found the end of the statement
             --> q.sql:1:8
              |
            1 | SET 'a';
              |        ^

            error[TM1001]: expected a value, found the end of the statement
             --> q.sql:2:10
              |
            2 | SET 'a' = ;
              |          ^

            error[TM1001]: expected a key such as 'table.local-time-zone', found `=`
             --> q.sql:3:5
              |
            3 | SET = 5;
              |     ^

            error[TM1001]: expected `TABLES`, `VIEWS`, `FUNCTIONS`, `CREATE TABLE`, `CREATE VIEW` or `COLUMNS`, found `TABELS`
             --> q.sql:4:6
              |
            4 | SHOW TABELS;
              |      ^^^^^^
              |
              = help: did you mean `TABLES`?

            error[TM1001]: expected `TABLES`, `VIEWS`, `FUNCTIONS`, `CREATE TABLE`, `CREATE VIEW` or `COLUMNS`, found the end of the statement
             --> q.sql:5:5
              |
            5 | SHOW;
              |     ^

            error[TM1001]: expected `FROM`, found `t`
             --> q.sql:6:14
              |
            6 | SHOW COLUMNS t;
              |              ^

            error[TM1001]: expected a table's name, found the end of the statement
             --> q.sql:7:9
              |
            7 | DESCRIBE;
              |         ^

            error[TM1001]: expected `TABLE` or `VIEW`, found `TABEL`
             --> q.sql:8:6
              |
            8 | DROP TABEL t;
              |      ^^^^^
              |
              = help: did you mean `TABLE`?

            error[TM1001]: expected `TABLE`, `VIEW` or `TEMPORARY`, found `TABEL`
             --> q.sql:9:8
              |
            9 | CREATE TABEL t (a INT)
              |        ^^^^^
              |
              = help: did you mean `TABLE`?
        "#]],
    );
}

#[test]
fn explain() {
    check(
        "EXPLAIN SELCT 1;
EXPLAIN;
EXPLAIN PLAN FOR DROP TABLE t;
EXPLAIN CHANGELOG_MODE, SELECT 1",
        expect![[r#"
            error[TM1001]: EXPLAIN knows no `SELCT`
             --> q.sql:1:9
              |
            1 | EXPLAIN SELCT 1;
              |         ^^^^^
              |
              = help: did you mean `SELECT`?

            error[TM1001]: expected a query, an INSERT INTO or a statement set, found the end of the statement
             --> q.sql:2:8
              |
            2 | EXPLAIN;
              |        ^

            error[TM1001]: expected a query, an INSERT INTO or a statement set, found `DROP`
             --> q.sql:3:18
              |
            3 | EXPLAIN PLAN FOR DROP TABLE t;
              |                  ^^^^

            error[TM1001]: trailing comma
             --> q.sql:4:23
              |
            4 | EXPLAIN CHANGELOG_MODE, SELECT 1
              |                       ^
              |
              = help: remove this comma, or add what should follow it
        "#]],
    );
}

#[test]
fn odd_characters() {
    check(
        "SELECT § FROM t;
SELECT a ? b;
SELECT 1 FROM t WHERE a = ö b",
        expect![[r#"
            error[TM1001]: expected an expression, found `§`
             --> q.sql:1:8
              |
            1 | SELECT § FROM t;
              |        ^

            error[TM1001]: expected the end of the statement, found `?`
             --> q.sql:2:10
              |
            2 | SELECT a ? b;
              |          ^

            error[TM1001]: expected the end of the statement, found `b`
             --> q.sql:3:29
              |
            3 | SELECT 1 FROM t WHERE a = ö b
              |                             ^
        "#]],
    );
}
