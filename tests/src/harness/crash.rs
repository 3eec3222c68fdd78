//! When queries take checkpoints and when they crash, by a seed.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use tidemark_runtime::engine::{CrashPlan, CrashStep};
use tidemark_state::checksum::Xxh3;
use tidemark_state::manifest::CheckpointId;

/// One in so many steps asks for a checkpoint.
const CHECKPOINT_ONE_IN: u64 = 8;
/// One in so many steps is the last, once there is a checkpoint.
const CRASH_ONE_IN: u64 = 16;

/// Asks for checkpoints at random, and crashes at random when there is one.
pub struct RandomCrash(ChaCha8Rng);

impl RandomCrash {
    /// The same for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.0.next_u64().is_multiple_of(count)
    }
}

impl CrashPlan for RandomCrash {
    fn next(&mut self, completed: Option<CheckpointId>) -> CrashStep {
        if completed.is_some() && self.one_in(CRASH_ONE_IN) {
            CrashStep::Crash
        } else if self.one_in(CHECKPOINT_ONE_IN) {
            CrashStep::Checkpoint
        } else {
            CrashStep::GoOn
        }
    }
}

/// The seed of a query in a cell of the matrix: another query crashes elsewhere.
pub fn seed_of(text: &str, cell: super::Cell) -> u64 {
    let hash = Xxh3::of(format!("{cell}\n{text}").as_bytes()).to_string();
    u64::from_str_radix(&hash, 16).expect("a hash is written in hexadecimal digits")
}

#[cfg(test)]
mod tests {
    use tidemark::Session;
    use tidemark::session::Crash;
    use tidemark_parser::parse_script;

    use super::*;

    /// The cells of the matrix would show nothing if their queries ended before they crash.
    #[test]
    fn most_queries_of_a_few_batches_crash() {
        let text = "SELECT n FROM g WHERE n % 2 = 0";
        let mut session = Session::new();
        let table = "CREATE TABLE g (n INT) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence', \
                     'fields.n.start' = '1', 'fields.n.end' = '60')";
        session.execute(table).expect("a table");
        session.set("execution.batch-size", "1").expect("a setting");
        let statement = &parse_script(text).statements[0];
        let mut crashes = 0;
        for seed in 0..50 {
            let crash = Crash { plan: &mut RandomCrash::new(seed), seed, parallelism_after: 3 };
            let query = session.run_with_crash(statement, text, &mut |_| {}, crash).expect("a query").expect("rows");
            crashes += usize::from(query.has_crashed);
            assert_eq!(query.changes.iter().map(|batch| batch.num_rows()).sum::<usize>(), 30, "seed {seed}");
        }
        assert!(crashes >= 40, "{crashes} of 50");
    }
}
