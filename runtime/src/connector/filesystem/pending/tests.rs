use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::DataType;
use tidemark_planner::catalog::table::TableDef;
use tidemark_state::fs::MemoryFs;

use super::super::super::Connector;
use super::super::FilesystemConnector;
use super::*;
use crate::format::testing::table;

/// A table in memory, and the job that writes it.
struct Written {
    fs: MemoryFs,
    table: TableDef,
    owner: SinkOwner,
}

impl Written {
    fn new() -> Self {
        let table = table(&[("a", DataType::Utf8)], &[("path", "out"), ("format", "csv")]);
        Self { fs: MemoryFs::default(), table, owner: SinkOwner("mine".into()) }
    }

    fn of_another_job(&self) -> Self {
        Self { fs: self.fs.clone(), table: self.table.clone(), owner: SinkOwner("theirs".into()) }
    }

    fn connector(&self) -> FilesystemConnector {
        FilesystemConnector::writing_to(Arc::new(self.fs.clone()))
    }

    fn writer(&self, subtask: usize) -> Box<dyn SinkWriter> {
        let request = SinkRequest {
            table: Arc::new(self.table.clone()),
            schema: self.table.physical_schema(),
            subtask,
            parallelism: 2,
            time_zone: "UTC".into(),
            owner: Some(self.owner.clone()),
        };
        self.connector().open_sink(request).unwrap()
    }

    fn committer(&self) -> Box<dyn SinkCommitter> {
        self.connector().open_committer(&self.table, &self.owner).unwrap()
    }

    /// The visible files with their text, and the names of the others.
    fn files(&self) -> (Vec<String>, Vec<String>) {
        let entries = self.fs.list(Path::new("out")).unwrap();
        let text = |path: &Path| String::from_utf8(self.fs.read(path).unwrap()).unwrap();
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let (hidden, visible): (Vec<_>, Vec<_>) = entries.iter().partition(|e| name(&e.path).starts_with('.'));
        let visible = visible.iter().map(|e| format!("{}: {}", name(&e.path), text(&e.path).trim_end()));
        (visible.collect(), hidden.iter().map(|e| name(&e.path)).collect())
    }
}

fn row(text: &str) -> ChangeBatch {
    let column: ArrayRef = Arc::new(StringArray::from(vec![text]));
    ChangeBatch::insert_only(RecordBatch::try_from_iter([("a", column)]).unwrap())
}

#[test]
fn a_file_is_seen_when_it_is_committed_and_that_can_be_repeated() {
    let written = Written::new();
    let mut writer = written.writer(0);
    assert_eq!(writer.prepare().unwrap(), None, "no rows, no file");
    writer.write(&row("1")).unwrap();
    writer.flush().unwrap();
    let first = writer.prepare().unwrap().unwrap();
    writer.write(&row("2")).unwrap();
    let second = writer.prepare().unwrap().unwrap();
    let pending = |number: usize| format!(".part-0-{number}.csv.mine.pending");
    assert_eq!(written.files(), (vec![], vec![pending(0), pending(1)]));
    for _ in 0..2 {
        written.committer().commit(&first).unwrap();
        assert_eq!(written.files(), (vec!["part-0-0.csv: 1".into()], vec![pending(1)]));
    }
    written.committer().commit(&second).unwrap();
    assert_eq!(written.files().0, ["part-0-0.csv: 1", "part-0-1.csv: 2"]);
    // Whoever reads the directory may take the files away: they have been published.
    written.fs.remove_file(Path::new("out/part-0-0.csv")).unwrap();
    written.committer().commit(&first).unwrap();
    assert_eq!(written.files().0, ["part-0-1.csv: 2"]);
}

#[test]
fn what_a_crashed_run_has_left_goes_and_what_is_not_its_own_stays() {
    let written = Written::new();
    let others = written.of_another_job();
    for subtask in 0..2 {
        let mut writer = written.writer(subtask);
        writer.write(&row("lost")).unwrap();
        writer.prepare().unwrap();
    }
    let mut other = others.writer(0);
    other.write(&row("theirs")).unwrap();
    let token = other.prepare().unwrap().unwrap();
    written.committer().discard_leftovers().unwrap();
    assert_eq!(written.files().1, [".part-0-1.csv.theirs.pending"]);
    others.committer().commit(&token).unwrap();
    assert_eq!(written.files(), (vec!["part-0-1.csv: theirs".into()], vec![]));
    Written::new().committer().discard_leftovers().unwrap();
}

#[test]
fn a_file_of_another_job_is_not_overwritten() {
    let written = Written::new();
    let mut writer = written.writer(0);
    writer.write(&row("mine")).unwrap();
    let token = writer.prepare().unwrap().unwrap();
    written.fs.write_new(Path::new("out/part-0-0.csv"), b"theirs").unwrap();
    for _ in 0..2 {
        written.committer().commit(&token).unwrap();
        assert_eq!(written.files().0, ["part-0-0-2.csv: mine", "part-0-0.csv: theirs"]);
    }
}

#[test]
fn a_writer_that_is_dropped_takes_its_unfinished_file_along() {
    let written = Written::new();
    let mut writer = written.writer(0);
    writer.write(&row("1")).unwrap();
    drop(writer);
    assert_eq!(written.files(), (vec![], vec![]));
    let mut writer = written.writer(1);
    writer.write(&row("2")).unwrap();
    writer.finish().unwrap();
    assert_eq!(
        written.files(),
        (vec!["part-1-0.csv: 2".into()], vec![]),
        "without a checkpoint it is published at its end"
    );
}
