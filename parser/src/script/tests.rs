use super::{is_complete, parse_script};
use crate::ast::Statement;
use crate::lexical_check::{MAX_DEPTH, MAX_OPERATORS, MAX_SET_OPERATIONS};
use crate::{code, render};
use expect_test::{Expect, expect};

/// Each statement's kind and text, then the diagnostics.
fn outline(text: &str) -> String {
    let script = parse_script(text);
    let mut lines: Vec<String> = script
        .statements
        .iter()
        .map(|parsed| {
            let kind = format!("{:?}", parsed.statement);
            let kind = kind.split(['(', ' ']).next().unwrap_or_default();
            format!("{kind}: {}", parsed.span.slice(text))
        })
        .collect();
    lines.extend(script.diagnostics.iter().map(|d| format!("{} {}", d.code, d.message)));
    lines.join("\n")
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&outline(text));
}

#[test]
fn statements_are_separated_by_semicolons() {
    check(
        "SELECT 1;; \n SELECT 2 ; SELECT 3",
        expect![[r#"
            Query: SELECT 1
            Query: SELECT 2
            Query: SELECT 3"#]],
    );
    check("", expect![""]);
    check(" ;\n; -- nothing", expect![""]);
}

#[test]
fn semicolons_inside_strings_names_and_comments_separate_nothing() {
    check(
        "SELECT ';', 'it''s;', `a;b` -- c;d\n, /* e;f */ 1; SELECT 2",
        expect![[r#"
            Query: SELECT ';', 'it''s;', `a;b` -- c;d
            , /* e;f */ 1
            Query: SELECT 2"#]],
    );
}

#[test]
fn every_kind_of_statement_is_recognised() {
    check(
        "CREATE TABLE t (a INT) WITH ('connector' = 'print'); CREATE TEMPORARY VIEW v AS SELECT 1; DROP VIEW v;
         INSERT INTO t VALUES (1); EXECUTE INSERT INTO t SELECT 1; (SELECT 1) UNION ALL SELECT 2; VALUES (1), (2);
         WITH x AS (SELECT 1) SELECT * FROM x; EXPLAIN SELECT 1; SET 'a' = 'b'; SET; RESET 'a'; RESET;
         SHOW TABLES; DESCRIBE t; DESC t",
        expect![[r#"
            CreateTable: CREATE TABLE t (a INT) WITH ('connector' = 'print')
            CreateView: CREATE TEMPORARY VIEW v AS SELECT 1
            Drop: DROP VIEW v
            Insert: INSERT INTO t VALUES (1)
            Insert: EXECUTE INSERT INTO t SELECT 1
            Query: (SELECT 1) UNION ALL SELECT 2
            Query: VALUES (1), (2)
            Query: WITH x AS (SELECT 1) SELECT * FROM x
            Explain: EXPLAIN SELECT 1
            Set: SET 'a' = 'b'
            Set: SET
            Reset: RESET 'a'
            Reset: RESET
            Show: SHOW TABLES
            Describe: DESCRIBE t
            Describe: DESC t"#]],
    );
}

#[test]
fn semicolons_of_a_statement_set_separate_its_members() {
    let text = "EXECUTE STATEMENT SET BEGIN
        INSERT INTO a SELECT CASE WHEN x THEN 1 ELSE 2 END FROM t;
        INSERT INTO b SELECT 1;
    END; SELECT 1; BEGIN STATEMENT SET; INSERT INTO c SELECT 1; END;";
    let script = parse_script(text);
    assert!(script.diagnostics.is_empty(), "{:?}", script.diagnostics);
    let [first, query, second] = script.statements.as_slice() else { panic!("three statements") };
    let targets = |statement: &Statement| match statement {
        Statement::StatementSet(inserts) => inserts.iter().map(|i| i.table.display()).collect::<Vec<_>>().join(" "),
        other => panic!("a statement set, not {other:?}"),
    };
    assert_eq!(targets(&first.statement), "a b");
    assert_eq!(query.span.slice(text), "SELECT 1");
    assert_eq!(targets(&second.statement), "c");
}

#[test]
fn errors_do_not_hide_each_other_or_what_is_right() {
    check(
        "SELECT FROM t; SELECT 1; SELCT 2; DROP TABLE; SELECT 3",
        expect![[r#"
            Query: SELECT 1
            Query: SELECT 3
            TM1001 expected an expression, found `FROM`
            TM1006 no statement starts with `SELCT`
            TM1001 expected a table's name, found the end of the statement"#]],
    );
}

#[test]
fn a_missing_semicolon_costs_no_statement() {
    check(
        "SELECT a FROM t\nSELECT 2\nCREATE VIEW v AS SELECT 3 SHOW TABLES CREATE TABLE t (a AS 'x') WITH ('a' = 'b')",
        expect![[r#"
            Query: SELECT a FROM t
            Query: SELECT 2
            CreateView: CREATE VIEW v AS SELECT 3
            Show: SHOW TABLES
            CreateTable: CREATE TABLE t (a AS 'x') WITH ('a' = 'b')
            TM1005 a semicolon is missing between two statements
            TM1005 a semicolon is missing between two statements
            TM1005 a semicolon is missing between two statements
            TM1005 a semicolon is missing between two statements"#]],
    );
}

#[test]
fn places_inside_queries_are_places_in_the_script() {
    let text = "SELECT 1;\n/* é */ SELECT\n  ü, `b` FROM t";
    let script = parse_script(text);
    let lines = crate::LineIndex::new(text);
    let Statement::Query(query) = &script.statements[1].statement else { panic!("a query") };
    let projection = &query.body.as_select().expect("a select").projection;
    let places: Vec<&str> = projection
        .iter()
        .map(|item| lines.span(sqlparser::ast::Spanned::span(item)).expect("an item has a place").slice(text))
        .collect();
    assert_eq!(places, ["ü", "`b`"]);
}

#[test]
fn completeness_is_a_semicolon_that_counts() {
    for text in ["", " \n", "-- c", "SELECT 1;", "SELECT 1; -- done", "SELECT ';';", "SELCT;", "SELECT (;"] {
        assert!(is_complete(text), "{text}");
    }
    for text in ["SELECT 1", "SELECT ';", "SELECT `;", "/* ;", "SELECT 1; SELECT", "SELECT 1 -- ;", "SELECT ';'"] {
        assert!(!is_complete(text), "{text}");
    }
}

#[test]
fn a_statement_set_is_complete_when_it_ends() {
    let set = "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT CASE WHEN x THEN 1 END FROM t;";
    assert!(!is_complete(set));
    assert!(!is_complete(&format!("{set} END")));
    assert!(is_complete(&format!("{set} END;")));
    assert!(!is_complete("BEGIN STATEMENT SET;"));
    assert!(is_complete("BEGIN STATEMENT SET; INSERT INTO a SELECT 1; END;"));
    assert!(!is_complete("EXPLAIN CHANGELOG_MODE EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;"));
}

/// Each of these recurses in another part of the parser.
#[test]
fn deep_nesting_is_refused_without_overflowing_the_stack() {
    const DEPTH: usize = 20_000;
    let nest = |open: &str, middle: &str, close: &str| format!("{}{middle}{}", open.repeat(DEPTH), close.repeat(DEPTH));
    for text in [
        format!("SELECT {}", nest("(", "1", ")")),
        format!("SELECT {}", nest("NOT ", "1", "")),
        format!("SELECT {}", nest("- ", "1", "")),
        format!("SELECT {}", nest("CASE WHEN ", "1", " THEN 1 END")),
        format!("SELECT {}", nest("INTERVAL ", "1", "")),
        format!("SELECT {}", nest("CAST(", "1", " AS INT)")),
        format!("SELECT {}", nest("ARRAY<", "INT", ">")),
        format!("SELECT CAST(a AS {})", nest("ARRAY<", "INT", ">")),
        format!("SELECT a::{}", nest("ARRAY<", "INT", ">")),
        format!("SELECT {}", nest("ARRAY[", "1", "]")),
        format!("SELECT {}", nest("(SELECT ", "1", ")")),
        format!("SELECT * FROM {}", nest("(", "t", ")")),
        format!("SELECT * FROM {}", nest("(SELECT * FROM ", "t", ")")),
        format!("SELECT 1{}", nest(" + 1", "", "")),
        format!("SELECT 1{}", nest(" OR 1 = 2", "", "")),
        format!("SELECT 1{}", nest(" IS NULL", "", "")),
        format!("SELECT 1{}", nest(" UNION ALL SELECT 1", "", "")),
        format!("SELECT * FROM t{}", nest(" UNPIVOT (a FOR b IN (c))", "", "")),
        format!("SELECT * FROM t MATCH_RECOGNIZE (PATTERN ({}) DEFINE A AS TRUE)", nest("(", "A", ")")),
        format!("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A{}) DEFINE A AS TRUE)", nest("*", "", "")),
        format!("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A{}) DEFINE A AS TRUE)", nest(" | A", "", "")),
        format!("CREATE TABLE t (a {})", nest("ROW<a ", "INT", ">")),
    ] {
        let script = parse_script(&text);
        let codes: Vec<&str> = script.diagnostics.iter().map(|d| d.code).collect();
        assert!(script.statements.is_empty(), "{}", &text[..40]);
        assert!(codes == [code::TOO_DEEP] || text.contains("SELECT ARRAY<"), "{}: {codes:?}", &text[..40]);
    }
}

#[test]
fn nesting_and_chains_up_to_the_limits_are_accepted() {
    let deep = MAX_DEPTH / 3;
    for text in [
        format!("SELECT {}1{}", "(".repeat(deep), ")".repeat(deep)),
        format!("SELECT * FROM {}t{}", "(SELECT * FROM ".repeat(deep), ")".repeat(deep)),
        format!("SELECT 1 FROM t /*+ OPTIONS('a' = 'b') */ WHERE 1{}", " + 1".repeat(MAX_OPERATORS)),
        format!("SELECT 1 FROM t WHERE a = 0{}", " OR a = 1".repeat(MAX_OPERATORS - 1)),
        format!("SELECT 1 FROM t /*+ OPTIONS('a' = 'b') */{}", " UNION ALL SELECT 1".repeat(MAX_SET_OPERATIONS)),
        format!("SELECT a IN (1{})", ", 1".repeat(20_000)),
    ] {
        let script = parse_script(&text);
        assert!(script.diagnostics.is_empty(), "{:?}", script.diagnostics);
        // Walking, copying and dropping what was accepted must be safe, too.
        let copy = script.clone();
        assert_eq!(copy.statements.len(), 1);
    }
}

/// An error inside nested calls must not make `sqlparser` read each of them again and again.
#[test]
fn errors_in_nested_calls_are_found_in_linear_time() {
    for call in [
        "FLOOR(",
        "EXTRACT(DAY FROM ",
        "TRIM(",
        "SUBSTRING(",
        "f(x => ",
        "CAST(",
        "INTERVAL ",
        "CASE WHEN ",
        "EXISTS (SELECT ",
    ] {
        let text = format!("SELECT {} FROM t", call.repeat(40));
        let script = parse_script(&text);
        assert_eq!(script.diagnostics.len(), 1, "{call}");
    }
}

const LONG_SCRIPT: &str = "
-- A bit of everything.
SET 'table.local-time-zone' = 'UTC';
CREATE TABLE flights (
  `origin` STRING NOT NULL COMMENT 'from', delay DECIMAL(10, 2), ts TIMESTAMP(3), m MAP<STRING, ARRAY<ROW<a INT, b STRING>>>,
  day_of AS CAST(ts AS DATE), off BIGINT METADATA FROM 'offset' VIRTUAL, pt AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (origin) NOT ENFORCED
) COMMENT 'x' PARTITIONED BY (origin) WITH ('connector' = 'filesystem', 'path' = 'é;') LIKE base (INCLUDING ALL);
CREATE TEMPORARY VIEW v (a, b) COMMENT 'v' AS SELECT a, MAP['k', 1] FROM t /*+ OPTIONS('a' = 'b') */ AS x WHERE a <> \"q\";
EXECUTE STATEMENT SET BEGIN
  INSERT INTO s /*+ OPTIONS('a' = 'b') */ (a, b) SELECT /*+ STATE_TTL('t' = '1d') */ window_start, COUNT(*) FILTER (WHERE x > 1)
    FROM TABLE(HOP(DATA => TABLE flights PARTITION BY a, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' HOUR)) GROUP BY ROLLUP (a);
  INSERT INTO b VALUES (1, 'a'), (2, CASE WHEN TRUE THEN 'b' END);
END;
SELECT o.*, ROW(1, 2) FROM o LEFT JOIN r FOR SYSTEM_TIME AS OF o.ts AS r ON o.c = r.c WHERE a NOT IN (SELECT b FROM (VALUES (1)) AS q(b));
SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a ORDER BY ts MEASURES A.x AS x ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B+ C{1,2}) DEFINE A AS A.x > 1) AS m;
EXPLAIN CHANGELOG_MODE SELECT TRY_CAST(a AS TIMESTAMP_LTZ(3)), EXTRACT(DAY FROM ts), FLOOR(ts TO HOUR), SUM(a) OVER (PARTITION BY a ORDER BY ts);
SHOW CREATE TABLE t; DROP TABLE IF EXISTS a.b.c; DESCRIBE t;
";

fn must_not_panic(text: &str) {
    let script = parse_script(text);
    render(&script.diagnostics, "q.sql", text, false);
    is_complete(text);
}

#[test]
fn the_long_script_has_one_error() {
    let script = parse_script(LONG_SCRIPT);
    let messages: Vec<&str> = script.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["double quotes have no meaning in Flink SQL"]);
    assert_eq!(script.statements.len(), 10);
}

#[test]
fn no_prefix_panics() {
    for (end, _) in LONG_SCRIPT.char_indices() {
        must_not_panic(&LONG_SCRIPT[..end]);
    }
}

#[test]
fn no_deletion_swap_or_repetition_of_words_panics() {
    let words: Vec<&str> = LONG_SCRIPT.split_inclusive([' ', '(', ',', '\n', ')', ';']).collect();
    // A linear congruential generator: the same script every time.
    let mut state = 42u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..1_000 {
        let mut mangled = words.clone();
        for _ in 0..=random(6) {
            let idx = random(mangled.len());
            match random(3) {
                0 => drop(mangled.remove(idx)),
                1 => mangled.swap(idx, random(words.len() / 2)),
                _ => mangled.insert(idx, words[random(words.len())]),
            }
        }
        must_not_panic(&mangled.concat());
    }
}
