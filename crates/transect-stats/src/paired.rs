//! Compares two cells round by round.
//!
//! A machine drifts during a session: it warms up, its disk fills, other guests start working. Both
//! samples of a round are taken within a short time, in shuffled order, so drift affects both alike and
//! cancels in their ratio.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::random::SplitMix64;
use super::samples::{are_positive, median_deviation, median_of_sorted, sorted};
use super::significance::sign_flip_p;

/// Bootstrap resamples per interval: enough that another seed moves its ends by less than the distance
/// between neighbouring ratios.
const RESAMPLES: usize = 10_000;

/// Resamples cut off at each end: 2.5 % of [`RESAMPLES`].
const TAIL: usize = RESAMPLES / 40;

/// The ratios `other / base` of the rounds that have both. Below 1, the other took less time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratios {
    /// Number of rounds that have both samples.
    pub n: usize,
    /// The median of the rounds' ratios. (Not the ratio of the medians, which may come from different
    /// rounds.)
    pub median: f64,
    /// Lower end of the 95 % interval of that median.
    pub low: f64,
    /// Upper end of the 95 % interval of that median.
    pub high: f64,
    /// Median absolute deviation of the ratios from their median, unscaled.
    pub mad: f64,
    /// Two-sided p-value, not corrected for other cells ([`sign_flip_p`] of the log ratios).
    pub p: f64,
    /// Seed of the resamples.
    pub seed: u64,
}

impl Ratios {
    /// Compares two cells by the rounds that have a sample of both, each a pair `(base, other)` in the
    /// same unit. The caller leaves out rounds that lack a sample, and counts them.
    ///
    /// The interval is a percentile bootstrap: n of the n ratios are drawn with replacement,
    /// 10,000 times, and the middle 95 % of the medians are kept. It assumes nothing about the
    /// shape of the noise. It is never wider than the range of the samples, so with fewer than five
    /// rounds it is meaningless, and [`judge`](super::judge) ignores it. The order of the rounds does
    /// not matter.
    ///
    /// `None` if there are no rounds; a sample is NaN, infinite, negative or zero; or a ratio overflows or
    /// underflows.
    #[must_use]
    pub fn paired(rounds: &[(f64, f64)], seed: u64) -> Option<Self> {
        let ratio = |&(base, other): &(f64, f64)| {
            // A subnormal ratio is refused: its logarithm is not precise.
            let ratio = other / base;
            (are_positive(&[base, other]) && ratio.is_normal()).then_some(ratio)
        };
        let sorted = sorted(&rounds.iter().map(ratio).collect::<Option<Vec<f64>>>()?);
        let median = median_of_sorted(&sorted)?;
        let mad = median_deviation(&sorted, median)?;
        let (mut random, mut counts) = (SplitMix64::new(seed), vec![0; sorted.len()]);
        let (low, high) = interval(median, || resampled_median(&sorted, &mut counts, &mut random));
        let logs: Vec<f64> = sorted.iter().copied().map(libm::log).collect();
        let p = sign_flip_p(&logs, seed);
        Some(Self { n: sorted.len(), median, low, high, mad, p, seed })
    }
}

/// Formats the median and its interval: `1.52 (1.49 to 1.60)`.
impl fmt::Display for Ratios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, median, low, high, .. } = self;
        write!(f, "{median:.2}")?;
        // One round has no interval.
        if *n > 1 { write!(f, " ({low:.2} to {high:.2})") } else { Ok(()) }
    }
}

/// Returns the middle 95 % of what `resample` returns when it is called [`RESAMPLES`] times, extended to
/// contain the median of the samples themselves.
pub(crate) fn interval(median: f64, resample: impl FnMut() -> f64) -> (f64, f64) {
    let mut medians: Vec<f64> = std::iter::repeat_with(resample).take(RESAMPLES).collect();
    medians.sort_by(f64::total_cmp);
    (medians[TAIL].min(median), medians[RESAMPLES - 1 - TAIL].max(median))
}

/// Returns the median of one resample. As `sorted` is sorted, counting how often each sample is drawn is
/// enough; nothing is sorted again. `counts` is scratch space.
pub(crate) fn resampled_median(
    sorted: &[f64],
    counts: &mut [usize],
    random: &mut SplitMix64,
) -> f64 {
    let n = sorted.len();
    counts.fill(0);
    for _ in 0..n {
        counts[random.below(n)] += 1;
    }
    let upper = index_at_rank(counts, n / 2);
    let lower = if n % 2 == 1 { upper } else { index_at_rank(counts, n / 2 - 1) };
    f64::midpoint(sorted[lower], sorted[upper])
}

