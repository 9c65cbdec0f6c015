//! P-values of paired samples, and their correction for many cells.

use super::random::SplitMix64;
use super::samples::{median_of_sorted, sorted};

/// Up to this number of rounds the test is exact: all 2¹⁵ sign patterns are tried (flipping every sign
/// changes nothing).
pub const EXACT_UP_TO: usize = 16;

/// Random sign patterns for more rounds. The smallest p is then 1 / 100,001: small enough for a verdict
/// among up to 5,000 cells.
pub const FLIPS: u32 = 100_000;

/// Largest weight of a round, in multiples of the median weight.
const CLIP: f64 = 1.5;

/// Returns the two-sided p-value of a sign-flip test on log ratios. It is exact up to [`EXACT_UP_TO`]
/// rounds; above that it uses [`FLIPS`] patterns drawn from `seed`, plus the observed one, so p is never
/// 0.
///
/// If two methods are equally fast, it is chance which of them is slower in a round, so every log ratio
/// could as well have the other sign. p is the share of all sign patterns whose sum is at least as far
/// from 0 as the observed sum. The test assumes that rounds are independent; it assumes nothing about
/// their order or the shape of the noise.
///
/// The logs are clipped to 1.5 times their median size. Sizes do not depend on signs, so the test stays
/// exact, and one disturbed run, eight times as long as the others, does not outweigh nine that agree.
/// Rounds without a difference have weight 0. The smallest p of n rounds, all on one side, is 2 / 2ⁿ.
///
/// Returns 1 if there are no log ratios or one is not finite.
#[must_use]
pub fn sign_flip_p(log_ratios: &[f64], seed: u64) -> f64 {
    let Some(weights) = weights(log_ratios) else {
        return 1.0;
    };
    let total: f64 = weights.iter().sum();
    let observed = log_ratios.iter().zip(&weights).map(|(log, w)| w * log.signum()).sum::<f64>();
    // Sums of the same weights in another order differ in their last digits; treat them as equal.
    let reached = observed.abs() - 1e-9 * total;
    if weights.len() <= EXACT_UP_TO {
        exact(&weights, total, reached)
    } else {
        drawn(&weights, total, reached, &mut SplitMix64::new(seed))
    }
}

/// Returns the weight of each round; `None` if the log ratios allow no test.
fn weights(log_ratios: &[f64]) -> Option<Vec<f64>> {
    if !log_ratios.iter().all(|log| log.is_finite()) {
        return None;
    }
    let sizes: Vec<f64> = log_ratios.iter().map(|log| log.abs()).collect();
    let others: Vec<f64> = sizes.iter().copied().filter(|&size| size > 0.0).collect();
    let clip = CLIP * median_of_sorted(&sorted(&others))?;
    Some(sizes.into_iter().map(|size| size.min(clip)).collect())
}

/// Tries every pattern. The first sign is fixed, as a pattern and its mirror image are equally far from
/// 0.
fn exact(weights: &[f64], total: f64, reached: f64) -> f64 {
    let patterns = 1_u32 << (weights.len() - 1);
    let sums = sums_by_byte(&weights[1..]);
    let as_far = (0..patterns)
        .filter(|&pattern| (total - 2.0 * flipped(&sums, u64::from(pattern))).abs() >= reached);
    as_far.count() as f64 / f64::from(patterns)
}

fn drawn(weights: &[f64], total: f64, reached: f64, random: &mut SplitMix64) -> f64 {
    let sums = sums_by_byte(weights);
    let as_far = (0..FLIPS).filter(|_| {
        let flipped: f64 = sums.chunks(8).map(|some| flipped(some, random.bits())).sum();
        (total - 2.0 * flipped).abs() >= reached
    });
    (as_far.count() + 1) as f64 / f64::from(FLIPS + 1)
}

/// Returns the sums of all 256 patterns for each group of eight weights. Looking sums up by byte makes
/// a hundred thousand patterns fast.
fn sums_by_byte(weights: &[f64]) -> Vec<[f64; 256]> {
    let mut sums = Vec::with_capacity(weights.len().div_ceil(8));
    for eight in weights.chunks(8) {
        let mut by_pattern = [0.0; 256];
        for pattern in 1..256_usize {
            let lowest = pattern.trailing_zeros() as usize;
            let weight = eight.get(lowest).copied().unwrap_or(0.0);
            by_pattern[pattern] = by_pattern[pattern & (pattern - 1)] + weight;
        }
        sums.push(by_pattern);
    }
    sums
}

