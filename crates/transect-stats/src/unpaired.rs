//! Compares two cells that did not run in the same rounds: those of two sessions.
//!
//! Nothing cancels here. Whatever changed between the sessions (the machine, its load, its disk)
//! affects the ratio as much as the methods do.

use super::paired::{Ratios, interval, resampled_median};
use super::random::SplitMix64;
use super::rank_sum::rank_sum_p;
use super::samples::{are_positive, median_deviation, median_of_sorted, sorted};

impl Ratios {
    /// Compares two cells by independent samples in the same unit. `median` is the ratio of the medians,
    /// `other / base`; `n` the smaller number of samples; `mad` the deviation of the other's samples,
    /// divided by the base's median.
    ///
    /// The interval is a percentile bootstrap, each side resampled by itself. p is that of the rank-sum test
    /// ([`rank_sum_p`]).
    ///
    /// `None` if one side has no samples; a sample is NaN, infinite, negative or zero; or the ratio overflows
    /// or underflows.
    #[must_use]
    pub fn unpaired(base: &[f64], other: &[f64], seed: u64) -> Option<Self> {
        if !(are_positive(base) && are_positive(other)) {
            return None;
        }
        let (base, other) = (sorted(base), sorted(other));
        let (base_median, other_median) = (median_of_sorted(&base)?, median_of_sorted(&other)?);
        let median = Some(other_median / base_median).filter(|median| median.is_normal())?;
        let mad = median_deviation(&other, other_median)? / base_median;
        let mut random = SplitMix64::new(seed);
        let (mut of_base, mut of_other) = (vec![0; base.len()], vec![0; other.len()]);
        let (low, high) = interval(median, || {
            let base = resampled_median(&base, &mut of_base, &mut random);
            resampled_median(&other, &mut of_other, &mut random) / base
        });
        let p = rank_sum_p(&base, &other);
        Some(Self { n: base.len().min(other.len()), median, low, high, mad, p, seed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Verdict, judge};

    /// Returns samples around a middle, within a few percent, unsorted.
    fn around(middle: f64, n: usize) -> Vec<f64> {
        (0..n).map(|at| middle * (1.0 + 0.004 * (((at * 7) % 11) as f64 - 5.0))).collect()
    }

    fn verdict(base: &[f64], other: &[f64]) -> Verdict {
        let ratios = Ratios::unpaired(base, other, 3).unwrap();
        judge(&ratios, ratios.p, 0.03).verdict
    }

    #[test]
    fn unpaired_verdicts_match_known_differences() {
        let base = around(100.0, 20);
        assert_eq!(verdict(&base, &around(80.0, 20)), Verdict::Faster);
        assert_eq!(verdict(&base, &around(130.0, 12)), Verdict::Slower);
        assert_eq!(verdict(&base, &around(100.5, 20)), Verdict::NoDifference);
        // Four samples are too few.
        assert_eq!(verdict(&base, &around(50.0, 4)), Verdict::Undecided);
    }

    #[test]
    fn unpaired_equal_groups_seldom_differ() {
        let mut random = SplitMix64::new(5);
        let mut draw = || (0..12).map(|_| 100.0 + 40.0 * random.unit()).collect::<Vec<f64>>();
        let alarms = (0..60).filter(|_| verdict(&draw(), &draw()).is_difference()).count();
        // One in twenty would be three.
        assert!(alarms <= 7, "{alarms}");
    }

    #[test]
    fn unpaired_p_of_the_smallest_samples() {
        // Of the six ways to split 1, 1, 9, 9 into pairs, two are as extreme as this one.
        let ratios = Ratios::unpaired(&[1.0, 1.0], &[9.0, 9.0], 1).unwrap();
        assert_eq!((ratios.median, ratios.n), (9.0, 2));
        assert!((ratios.p - 1.0 / 3.0).abs() < 0.02, "{}", ratios.p);
        let same = Ratios::unpaired(&[5.0; 7], &[5.0; 9], 1).unwrap();
        assert_eq!((same.low, same.median, same.high, same.p), (1.0, 1.0, 1.0, 1.0));
    }

    #[test]
    fn unpaired_invalid_samples_refused() {
        for (base, other) in
            [(&[][..], &[1.0][..]), (&[1.0], &[]), (&[1.0, 0.0], &[1.0]), (&[1e-300], &[1e300])]
        {
            assert_eq!(Ratios::unpaired(base, other, 1), None, "{base:?} {other:?}");
        }
    }
}
