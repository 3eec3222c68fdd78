//! What directories of checkpoints hold, and whether a changed script can go on from one.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use tidemark_state::checkpoint_dir::{Checkpoint, CheckpointDir};
use tidemark_state::checkpoint_error::CheckpointError;
use tidemark_state::fs::LocalFs;
use tidemark_state::job_fingerprint::{Effect, compare};

use crate::session::ScriptJob;

/// The checkpoints of a directory, newest first: `checkpoint`, `job`, `created`, `complete` (has the job ended with it?),
/// `rows` and `bytes` of state, `status` (`good`, or what is wrong: every file is read).
///
/// # Errors
/// There is no such directory, or it cannot be read.
pub fn list(dir: &Path) -> Result<RecordBatch, CheckpointError> {
    let listed = CheckpointDir::open_existing(Arc::new(LocalFs), dir)?.list()?;
    let names: StringArray = listed.iter().map(|l| Some(l.path.display().to_string())).collect();
    let good = || listed.iter().map(|listed| listed.checkpoint.as_ref().ok());
    let manifests = || good().map(|checkpoint| checkpoint.map(Checkpoint::manifest));
    let jobs: StringArray = manifests().map(|manifest| Some(manifest?.job.name.clone())).collect();
    let created = manifests().map(|manifest| Some(manifest?.created_at_ms)).collect::<TimestampMillisecondArray>();
    let complete: BooleanArray = manifests().map(|manifest| Some(manifest?.is_complete)).collect();
    let size = |of: fn(&tidemark_state::snapshot_file::StoredTable) -> u64| -> Int64Array {
        let sum = |checkpoint: Option<&Checkpoint>| {
            Some(checkpoint?.tables().ok()?.iter().map(of).sum::<u64>().try_into().unwrap_or(i64::MAX))
        };
        good().map(sum).collect()
    };
    let status = listed.iter().map(|listed| match &listed.checkpoint {
        Ok(checkpoint) => checkpoint.verify().err().map_or("good".to_owned(), |error| error.to_string()),
        Err(error) => error.to_string(),
    });
    Ok(table(vec![
        ("checkpoint", Arc::new(names)),
        ("job", Arc::new(jobs)),
        ("created", Arc::new(created)),
        ("complete", Arc::new(complete)),
        ("rows", Arc::new(size(|table| table.rows))),
        ("bytes", Arc::new(size(|table| table.bytes))),
        ("status", Arc::new(status.map(Some).collect::<StringArray>())),
    ]))
}

/// What a checkpoint holds; of a directory of checkpoints its newest. Each row is a part of it: `part` (`state`, `split`,
/// `watermark`, `output` that its sinks commit, `ended` operators), the `operator`, what it is (`detail`), and the `rows` and
/// `bytes` of a table.
///
/// # Errors
/// There is none, or it is corrupt.
pub fn show(path: &Path) -> Result<RecordBatch, CheckpointError> {
    let checkpoint = open(path)?;
    let manifest = checkpoint.manifest();
    let mut parts = Parts::default();
    for table in checkpoint.tables()? {
        parts.add("state", &table.operator, format!("table '{}'", table.name), Some((table.rows, table.bytes)));
    }
    for source in &manifest.sources {
        for split in &source.splits {
            let watermark = split.watermark.map_or(String::new(), |ms| format!(", watermark {ms} ms"));
            parts.add("split", &source.uid, format!("{}: {}{watermark}", split.split, split.position), None);
        }
    }
    for mark in &manifest.watermarks {
        let reached = match mark.watermark {
            None => "none yet".into(),
            Some(i64::MAX) => "the end of time".into(),
            Some(ms) => format!("{ms} ms"),
        };
        parts.add("watermark", &mark.uid, format!("subtask {}: {reached}", mark.subtask + 1), None);
    }
    for sink in &manifest.sinks {
        parts.add("output", &sink.uid, format!("subtask {}: {}", sink.subtask + 1, sink.token), None);
    }
    for uid in &manifest.finished {
        parts.add("ended", uid, String::new(), None);
    }
    Ok(parts.into_table())
}

fn open(path: &Path) -> Result<Checkpoint, CheckpointError> {
    let opened = Checkpoint::open(Arc::new(LocalFs), path);
    let Err(CheckpointError::NotFound(_)) = opened else { return opened };
    let newest = CheckpointDir::open_existing(Arc::new(LocalFs), path)?.list()?.into_iter().next();
    newest.map_or_else(|| Err(CheckpointError::NotFound(path.to_owned())), |listed| listed.checkpoint)
}

#[derive(Default)]
struct Parts {
    parts: Vec<&'static str>,
    operators: Vec<String>,
    details: Vec<String>,
    sizes: Vec<Option<(u64, u64)>>,
}

impl Parts {
    fn add(&mut self, part: &'static str, operator: &str, detail: String, size: Option<(u64, u64)>) {
        self.parts.push(part);
        self.operators.push(operator.to_owned());
        self.details.push(detail);
        self.sizes.push(size);
    }

    fn into_table(self) -> RecordBatch {
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let rows: Int64Array = self.sizes.iter().map(|size| size.map(|(rows, _)| number(rows))).collect();
        let bytes: Int64Array = self.sizes.iter().map(|size| size.map(|(_, bytes)| number(bytes))).collect();
        table(vec![
            ("part", Arc::new(StringArray::from(self.parts))),
            ("operator", Arc::new(StringArray::from(self.operators))),
            ("detail", Arc::new(StringArray::from(self.details))),
            ("rows", Arc::new(rows)),
            ("bytes", Arc::new(bytes)),
        ])
    }
}

fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("the columns have one value a row each")
}

/// What becomes of the state of the jobs of one version of a script when another version goes on from it, a line for
/// each operator; and whether that works without further ado.
pub fn diff(old: &[ScriptJob], new: &[ScriptJob]) -> (String, bool) {
    let mut text = String::new();
    let mut goes_on = true;
    let is_of = |job: &ScriptJob, name: &String| job.fingerprint.name == *name || job.former_names.contains(name);
    for job in new {
        let name = &job.fingerprint.name;
        let Some(was) = old.iter().find(|was| is_of(job, &was.fingerprint.name)) else {
            text.push_str(&format!("job '{name}' is new\n"));
            continue;
        };
        text.push_str(&format!("job '{name}'\n"));
        for difference in compare(&was.fingerprint, &job.fingerprint) {
            goes_on &= matches!(difference.effect(), Effect::Kept | Effect::StartsEmpty);
            let verdict = match difference.effect() {
                Effect::Refused => ": refused",
                Effect::Dropped => ": only with --allow-dropped-state",
                Effect::Kept | Effect::StartsEmpty => "",
            };
            text.push_str(&format!("  {difference}{verdict}\n"));
        }
    }
    for was in old.iter().map(|was| &was.fingerprint.name) {
        if !new.iter().any(|job| is_of(job, was)) {
            text.push_str(&format!("job '{was}' is gone; its checkpoints stay\n"));
        }
    }
    (text, goes_on)
}
