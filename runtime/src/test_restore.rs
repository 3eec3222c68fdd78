//! One test for all operators: what goes on from a snapshot does what would have been done without it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow::util::display::{ArrayFormatter, FormatOptions};
use tidemark_state::fs::{FileSystem, MemoryFs};
use tidemark_state::key_group::key_group_range;
use tidemark_state::rescale::{StateShare, merge_snapshots};
use tidemark_state::snapshot::OperatorSnapshot;
use tidemark_state::snapshot_file::{SnapshotFile, encode_snapshot_file};

use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::exchange::partition::Partitioner;
use crate::metrics::OperatorMetrics;
use crate::operator::{Operator, OperatorContext, Output};

const MAX_PARALLELISM: u32 = 16;

/// What an operator takes.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Rows(ChangeBatch),
    /// Rows of an input other than the first.
    RowsOf(usize, ChangeBatch),
    Watermark(i64),
    /// Processing time has come so far.
    Time(i64),
}

/// An operator under test.
pub(crate) struct Subject<F> {
    /// Makes one that has not been opened.
    pub(crate) create: F,
    /// The columns by which rows are spread over subtasks, in every input; none when there is a single one.
    pub(crate) keys: Vec<usize>,
}

impl<O: Operator + 'static, F: Fn() -> O> Subject<F> {
    /// Takes a snapshot after `cut` of the steps, in an operator of `old` subtasks, and compares four runs: one that
    /// never stops; one that takes the snapshot and goes on; one of as many subtasks that is restored; and one of
    /// `new` subtasks. The first three must emit the same in the same order, the last the same relation.
    pub(crate) fn check(&self, steps: &[Step], cut: usize, old: usize, new: usize) {
        let straight = self.run(old, steps);
        let (first, second) = steps.split_at(cut);

        let mut stopped = Subtasks::open(self, old);
        stopped.take_all(first);
        let files = stopped.snapshot();
        let (until_cut, told_until_cut) = (stopped.emitted.clone(), stopped.told);
        stopped.take_all(second);
        stopped.finish();
        assert_eq!(stopped.emitted, straight.emitted, "a snapshot changes nothing");

        for parallelism in [old, new] {
            let mut restored = Subtasks::open(self, parallelism);
            restored.emitted = until_cut.clone();
            restored.now_ms = time_after(first);
            restored.restore(&files);
            restored.repeat_watermark(first);
            restored.take_all(second);
            restored.finish();
            assert_eq!(restored.told.max(told_until_cut), straight.told, "the watermark");
            assert_eq!(fold(&restored.emitted), fold(&straight.emitted), "{old} subtasks to {parallelism}");
            if parallelism == old {
                assert_eq!(restored.emitted, straight.emitted, "the order of {old} subtasks");
            }
        }
        assert_eq!(fold(&straight.emitted), fold(&self.run(new, steps).emitted), "parallelism does not matter");
    }

    fn run(&self, parallelism: usize, steps: &[Step]) -> Subtasks {
        let mut subtasks = Subtasks::open(self, parallelism);
        subtasks.take_all(steps);
        subtasks.finish();
        subtasks
    }
}

/// The operator's subtasks, and what each has emitted, a line a row.
struct Subtasks {
    operators: Vec<Box<dyn Operator>>,
    partitioner: Partitioner,
    emitted: Vec<String>,
    /// The largest watermark that was derived from rows.
    told: i64,
    now_ms: i64,
}

