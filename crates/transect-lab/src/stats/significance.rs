//! How often chance alone would have shown as much.

use super::random::SplitMix64;
use super::samples::{median_of_sorted, sorted};

/// Up to so many rounds every pattern of signs is tried: 2¹⁵ of them, since turning all signs
/// round changes nothing.
pub const EXACT_UP_TO: usize = 16;

/// Patterns drawn where there are too many to try all. The smallest p is then 1 / 100,001, so
/// that a cell can be told from chance among up to 5,000 others.
pub const FLIPS: u32 = 100_000;

/// No round weighs more than so many times the median round.
const CLIP: f64 = 1.5;

/// How often chance alone would have shown a difference as large as these log ratios do: the
/// two-sided p of a sign-flip test. Exact up to [`EXACT_UP_TO`] rounds, above that [`FLIPS`]
/// patterns drawn from `seed`, the observed one counted among them, so that p is never 0.
///
/// If two methods are the same, then in every round it is chance which of the two was the slower
/// one, and the log of the ratio could as well have had the other sign. So all signs are tried,
/// and p is the share of patterns whose sum is as far from 0 as the observed one. The order of the
/// rounds and the shape of the noise do not enter; that the rounds are independent of each other
/// does.
///
/// What is summed are the logs, clipped to 1.5 times their median size. Sizes do not depend on
/// signs, so clipping leaves the test exact, and it keeps one run that was disturbed (eight times
/// as long as the others: it happens) from drowning nine that agree. Rounds without any
/// difference weigh nothing: they speak for neither side. The smallest p that n rounds can give,
/// all on one side, is 2 / 2ⁿ.
///
/// Without log ratios, or if one is no finite number, p is 1: nothing is shown.
#[must_use]
pub fn sign_flip_p(log_ratios: &[f64], seed: u64) -> f64 {
    let Some(weights) = weights(log_ratios) else {
        return 1.0;
    };
    let total: f64 = weights.iter().sum();
    let observed = log_ratios.iter().zip(&weights).map(|(log, w)| w * log.signum()).sum::<f64>();
    // Sums of the same weights in another order differ in their last digits, and must still
    // count as equal.
    let reached = observed.abs() - 1e-9 * total;
    if weights.len() <= EXACT_UP_TO {
        exact(&weights, total, reached)
    } else {
        drawn(&weights, total, reached, &mut SplitMix64::new(seed))
    }
}

/// How much every round weighs; `None` if nothing can be concluded from them.
fn weights(log_ratios: &[f64]) -> Option<Vec<f64>> {
    if !log_ratios.iter().all(|log| log.is_finite()) {
        return None;
    }
    let sizes: Vec<f64> = log_ratios.iter().map(|log| log.abs()).collect();
    let others: Vec<f64> = sizes.iter().copied().filter(|&size| size > 0.0).collect();
    let clip = CLIP * median_of_sorted(&sorted(&others))?;
    Some(sizes.into_iter().map(|size| size.min(clip)).collect())
}

/// Tries every pattern. The first sign stays: for every pattern there is its mirror image, which
/// is as far from 0.
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

/// For every eight weights, what each of their 256 patterns adds up to: a hundred thousand
/// patterns are then looked up rather than added up.
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

/// The sum of the weights whose bit is set, of up to 64.
fn flipped(sums: &[[f64; 256]], pattern: u64) -> f64 {
    sums.iter().zip(pattern.to_le_bytes()).map(|(sums, byte)| sums[usize::from(byte)]).sum()
}

/// Corrects p values for how many were asked for (Holm 1979), in the order they came in: among a
/// hundred cells, five would pass 0.05 by chance. If all those whose result is at most 0.05 are
/// believed, the chance that any of them is mere chance is at most 5 %.
///
/// What is no probability counts as 1, the p of nothing being shown.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let p = |at: usize| Some(p_values[at]).filter(|p| (0.0..=1.0).contains(p)).unwrap_or(1.0);
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p(a).total_cmp(&p(b)));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &at) in order.iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        // A cell is not believed before one that is more believable.
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
    fn rounds_that_all_agree_have_the_smallest_p() {
        for n in 1..=EXACT_UP_TO {
            let logs: Vec<f64> = (1..=n).map(|at| -0.01 * at as f64).collect();
            assert_eq!(sign_flip_p(&logs, 0), 2.0 / f64::from(1_u32 << n), "n = {n}");
        }
    }

    #[test]
    fn three_rounds_are_counted_by_hand() {
        // Of +3 +2 −1 = 4 and its seven relatives (6, 4, 2, 0 and their mirror images), those as
        // far out as 4 are two of four. The clip (1.5 × 2) changes nothing here.
        assert_eq!(sign_flip_p(&[3.0, 2.0, -1.0], 0), 0.5);
    }

    #[test]
    fn nothing_shown_is_a_p_of_one() {
        assert_eq!(sign_flip_p(&[], 0), 1.0);
        assert_eq!(sign_flip_p(&[0.0; 8], 0), 1.0);
        assert_eq!(sign_flip_p(&[0.1, f64::NAN], 0), 1.0);
        assert_eq!(sign_flip_p(&[0.1, -0.1], 0), 1.0);
        assert_eq!(sign_flip_p(&[0.0; 40], 0), 1.0);
    }

    #[test]
    fn one_disturbed_round_does_not_drown_nine_that_agree() {
        let mut logs: Vec<f64> = (0..9).map(|at| -0.1 - 0.001 * f64::from(at)).collect();
        logs.push(8.0_f64.ln());
        assert!(sign_flip_p(&logs, 0) < 0.03);
    }

    #[test]
    fn drawn_patterns_agree_with_all_of_them() {
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
    fn many_rounds_come_out_the_same_every_time_and_never_at_zero() {
        let logs = [-0.1; 100];
        assert_eq!(sign_flip_p(&logs, 7), sign_flip_p(&logs, 7));
        assert_eq!(sign_flip_p(&logs, 7), 1.0 / 100_001.0);
    }

    #[test]
    fn holm_is_that_of_the_textbook() {
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
        fn correcting_never_makes_a_cell_more_believable_and_keeps_the_order(
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
        fn p_knows_neither_order_nor_direction(
            logs in prop::collection::vec(-1.0..1.0_f64, 1..10),
        ) {
            let p = sign_flip_p(&logs, 0);
            let turned: Vec<f64> = logs.iter().rev().map(|log| -log).collect();
            prop_assert!(p > 0.0 && p <= 1.0);
            prop_assert!((p - sign_flip_p(&turned, 0)).abs() < 1e-12);
        }
    }
}
