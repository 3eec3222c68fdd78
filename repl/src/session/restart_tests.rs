//! Jobs that fail for want of something outside, and begin again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tidemark_planner::catalog::connector::{ConnectorFactory, OptionError, SinkInfo, SourceInfo};
use tidemark_planner::catalog::options::OptionSpec;
use tidemark_planner::catalog::table::TableDef;
use tidemark_planner::changelog::ChangelogMode;
use tidemark_runtime::change_batch::ChangeBatch;
use tidemark_runtime::connector::{
    SinkCommitter, SinkOwner, SinkRequest, SinkToken, SinkWriter, Source, SourceRequest,
};
use tidemark_runtime::error::IoError;

use super::*;

/// Writes nowhere, and fails so many times before.
#[derive(Clone, Debug)]
struct Flaky {
    failures_left: Arc<AtomicUsize>,
    rows: Arc<AtomicUsize>,
}

impl ConnectorFactory for Flaky {
    fn name(&self) -> &'static str {
        "flaky"
    }

    fn options(&self) -> Vec<OptionSpec> {
        vec![]
    }

    fn check_table(&self, _: &TableDef) -> Result<(), OptionError> {
        Ok(())
    }

    fn source(&self, _: &TableDef) -> Result<SourceInfo, OptionError> {
        Err(OptionError::new(None, "it is only written"))
    }

    fn sink(&self, _: &TableDef) -> Result<SinkInfo, OptionError> {
        Ok(SinkInfo { accepts: ChangelogMode::Append })
    }
}

impl Connector for Flaky {
    fn open_source(&self, _: SourceRequest) -> Result<Box<dyn Source>, RuntimeError> {
        Err(RuntimeError::Unsupported("it is only written".into()))
    }

    fn open_sink(&self, _: SinkRequest) -> Result<Box<dyn SinkWriter>, RuntimeError> {
        Ok(Box::new(self.clone()))
    }

    fn open_committer(&self, _: &TableDef, _: &SinkOwner) -> Option<Box<dyn SinkCommitter>> {
        None
    }
}

impl SinkWriter for Flaky {
    fn write(&mut self, batch: &ChangeBatch) -> Result<(), RuntimeError> {
        let one_less = |left: usize| left.checked_sub(1);
        if self.failures_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok() {
            let source = std::io::ErrorKind::StorageFull.into();
            return Err(IoError { table: "t".into(), action: "write", path: "disk".into(), source }.into());
        }
        self.rows.fetch_add(batch.num_rows(), Ordering::SeqCst);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), RuntimeError> {
        Ok(())
    }

    fn prepare(&mut self) -> Result<Option<SinkToken>, RuntimeError> {
        Ok(None)
    }

    fn finish(&mut self) -> Result<(), RuntimeError> {
        Ok(())
    }
}

/// What an INSERT of two rows comes to with a sink that fails so often, and the rows that were written.
fn insert(failures: usize, settings: &[(&str, &str)]) -> (Result<u64, String>, usize) {
    let flaky = Flaky { failures_left: Arc::new(AtomicUsize::new(failures)), rows: Arc::default() };
    let mut session = Session::over(vec![Arc::new(flaky.clone())]);
    for (key, value) in settings {
        session.set(key, value).unwrap();
    }
    let script = "CREATE TABLE t (n INT) WITH ('connector' = 'flaky'); INSERT INTO t VALUES (1), (2)";
    let ended = match session.execute(script).map(|mut results| results.pop()) {
        Ok(Some(StatementResult::Written(summary))) => Ok(summary.rows_out),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    };
    (ended, flaky.rows.load(Ordering::SeqCst))
}

#[test]
fn a_job_begins_again_as_often_as_it_may() {
    let fixed = [
        ("restart-strategy.type", "fixed-delay"),
        ("restart-strategy.fixed-delay.attempts", "2"),
        ("restart-strategy.fixed-delay.delay", "1 ms"),
    ];
    let exponential = [
        ("restart-strategy.type", "exponential-delay"),
        ("restart-strategy.exponential-delay.initial-backoff", "1 ms"),
    ];
    assert_eq!(insert(0, &[]), (Ok(2), 2));
    assert_eq!(insert(1, &[]), (Err("table `t`: cannot write disk".into()), 0));
    assert_eq!(insert(2, &fixed), (Ok(2), 2));
    assert_eq!(insert(3, &fixed), (Err("table `t`: cannot write disk".into()), 0));
    assert_eq!(insert(3, &exponential), (Ok(2), 2));
}
