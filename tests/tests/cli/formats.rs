//! How rows look on stdout.

use super::binary::Place;

const ROWS: &str = "SELECT id, name, n FROM (VALUES (1, 'a,b', CAST(NULL AS INT)), (2, '', 3)) AS t(id, name, n)";

fn check(format: &str, expected: &str) {
    Place::with(&[]).run(&["--format", format, "-c", ROWS]).assert_rows(expected);
}

#[test]
fn csv_tells_null_from_the_empty_string() {
    check("csv", "id,name,n\n1,\"a,b\",\n2,\"\",3\n");
}

#[test]
fn jsonl_is_an_object_a_row() {
    check("jsonl", "{\"id\":1,\"name\":\"a,b\",\"n\":null}\n{\"id\":2,\"name\":\"\",\"n\":3}\n");
}

#[test]
fn json_is_an_array() {
    let ended = Place::with(&[]).run(&["--format", "json", "-c", ROWS]);
    let rows: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let expected = serde_json::json!([{"id": 1, "name": "a,b", "n": null}, {"id": 2, "name": "", "n": 3}]);
    assert_eq!((ended.code, rows), (Some(0), expected));
}

#[test]
fn markdown_is_a_table_on_github() {
    check("markdown", "| id | name | n |\n| ---: | --- | ---: |\n| 1 | a,b | NULL |\n| 2 |  | 3 |\n");
}

#[test]
fn the_default_is_a_table_even_in_a_pipe() {
    let expected = "\
┌────┬──────┬──────┐
│ id │ name │    n │
├────┼──────┼──────┤
│  1 │ a,b  │ NULL │
│  2 │      │    3 │
└────┴──────┴──────┘
";
    let ended = Place::with(&[]).run(&["-c", ROWS]);
    ended.assert_rows(expected);
    assert_eq!(ended.stderr, "(2 rows)\n");
}

#[test]
fn an_updating_query_shows_its_changes_or_its_rows() {
    let place = Place::with(&[("t.csv", "a,1\nb,2\na,3\n")]);
    let script = super::binary::csv_table("k STRING, v INT", "") + "SELECT k, SUM(v) AS s FROM t GROUP BY k";
    let run = |more: &[&str]| {
        let mut arguments = vec!["-p", "1", "--batch-size", "1", "-c", &script];
        arguments.extend(more);
        place.run(&arguments)
    };
    run(&["--format", "csv"]).assert_rows("op,k,s\n+I,a,1\n+I,b,2\n-U,a,1\n+U,a,4\n");
    let changes = "{\"op\":\"+I\",\"k\":\"a\",\"s\":1}\n{\"op\":\"+I\",\"k\":\"b\",\"s\":2}\n\
        {\"op\":\"-U\",\"k\":\"a\",\"s\":1}\n{\"op\":\"+U\",\"k\":\"a\",\"s\":4}\n";
    run(&["--format", "jsonl"]).assert_rows(changes);
    run(&["--format", "csv", "--result-mode", "table"]).assert_rows("k,s\na,4\nb,2\n");
    // A bounded query in table format shows what is left.
    run(&["--format", "markdown", "--result-mode", "table"])
        .assert_rows("| k | s |\n| --- | ---: |\n| a | 4 |\n| b | 2 |\n");
    assert!(!run(&[]).stdout.contains("+I"), "the table of a bounded query is folded");
}

#[test]
fn values_have_one_text() {
    let query =
        "SELECT TIMESTAMP '2026-01-01 10:00:00' AS ts, DATE '2026-01-01' AS d, CAST(1.5 AS DECIMAL(10, 2)) AS dec,
        CAST(0.1 AS DOUBLE) AS f, CAST(1e10 AS DOUBLE) AS big, TRUE AS b, x'00ff' AS bin, ARRAY[1, NULL] AS arr";
    let expected = "ts,d,dec,f,big,b,bin,arr\n\
        2026-01-01 10:00:00,2026-01-01,1.50,0.1,10000000000.0,true,00ff,\"[1,null]\"\n";
    Place::with(&[]).run(&["--format", "csv", "-c", query]).assert_rows(expected);
}
