//! A reproducible random number generator: every draw comes from a recorded seed, so that readers of a
//! session can repeat the arithmetic to the last digit.

/// Sebastiano Vigna's `SplitMix64`: 64 bits of state, every seed equally good.
///
/// It is written out here because a newer version of a library might draw other numbers, and old
/// sessions would then give other results.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// Creates a generator from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a uniform index below `count`; 0 if `count` is 0.
    ///
    /// This is the upper half of a product (Lemire). Its bias is below `count` / 2⁶⁴: far too small to
    /// matter here.
    #[inline]
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }

    /// Returns a number in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        // 53 bits are what a f64 holds without rounding.
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Shuffles items uniformly (Fisher–Yates): the order of the cells in a round.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last + 1);
            items.swap(last, chosen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_matches_published_numbers() {
        let mut random = SplitMix64::new(1_234_567);
        let drawn: Vec<u64> = (0..5).map(|_| random.bits()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn below_is_uniform_and_in_range() {
        let mut random = SplitMix64::new(1);
        let mut met = [0_u32; 7];
        for _ in 0..7_000 {
            met[random.below(7)] += 1;
        }
        assert!(met.iter().all(|&count| (850..1_150).contains(&count)), "{met:?}");
        assert_eq!(random.below(1), 0);
        assert_eq!(random.below(0), 0);
        assert!((0..1_000).map(|_| random.unit()).all(|unit| (0.0..1.0).contains(&unit)));
    }

    #[test]
    fn shuffle_is_a_reproducible_permutation() {
        let order = |seed| {
            let mut order: Vec<u32> = (0..20).collect();
            SplitMix64::new(seed).shuffle(&mut order);
            order
        };
        assert_eq!(order(5), order(5));
        assert_ne!(order(5), order(6));
        let mut sorted = order(5);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<u32>>());
    }
}
