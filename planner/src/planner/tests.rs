use std::sync::Arc;

use tidemark_parser::ast::Statement;
use tidemark_parser::{Diagnostic, parse_script};

use super::*;
use crate::bind::ddl::{create_table, create_view};
use crate::catalog::connector::{ConnectorFactory, OptionError, SinkInfo, SourceInfo};
use crate::catalog::options::{OptionKind, OptionSpec};
use crate::catalog::table::TableDef;

/// A connector whose tables end or not as `bounded` says, and that takes only new rows.
#[derive(Debug)]
struct Queue;

impl ConnectorFactory for Queue {
    fn name(&self) -> &'static str {
        "queue"
    }

    fn options(&self) -> Vec<OptionSpec> {
        vec![OptionSpec { key: "bounded", kind: OptionKind::Bool, required: false, help: "does it end?" }]
    }

    fn check_table(&self, _table: &TableDef) -> Result<(), OptionError> {
        Ok(())
    }

    fn source(&self, table: &TableDef) -> Result<SourceInfo, OptionError> {
        Ok(SourceInfo { bounded: table.options.get_bool("bounded", false), changelog: ChangelogMode::Append })
    }

    fn sink(&self, _table: &TableDef) -> Result<SinkInfo, OptionError> {
        Ok(SinkInfo { accepts: ChangelogMode::Append })
    }
}

const TABLES: &str = "
CREATE TABLE t (ts TIMESTAMP(3), k STRING, v INT, pt AS PROCTIME(), later AS ts + INTERVAL '1' HOUR,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'queue');
CREATE TABLE ended (ts TIMESTAMP(3), v INT, WATERMARK FOR ts AS ts) WITH ('connector' = 'queue', 'bounded' = 'true');
CREATE TABLE sink (k STRING, n BIGINT) WITH ('connector' = 'queue');
";

/// Plans the last statement of `sql` after the tables above.
fn plan(sql: &str, parallelism: usize) -> Result<Planned, Vec<Diagnostic>> {
    let text = format!("{TABLES}{sql}");
    let script = parse_script(&text);
    assert!(script.diagnostics.is_empty(), "{:?}", script.diagnostics);
    let mut settings = Settings::default();
    settings.set("parallelism.default", &parallelism.to_string()).unwrap();
    let mut catalog = Catalog::new(vec![Arc::new(Queue)]);
    let mut last = Err(vec![]);
    for parsed in &script.statements {
        let planner = |catalog| Planner::new(catalog, &settings, &text);
        match &parsed.statement {
            Statement::CreateTable(t) => drop(create_table(&mut catalog, &settings, t, &text, parsed.span)?),
            Statement::CreateView(v) => drop(create_view(&mut catalog, &settings, v, &text, parsed.span)?),
            Statement::Query(query) => last = planner(&catalog).plan_query(query),
            Statement::Insert(insert) => last = planner(&catalog).plan_inserts(std::slice::from_ref(insert)),
            other => panic!("no such statement in these tests: {other:?}"),
        }
    }
    last
}

/// The uids of the plan's nodes, upstream first.
fn nodes(sql: &str) -> Vec<String> {
    let planned = plan(sql, 1).unwrap_or_else(|d| panic!("{d:?}"));
    planned
        .graph
        .plan
        .nodes
        .iter()
        .map(|n| n.uid.trim_end_matches(|c: char| c == '-' || c.is_numeric()).into())
        .collect()
}

/// Code and marked text of the first finding.
fn finding(sql: &str) -> (&'static str, String) {
    let findings = plan(sql, 1).expect_err("a finding");
    let text = format!("{TABLES}{sql}");
    let span = findings[0].span.unwrap_or_else(|| panic!("no place: {findings:?}"));
    (findings[0].code, span.slice(&text).to_string())
}

fn tumble(select: &str, rest: &str) -> String {
    format!("SELECT {select} FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)) {rest}")
}

#[test]
fn an_aggregate_right_above_its_window_assigns_the_slices_itself() {
    let sql = tumble("k, COUNT(*)", "WHERE v > 1 GROUP BY window_start, window_end, k");
    assert_eq!(nodes(&sql), ["source", "watermark", "calc", "window-aggregate", "calc", "collect"]);
}

#[test]
fn an_aggregate_that_reads_the_window_lets_rows_be_multiplied_first() {
    let sql = tumble("MAX(window_end)", "GROUP BY window_start, window_end");
    assert_eq!(nodes(&sql), ["source", "watermark", "window", "calc", "window-aggregate", "calc", "collect"]);
}