/// Returns the sum of the weights whose bit is set, of up to 64.
fn flipped(sums: &[[f64; 256]], pattern: u64) -> f64 {
    sums.iter().zip(pattern.to_le_bytes()).map(|(sums, byte)| sums[usize::from(byte)]).sum()
}

/// Corrects p-values for their number (Holm 1979) and returns them in the same order.
///
/// Without it, five of a hundred equal cells would pass 0.05 by chance. With it, the probability that
/// any cell at or below 0.05 is a false positive is at most 5 %.
///
/// A value outside `0.0..=1.0` counts as 1.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let p = |at: usize| Some(p_values[at]).filter(|p| (0.0..=1.0).contains(p)).unwrap_or(1.0);
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p(a).total_cmp(&p(b)));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &at) in order.iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        // Keep the order: a larger p never gets a smaller corrected value.
        largest = largest.max((left * p(at)).min(1.0));
        adjusted[at] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn unanimous_rounds_have_the_smallest_p() {
        for n in 1..=EXACT_UP_TO {
            let logs: Vec<f64> = (1..=n).map(|at| -0.01 * at as f64).collect();
            assert_eq!(sign_flip_p(&logs, 0), 2.0 / f64::from(1_u32 << n), "n = {n}");
        }
    }

    #[test]
    fn p_of_three_rounds_matches_hand_count() {
        // The sign patterns of 3, 2, 1 sum to 6, 4, 2, 0 and their mirror images; two of four are at
        // least 4, the observed sum. The clip (1.5 × 2) changes nothing here.
        assert_eq!(sign_flip_p(&[3.0, 2.0, -1.0], 0), 0.5);
    }

    #[test]
    fn p_without_evidence_is_one() {
        assert_eq!(sign_flip_p(&[], 0), 1.0);
        assert_eq!(sign_flip_p(&[0.0; 8], 0), 1.0);
        assert_eq!(sign_flip_p(&[0.1, f64::NAN], 0), 1.0);
        assert_eq!(sign_flip_p(&[0.1, -0.1], 0), 1.0);
        assert_eq!(sign_flip_p(&[0.0; 40], 0), 1.0);
    }

    #[test]
    fn one_disturbed_round_does_not_outweigh_nine() {
        let mut logs: Vec<f64> = (0..9).map(|at| -0.1 - 0.001 * f64::from(at)).collect();
        logs.push(8.0_f64.ln());
        assert!(sign_flip_p(&logs, 0) < 0.03);
    }

    #[test]
    fn drawn_patterns_agree_with_exact_test() {
        let logs: Vec<f64> = (0..14_u32).map(|at| f64::from((at * 37 + 11) % 23) - 8.5).collect();
        let weights = weights(&logs).unwrap();
        let total: f64 = weights.iter().sum();
        for reached in [0.1, 0.3, 0.5, 0.8].map(|share| share * total) {
            let (all, some) = (
                exact(&weights, total, reached),
                drawn(&weights, total, reached, &mut SplitMix64::new(3)),
            );
            assert!((all - some).abs() < 0.01, "{all} and {some}");
        }
    }

    #[test]
    fn p_of_many_rounds_reproducible_and_above_zero() {
        let logs = [-0.1; 100];
        assert_eq!(sign_flip_p(&logs, 7), sign_flip_p(&logs, 7));
        assert_eq!(sign_flip_p(&logs, 7), 1.0 / 100_001.0);
    }

    #[test]
    fn holm_matches_textbook_example() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (got, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert!(holm(&[]).is_empty());
        assert_eq!(holm(&[0.03]), [0.03], "one cell needs no correction");
        assert_eq!(holm(&[0.6, 0.9]), [1.0, 1.0]);
        assert_eq!(holm(&[f64::NAN, 0.02]), [1.0, 0.04]);
    }

    proptest! {
        #[test]
        fn holm_never_lowers_p_and_keeps_order(
            p in prop::collection::vec(0.0..=1.0_f64, 0..20),
        ) {
            let adjusted = holm(&p);
            for a in 0..p.len() {
                prop_assert!(adjusted[a] >= p[a] && adjusted[a] <= 1.0);
                for b in 0..p.len() {
                    prop_assert!(p[a] > p[b] || adjusted[a] <= adjusted[b]);
                }
            }
        }

        #[test]
        fn p_independent_of_order_and_direction(
            logs in prop::collection::vec(-1.0..1.0_f64, 1..10),
        ) {
            let p = sign_flip_p(&logs, 0);
            let turned: Vec<f64> = logs.iter().rev().map(|log| -log).collect();
            prop_assert!(p > 0.0 && p <= 1.0);
            prop_assert!((p - sign_flip_p(&turned, 0)).abs() < 1e-12);
        }
    }
}
