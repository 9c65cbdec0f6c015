//! Random draws that are the same on every machine: integers only, no floating-point library.

use transect_stats::SplitMix64;

/// The generator of a tree. The order of draws determines the tree.
#[derive(Clone, Debug)]
pub(super) struct Random(SplitMix64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub(super) fn draw(&mut self) -> u64 {
        self.0.bits()
    }

    /// Returns a number below `end`. For small `end`, the bias of the remainder is negligible.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }

    pub(super) fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    pub(super) fn pick(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len() as u64) as usize]
    }
}

/// A distribution as a table of quantiles: ranks in millionths and their values.
///
/// One draw selects the interval of the table, another the position within it.
pub(super) struct Quantiles(pub(super) &'static [(u64, u64)]);

/// File lengths in bytes: close to a log-normal distribution around 4 KiB with a sigma of 2.4, like the
/// files of a home directory. The mean is about 80 KiB; one file in a thousand is larger than 6.8 MB, one
/// in a million larger than 370 MB, none larger than 4 GB, the limit of FAT32.
pub(super) const LENGTHS: Quantiles = Quantiles(&[
    (0, 1),
    (1_000, 2),
    (10_000, 15),
    (25_000, 37),
    (50_000, 79),
    (100_000, 190),
    (200_000, 540),
    (300_000, 1_200),
    (400_000, 2_200),
    (500_000, 4_096),
    (600_000, 7_500),
    (700_000, 14_000),
    (800_000, 31_000),
    (850_000, 49_000),
    (900_000, 89_000),
    (930_000, 140_000),
    (950_000, 210_000),
    (970_000, 370_000),
    (980_000, 570_000),
    (990_000, 1_100_000),
    (995_000, 2_000_000),
    (998_000, 4_100_000),
    (999_000, 6_800_000),
    (999_500, 11_000_000),
    (999_900, 31_000_000),
    (999_990, 110_000_000),
    (999_999, 370_000_000),
    (1_000_000, 4_000_000_000),
]);

/// Relative number of files in a directory: close to a log-normal distribution around 1,000 with a sigma
/// of 1.1. One directory in a hundred has thirteen times the median.
pub(super) const SHARES: Quantiles = Quantiles(&[
    (0, 1),
    (1_000, 33),
    (10_000, 77),
    (50_000, 160),
    (100_000, 240),
    (200_000, 400),
    (300_000, 560),
    (400_000, 760),
    (500_000, 1_000),
    (600_000, 1_300),
    (700_000, 1_800),
    (800_000, 2_500),
    (900_000, 4_100),
    (950_000, 6_100),
    (980_000, 9_600),
    (990_000, 13_000),
    (998_000, 24_000),
    (999_000, 30_000),
    (999_900, 60_000),
    (999_990, 110_000),
    (1_000_000, 300_000),
]);

impl Quantiles {
    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        let rank = random.below(1_000_000);
        let above = self.0.partition_point(|&(upto, _)| upto <= rank);
        let ((_, low), (_, high)) = (self.0[above - 1], self.0[above]);
        low + random.below(high - low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_match_published_generator() {
        let mut random = Random::new(1_234_567);
        let first = [random.draw(), random.draw(), random.draw()];
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first, published);
    }

    #[test]
    fn quantile_tables_cover_all_ranks_and_rise() {
        for Quantiles(table) in [LENGTHS, SHARES] {
            assert_eq!(table.first().unwrap().0, 0);
            assert_eq!(table.last().unwrap().0, 1_000_000);
            for pair in table.windows(2) {
                assert!(pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1, "{pair:?}");
            }
        }
    }

    #[test]
    fn half_of_draws_below_median() {
        let mut random = Random::new(1);
        let below = (0..100_000).filter(|_| LENGTHS.draw(&mut random) < 4096).count();
        assert!((49_000..51_000).contains(&below), "{below}");
    }
}