/// Returns the index of the sample at position `rank` of the resample.
fn index_at_rank(counts: &[usize], rank: usize) -> usize {
    let mut drawn = 0;
    let behind = |count: &usize| {
        drawn += count;
        drawn <= rank
    };
    counts.iter().copied().take_while(behind).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rounds(ratios: &[f64]) -> Vec<(f64, f64)> {
        ratios.iter().enumerate().map(|(at, r)| (1e9 + at as f64, r * (1e9 + at as f64))).collect()
    }

    #[test]
    fn interval_of_five_rounds_spans_all_ratios() {
        let ratios = Ratios::paired(&rounds(&[0.9, 0.88, 0.91, 0.95, 0.86]), 1).unwrap();
        assert_eq!(ratios.n, 5);
        // With five rounds, more than 2.5 % of the resamples contain the smallest ratio three times.
        assert!((ratios.low - 0.86).abs() < 1e-9 && (ratios.high - 0.95).abs() < 1e-9);
        assert!((ratios.median - 0.9).abs() < 1e-9 && (ratios.mad - 0.02).abs() < 1e-9);
        assert_eq!(ratios.p, 0.0625);
    }

    #[test]
    fn identical_samples_ratio_one_zero_width() {
        let ratios = Ratios::paired(&[(5.0, 5.0); 9], 1).unwrap();
        assert_eq!((ratios.low, ratios.median, ratios.high), (1.0, 1.0, 1.0));
        assert_eq!((ratios.mad, ratios.p), (0.0, 1.0));
    }

    #[test]
    fn index_at_rank_counts_repeated_draws() {
        let places: Vec<usize> = (0..4).map(|rank| index_at_rank(&[0, 2, 0, 1, 1], rank)).collect();
        assert_eq!(places, [1, 1, 3, 4]);
    }

    #[test]
    fn interval_of_one_round_is_its_ratio() {
        let ratios = Ratios::paired(&[(4.0, 2.0)], 1).unwrap();
        assert_eq!((ratios.low, ratios.median, ratios.high), (0.5, 0.5, 0.5));
        assert_eq!(ratios.p, 1.0);
    }

    #[test]
    fn invalid_round_refused() {
        for invalid in [
            &[][..],
            &[(1.0, 1.0), (0.0, 1.0)],
            &[(1.0, 0.0)],
            &[(-1.0, 1.0)],
            &[(1.0, f64::NAN)],
            &[(f64::INFINITY, 1.0)],
            &[(1e-300, 1e300)],
            &[(1e300, 1e-300)],
        ] {
            assert_eq!(Ratios::paired(invalid, 1), None, "{invalid:?}");
        }
    }

    #[test]
    fn same_seed_same_result_in_any_order() {
        let samples = rounds(&[0.9, 0.88, 0.97, 0.95, 0.86, 1.02, 0.93, 0.91]);
        let once = Ratios::paired(&samples, 42).unwrap();
        assert_eq!(once, Ratios::paired(&samples, 42).unwrap());
        assert_eq!(once.seed, 42);
        let mut reversed = samples.clone();
        reversed.reverse();
        assert_eq!(
            once,
            Ratios::paired(&reversed, 42).unwrap(),
            "the order of rounds does not matter"
        );
    }

    #[test]
    fn another_seed_nearly_the_same_interval() {
        let samples: Vec<f64> = (0..20_u8).map(|at| 0.9 + 0.005 * f64::from(at)).collect();
        let (a, b) = (
            Ratios::paired(&rounds(&samples), 1).unwrap(),
            Ratios::paired(&rounds(&samples), 2).unwrap(),
        );
        assert!((a.low - b.low).abs() <= 0.005 && (a.high - b.high).abs() <= 0.005);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn interval_within_ratios_contains_median(
            samples in prop::collection::vec((1e3..1e9_f64, 1e3..1e9_f64), 1..24),
        ) {
            let ratios = Ratios::paired(&samples, 9).unwrap();
            let each = samples.iter().map(|(base, other)| other / base);
            let (least, most) = each.fold((f64::MAX, 0.0_f64), |(a, b), r| (a.min(r), b.max(r)));
            prop_assert!(least <= ratios.low && ratios.low <= ratios.median);
            prop_assert!(ratios.median <= ratios.high && ratios.high <= most);
        }
    }
}
