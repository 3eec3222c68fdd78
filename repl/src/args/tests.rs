use super::*;

fn parse(line: &str) -> Result<CommandLine, clap::Error> {
    CommandLine::try_parse_from(std::iter::once("tidemark").chain(line.split_whitespace()))
}

fn action(line: &str) -> Result<Action, String> {
    parse(line).expect(line).action(true)
}

fn file(name: &str) -> Input {
    Input::File(name.into())
}

#[test]
fn definition_is_consistent() {
    use clap::CommandFactory;
    CommandLine::command().debug_assert();
}

#[test]
fn a_bare_file_is_run() {
    assert_eq!(action("a.sql"), Ok(Action::Run(vec![file("a.sql")])));
    assert_eq!(action("run a.sql b.sql"), Ok(Action::Run(vec![file("a.sql"), file("b.sql")])));
    assert_eq!(action("explain a.sql"), Ok(Action::Explain(vec![file("a.sql")])));
    assert_eq!(action("check a.sql -"), Ok(Action::Check(vec![file("a.sql"), Input::Stdin])));
}

#[test]
fn statements_are_repeatable_and_may_begin_with_a_comment() {
    let words = ["tidemark", "-c", "SELECT 1", "-c", "-- note\nSELECT 2"];
    let action = CommandLine::try_parse_from(words).map(|l| l.action(false));
    let texts = vec![Input::Text("SELECT 1".into()), Input::Text("-- note\nSELECT 2".into())];
    assert_eq!(action.expect("usage"), Ok(Action::Run(texts)));
}

#[test]
fn stdin_decides_when_nothing_is_named() {
    assert_eq!(parse("").expect("usage").action(true), Ok(Action::Shell));
    assert_eq!(parse("").expect("usage").action(false), Ok(Action::Run(vec![Input::Stdin])));
    assert_eq!(parse("explain").expect("usage").action(false), Ok(Action::Explain(vec![Input::Stdin])));
    assert!(action("explain").is_err());
}

#[test]
fn options_stand_before_or_behind_the_command() {
    for line in ["--format csv -p 3 run a.sql", "run a.sql --format csv -p 3", "run --format=csv -p3 a.sql"] {
        let parsed = parse(line).expect(line);
        assert_eq!(parsed.options.format(), Format::Csv, "{line}");
        assert_eq!(parsed.options.all_settings(), [("parallelism.default".into(), "3".into())], "{line}");
        assert_eq!(parsed.action(true), Ok(Action::Run(vec![file("a.sql")])), "{line}");
    }
}

#[test]
fn settings_split_at_the_first_equals_sign() {
    let parsed = parse("-s a.b=c=d --set e= f.sql").expect("usage");
    assert_eq!(parsed.options.all_settings(), [("a.b".into(), "c=d".into()), ("e".into(), String::new())]);
    assert!(parse("-s novalue f.sql").is_err());
    assert!(parse("-s =x f.sql").is_err());
}

#[test]
fn a_timeout_has_a_unit() {
    assert_eq!(parse("--timeout 30s a.sql").expect("usage").options.timeout, Some(Duration::from_secs(30)));
    assert_eq!(parse("--timeout 1500ms a.sql").expect("usage").options.timeout, Some(Duration::from_millis(1500)));
    for wrong in ["30", "soon", "-1s"] {
        assert!(parse(&format!("--timeout={wrong} a.sql")).is_err(), "{wrong}");
    }
}

#[test]
fn wrong_usage_has_exit_code_2() {
    for line in ["--format xml a.sql", "-p 0 a.sql", "-p x a.sql", "--batch-size 0 a.sql", "--nope", "-c"] {
        assert_eq!(parse(line).expect_err(line).exit_code(), 2, "{line}");
    }
    assert_eq!(parse("--version").expect_err("version").exit_code(), 0);
    assert_eq!(parse("--help").expect_err("help").exit_code(), 0);
}

#[test]
fn contradictions_are_refused() {
    assert!(action("a.sql -c SELECT").is_err());
    assert!(action("run - -").is_err());
}

#[test]
fn checkpoint_flags_are_settings() {
    let line = "--checkpoint-dir d --checkpoint-interval 2s --restore none --allow-dropped-state a.sql";
    let settings = parse(line).expect("usage").options.all_settings();
    let expected = [
        ("execution.checkpointing.dir", "d"),
        ("execution.checkpointing.interval", "2s"),
        ("execution.state-recovery.path", "none"),
        ("execution.state-recovery.ignore-unclaimed-state", "true"),
    ];
    assert_eq!(settings, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    let sentence = action("--state-dir x a.sql").expect_err("refused");
    assert_eq!(sentence, "--state-dir: the state of operators stays in memory in this version");
}

#[test]
fn only_the_memory_backend_runs() {
    assert!(action("--state-backend memory a.sql").is_ok());
    let sentence = action("--state-backend rocksdb a.sql").expect_err("refused");
    let expected = if cfg!(feature = "rocksdb") { "cannot spill" } else { "default features" };
    assert!(sentence.contains(expected), "{sentence}");
}