#[test]
fn windows_of_a_window_are_attached_or_new() {
    let inner = tumble(
        "window_start, window_end, window_time, k, COUNT(*) AS n",
        "GROUP BY window_start, window_end, window_time, k",
    );
    let attached = format!("SELECT MAX(n) FROM ({inner}) GROUP BY window_start, window_end");
    assert!(plan(&attached, 1).unwrap().explain().contains("the window of (window_start, window_end)"));
    let again = format!(
        "SELECT SUM(n) FROM TABLE(TUMBLE((SELECT n, window_time AS wt FROM ({inner})), DESCRIPTOR(wt), INTERVAL '1' MINUTE))
         GROUP BY window_start, window_end"
    );
    assert!(plan(&again, 1).unwrap().explain().contains("TUMBLE(1 min) on wt"));
}

#[test]
fn the_older_form_is_the_same_plan() {
    let older = "SELECT k, COUNT(*) FROM t GROUP BY TUMBLE(ts, INTERVAL '10' SECOND), k";
    let newer = tumble("k, COUNT(*)", "GROUP BY window_start, window_end, k");
    assert_eq!(nodes(older), nodes(&newer));
}

#[test]
fn a_column_is_a_time_attribute_while_it_is_passed_on_unchanged() {
    let window = |time: &str, input: &str| {
        format!(
            "SELECT COUNT(*) FROM TABLE(TUMBLE({input}, DESCRIPTOR({time}), INTERVAL '1' HOUR)) GROUP BY window_start, window_end"
        )
    };
    for input in [
        "(SELECT ts AS x, k FROM t WHERE v > 0)",
        "(SELECT ts AS x FROM t UNION ALL SELECT ts FROM ended)",
        "(SELECT x FROM (SELECT ts AS x FROM t))",
    ] {
        assert!(plan(&window("x", input), 1).is_ok(), "{input}");
    }
    assert!(plan(&window("pt", "TABLE t"), 1).is_ok());
    for (time, input) in [
        ("later", "TABLE t"),
        ("x", "(SELECT ts + INTERVAL '1' SECOND AS x FROM t)"),
        ("x", "(SELECT CAST(ts AS TIMESTAMP(6)) AS x FROM t)"),
        ("x", "(SELECT MAX(ts) AS x FROM t GROUP BY k)"),
    ] {
        let findings = plan(&window(time, input), 1).expect_err(input);
        assert!(["TM2008", "TM2006"].contains(&findings[0].code), "{input}: {findings:?}");
    }
}

#[test]
fn a_pipeline_is_one_chain_at_parallelism_1_and_is_cut_where_keys_meet() {
    let sql = tumble("k, COUNT(*)", "GROUP BY window_start, window_end, k");
    assert_eq!(plan(&sql, 1).unwrap().graph.vertices.len(), 1);
    let graph = plan(&sql, 3).unwrap().graph;
    let widths: Vec<usize> = graph.vertices.iter().map(|v| v.parallelism).collect();
    assert_eq!(widths, [3, 3, 1], "source, window, collect");
    assert_eq!(graph.vertices[1].inputs[0].distribution, crate::stream_plan::Distribution::Hash(vec![1]));
}

#[test]
fn only_what_is_needed_is_read() {
    let planned = plan("SELECT v FROM t", 1).unwrap();
    let source: Vec<&str> = planned.graph.plan.nodes[0].schema.fields().iter().map(|f| f.name().as_str()).collect();
    assert_eq!(source, ["ts", "v"], "the watermark needs ts, the query v");
}

#[test]
fn an_updating_result_does_not_fit_an_append_only_sink() {
    let findings = plan("INSERT INTO sink SELECT k, COUNT(*) FROM t GROUP BY k", 1).expect_err("refused");
    assert_eq!(findings[0].code, crate::codes::SINK_MISMATCH);
    assert_eq!(
        findings[0].message,
        "`sink` takes only new rows, but this query's result is updating because of GROUP BY without a window in line 6"
    );
    assert_eq!(findings[0].labels.len(), 1);
}

#[test]
fn findings_point_at_their_place() {
    let check = |sql: &str, code: &'static str, place: &str| assert_eq!(finding(sql), (code, place.into()), "{sql}");
    check("SELECT nope FROM t", "TM2001", "nope");
    check("SELECT * FROM tt", "TM2001", "tt");
    check("SELECT k, fooo(v) FROM t", "TM2001", "fooo");
    check("SELECT SUM(k) FROM t", "TM2011", "SUM");
    check("SELECT * FROM t AS a JOIN t AS b ON a.v < b.v", "TM2006", "a.v");
    check("SELECT v FROM t ORDER BY v", "TM2010", "SELECT");
    check("INSERT INTO sink SELECT k, k FROM t", "TM2009", "k");
    check("INSERT INTO sink SELECT k FROM t", "TM2009", "sink");
    check("INSERT INTO nowhere SELECT k FROM t", "TM2001", "nowhere");
    check(&tumble("COUNT(*)", "GROUP BY window_start, window_end").replace("(ts)", "(v)"), "TM2008", "v");
}

