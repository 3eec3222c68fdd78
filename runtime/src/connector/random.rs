//! Random numbers by position: the k-th value of a stream depends on the seed, the stream and k alone, so a
//! generator can begin anywhere, leave columns out, and give the same rows again.

/// The streams of one seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    key: u64,
}

impl Stream {
    /// Stream number `stream` of `seed`.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self { key: mix(mix(seed).wrapping_add(stream)) }
    }

    /// The value at `position`.
    pub fn at(&self, position: u64) -> Draws {
        Draws { state: self.key ^ mix(position.wrapping_add(self.key)) }
    }
}

/// Random numbers for one value.
pub(super) struct Draws {
    state: u64,
}

impl Draws {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// From 0 to below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: i128, high: i128) -> i128 {
        let span = high.wrapping_sub(low).cast_unsigned();
        let offset = match u64::try_from(span).ok().and_then(|span| span.checked_add(1)) {
            Some(count) => u128::from(self.below(count)),
            None => (u128::from(self.bits()) << 64 | u128::from(self.bits())) % span.saturating_add(1),
        };
        low.wrapping_add(offset.cast_signed())
    }

    /// From 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Appends `length` characters of `alphabet`, which has at most 256.
    pub fn text(&mut self, alphabet: &[u8], length: usize, out: &mut Vec<u8>) {
        let end = out.len() + length;
        while out.len() < end {
            let bits = self.bits();
            for shift in (0..64).step_by(16).take(end - out.len()) {
                let index = (((bits >> shift) & 0xFFFF) as usize * alphabet.len()) >> 16;
                out.push(alphabet[index]);
            }
        }
    }
}

/// 2^64 divided by the golden ratio, odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_position_gives_the_same_numbers() {
        let (a, b) = (Stream::new(7, 1), Stream::new(7, 2));
        assert_eq!(a.at(5).bits(), Stream::new(7, 1).at(5).bits());
        assert_ne!(a.at(5).bits(), a.at(6).bits());
        assert_ne!(a.at(5).bits(), b.at(5).bits());
        assert_ne!(a.at(5).bits(), Stream::new(8, 1).at(5).bits());
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let stream = Stream::new(0, 0);
        let mut counts = [0; 10];
        (0..10_000).for_each(|i| counts[stream.at(i).below(10) as usize] += 1);
        assert!(counts.iter().all(|c| (900..1_100).contains(c)), "{counts:?}");
        let mean = (0..10_000).map(|i| stream.at(i).unit()).sum::<f64>() / 10_000.0;
        assert!((0.49..0.51).contains(&mean), "{mean}");
    }

    #[test]
    fn bounds_are_kept() {
        let stream = Stream::new(0, 0);
        for i in 0..1_000 {
            assert!((-3..=3).contains(&stream.at(i).between(-3, 3)));
            let wide = stream.at(i).between(i128::from(i64::MIN), i128::from(i64::MAX));
            assert!(i64::try_from(wide).is_ok());
        }
        let mut text = vec![];
        stream.at(0).text(b"ab", 7, &mut text);
        assert_eq!(text.len(), 7);
        assert!(text.iter().all(|c| b"ab".contains(c)));
    }
}
