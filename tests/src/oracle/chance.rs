//! Random choices from a seed: the same on every machine.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// A source of choices.
pub struct Chance {
    rng: ChaCha8Rng,
}

impl Chance {
    /// The choices that follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.abs_diff(low) + 1;
        low + i64::try_from(self.rng.next_u64() % span).expect("a span of test values fits")
    }

    /// True about `percent` times in a hundred.
    pub fn percent(&mut self, percent: i64) -> bool {
        self.between(1, 100) <= percent
    }

    /// One of several.
    pub fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        let last = i64::try_from(items.len()).expect("a short list") - 1;
        items[usize::try_from(self.between(0, last)).expect("not negative")].clone()
    }

    /// Some of several, in their order.
    pub fn some<T: Clone>(&mut self, items: &[T], percent: i64) -> Vec<T> {
        items.iter().filter(|_| self.percent(percent)).cloned().collect()
    }
}