#[test]
fn an_order_is_given_by_event_time_or_at_the_end() {
    assert!(plan("SELECT v FROM t ORDER BY ts, v", 1).unwrap().explain().contains("as the watermark advances"));
    assert!(plan("SELECT v FROM ended ORDER BY v", 1).unwrap().explain().contains("when the input ends"));
    assert!(plan("SELECT v FROM t ORDER BY ts DESC", 1).is_err());
}

#[test]
fn state_that_grows_for_ever_is_warned_of() {
    let warnings = |sql: &str| plan(sql, 1).unwrap().warnings.len();
    assert_eq!(warnings("SELECT k, COUNT(*) FROM t GROUP BY k"), 1);
    assert_eq!(warnings("SELECT v, COUNT(*) FROM ended GROUP BY v"), 0, "a bounded input ends");
    assert_eq!(warnings("SELECT t.k FROM t JOIN ended ON t.v = ended.v"), 1);
    assert_eq!(warnings("SELECT t.k FROM t JOIN ended ON t.v = ended.v AND t.ts = ended.ts"), 0, "bounded in time");
    assert_eq!(warnings(&tumble("COUNT(*)", "GROUP BY window_start")), 2, "one bound of the window, and no end");
}

#[test]
fn decimals_and_whole_numbers_have_flinks_types() {
    let types = |sql: &str| -> Vec<String> {
        let output = plan(sql, 1).unwrap().output.unwrap();
        output.schema.fields().iter().map(|f| crate::types::sql_name(f.data_type())).collect()
    };
    assert_eq!(
        types("SELECT v * 2, v + 3000000000, 7.0 / 2, 1.5 * 2.25 FROM t"),
        ["INT", "BIGINT", "DECIMAL(13, 12)", "DECIMAL(5, 3)"]
    );
    assert_eq!(types("SELECT SUM(v), AVG(v), COUNT(*) FROM t"), ["BIGINT", "DOUBLE", "BIGINT"]);
}

#[test]
fn a_join_is_bounded_by_what_its_condition_says_of_two_event_times() {
    let bounds = |condition: &str| -> String {
        let sql = format!("SELECT a.v FROM t AS a, ended AS b WHERE a.v = b.v AND {condition}");
        let plan = plan(&sql, 1).unwrap().explain();
        let join = plan.lines().find(|line| line.contains("join-1: ")).unwrap().trim();
        let (bounds, _) = join.split_once(", on").unwrap();
        bounds.replace("interval-join-1: INNER within ", "").replace(" left ts - right ts ", " ")
    };
    assert_eq!(bounds("a.ts BETWEEN b.ts - INTERVAL '1' HOUR AND b.ts + INTERVAL '5' MINUTE"), "-1 h <= <= 5 min");
    assert_eq!(bounds("b.ts < a.ts AND a.ts < b.ts + INTERVAL '1' DAY"), "1 ms <= <= 86399999 ms");
    assert_eq!(bounds("b.ts >= a.ts - INTERVAL '2' SECOND AND a.ts + INTERVAL '1' SECOND >= b.ts"), "-1 s <= <= 2 s");
    assert_eq!(bounds("a.ts = b.ts"), "0 ms <= <= 0 ms");
    assert_eq!(bounds("a.ts = b.ts + INTERVAL '3' SECOND"), "3 s <= <= 3 s");
    // The narrower of several bounds counts.
    let two = "a.ts >= b.ts - INTERVAL '3' SECOND AND a.ts >= b.ts - INTERVAL '1' SECOND AND a.ts <= b.ts";
    assert_eq!(bounds(two), "-1 s <= <= 0 ms");
    // One bound, months, a computed time, and time that is none of the watermark's: no interval.
    for unbounded in [
        "a.ts >= b.ts",
        "a.ts BETWEEN b.ts AND b.ts + INTERVAL '1' MONTH",
        "a.later BETWEEN b.ts AND b.ts + INTERVAL '1' HOUR",
        "(a.ts = b.ts OR a.v > 1)",
    ] {
        assert_eq!(bounds(unbounded), "join-1: INNER", "{unbounded}");
    }
}

#[test]
fn a_join_without_a_bound_in_time_has_no_event_time() {
    let sorted = |on: &str| plan(&format!("SELECT a.ts FROM t AS a JOIN ended AS b ON {on} ORDER BY a.ts"), 1);
    assert!(sorted("a.v = b.v").is_err());
    assert!(sorted("a.ts = b.ts").unwrap().explain().contains("as the watermark advances"));
}