impl Subtasks {
    fn open<O: Operator + 'static, F: Fn() -> O>(subject: &Subject<F>, parallelism: usize) -> Self {
        assert!(parallelism == 1 || !subject.keys.is_empty(), "rows are spread by keys");
        let open = |subtask| {
            let mut operator: Box<dyn Operator> = Box::new((subject.create)());
            let ctx = OperatorContext {
                batch_size: 5,
                metrics: Arc::new(OperatorMetrics::new("operator-1")),
                max_parallelism: MAX_PARALLELISM,
                key_groups: key_group_range(subtask, parallelism, MAX_PARALLELISM),
            };
            operator.open(&ctx).unwrap();
            operator
        };
        Self {
            operators: (0..parallelism).map(open).collect(),
            partitioner: Partitioner::new(subject.keys.clone(), parallelism, MAX_PARALLELISM),
            emitted: Vec::new(),
            told: i64::MIN,
            now_ms: 0,
        }
    }

    fn take_all(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Rows(batch) => self.take_rows(0, batch.clone()),
                Step::RowsOf(input, batch) => self.take_rows(*input, batch.clone()),
                Step::Watermark(watermark) => self.advance(*watermark),
                Step::Time(now_ms) => self.fire_timers(*now_ms),
            }
        }
    }

    fn take_rows(&mut self, input: usize, batch: ChangeBatch) {
        let mut parts = Vec::new();
        self.partitioner.split(batch, |subtask, rows| parts.push((subtask, rows))).unwrap();
        let now_ms = self.now_ms;
        for (subtask, rows) in parts {
            self.call(subtask, |operator, out| operator.process(input, rows, now_ms, out).unwrap());
        }
    }

    fn advance(&mut self, watermark: i64) {
        for subtask in 0..self.operators.len() {
            self.call(subtask, |operator, out| {
                let given = operator.on_watermark(Watermark(watermark), out).unwrap();
                assert!(given <= Watermark(watermark), "no watermark is given beyond the one that is taken");
                assert!(watermark < i64::MAX || given == Watermark::MAX, "nothing is held back at the end");
            });
        }
    }

    fn fire_timers(&mut self, now_ms: i64) {
        self.now_ms = now_ms;
        for subtask in 0..self.operators.len() {
            if self.operators[subtask].next_timer_ms().is_some_and(|at| at <= now_ms) {
                self.call(subtask, |operator, out| operator.on_processing_time(now_ms, out).unwrap());
            }
        }
    }

    fn finish(&mut self) {
        self.advance(i64::MAX);
        for subtask in 0..self.operators.len() {
            self.call(subtask, |operator, out| operator.finish(out).unwrap());
        }
    }

    fn call(&mut self, subtask: usize, call: impl FnOnce(&mut dyn Operator, &mut Output)) {
        let mut out = Output::default();
        call(self.operators[subtask].as_mut(), &mut out);
        out.drain().for_each(|batch| show(&batch, &mut self.emitted));
        self.told = out.take_watermark().map_or(self.told, |told| told.0.max(self.told));
    }

    /// The state of each subtask, as a file. Asserts what the contract says of a snapshot.
    fn snapshot(&mut self) -> Vec<SnapshotFile> {
        let parallelism = self.operators.len();
        let fs: Arc<dyn FileSystem> = Arc::new(MemoryFs::default());
        fs.create_dir_all(Path::new("chk")).unwrap();
        let write = |(subtask, operator): (usize, &mut Box<dyn Operator>)| {
            let snapshot = operator.snapshot().unwrap();
            assert_eq!(operator.snapshot().unwrap(), snapshot, "a snapshot changes nothing");
            let share = StateShare::of(subtask, parallelism, MAX_PARALLELISM);
            check_contract(operator.as_ref(), &snapshot, &share);
            let path = Path::new("chk").join(subtask.to_string());
            fs.write_new(&path, &encode_snapshot_file(&[("operator-1".to_owned(), snapshot)]).unwrap()).unwrap();
            SnapshotFile::open(Arc::clone(&fs), &path).unwrap()
        };
        self.operators.iter_mut().enumerate().map(write).collect()
    }

    fn restore(&mut self, files: &[SnapshotFile]) {
        let parallelism = self.operators.len();
        for (subtask, operator) in self.operators.iter_mut().enumerate() {
            let share = StateShare::of(subtask, parallelism, MAX_PARALLELISM);
            let old = files.iter().map(|file| file.read("operator-1", &share).unwrap().unwrap());
            operator.restore(&merge_snapshots(old, &share).unwrap()).unwrap();
        }
    }

    /// Watermarks begin anew, from behind what the operator knows.
    fn repeat_watermark(&mut self, steps: &[Step]) {
        let last = steps.iter().rev().find_map(|step| match step {
            Step::Watermark(watermark) => Some(*watermark),
            _ => None,
        });
        if let Some(last) = last {
            let emitted = self.emitted.len();
            self.advance(last - 7);
            self.advance(last);
            assert_eq!(self.emitted.len(), emitted, "a watermark that was there has nothing left to say");
        }
    }
}

fn time_after(steps: &[Step]) -> i64 {
    let time = steps.iter().rev().find_map(|step| match step {
        Step::Time(now_ms) => Some(*now_ms),
        _ => None,
    });
    time.unwrap_or(0)
}

fn check_contract(operator: &dyn Operator, snapshot: &OperatorSnapshot, share: &StateShare) {
    let tables = operator.state_tables();
    assert_eq!(tables.len(), snapshot.tables.len(), "a table for each that was announced");
    for (table, announced) in snapshot.tables.iter().zip(&tables) {
        assert_eq!(
            (&table.name, table.version, &table.schema),
            (&announced.name, announced.version, &announced.schema)
        );
        assert!(table.entries.is_sorted_by_key(|entry| entry.key_group), "entries stand in order of their key groups");
        for entry in &table.entries {
            assert!(
                share.holds(entry.key_group),
                "state of key group {:?} belongs to another subtask",
                entry.key_group
            );
            assert_ne!(entry.rows.num_rows(), 0, "an entry has rows");
        }
    }
}

/// A line for each row: its kind, its values, and the watermark it carries.
fn show(batch: &ChangeBatch, lines: &mut Vec<String>) {
    let options = FormatOptions::new().with_null("NULL");
    let columns = batch.batch.columns();
    let cells: Vec<_> = columns.iter().map(|c| ArrayFormatter::try_new(c.as_ref(), &options).unwrap()).collect();
    for row in 0..batch.num_rows() {
        let values: Vec<String> = cells.iter().map(|cell| cell.value(row).to_string()).collect();
        let met = batch.row_watermarks.as_ref().map_or(String::new(), |met| format!(" met {}", met.value(row)));
        lines.push(format!("{}{}{met}", batch.kind(row).symbol(), values.join("|")));
    }
}

/// How often each row is there once all changes have been applied. No change may take back what is not there.
fn fold(lines: &[String]) -> BTreeMap<&str, u64> {
    let mut relation: BTreeMap<&str, u64> = BTreeMap::new();
    for line in lines {
        let (kind, row) = line.split_at(2);
        let count = relation.entry(row).or_default();
        match kind {
            "+I" | "+U" => *count += 1,
            _ => *count = count.checked_sub(1).expect("a row is taken back that is not there"),
        }
    }
    relation.retain(|_, count| *count > 0);
    relation
}
