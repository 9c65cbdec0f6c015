//! The rank-sum test: p-value of two unpaired groups of samples.

use super::samples::sorted;

/// Up to this number of samples the test is exact.
pub const EXACT_UP_TO: usize = 200;

/// Returns the two-sided p-value of the rank-sum test (Wilcoxon 1945, Mann and Whitney 1947), ties
/// included. It is exact up to [`EXACT_UP_TO`] samples; above that it uses the normal approximation.
///
/// p is the share of all ways to choose the first group whose rank sum is at least as far from the
/// middle as the observed one. With five samples on each side there are 252 ways, so p is at least
/// 2 / 252 = 0.008. A permutation test on ratios of medians finds twelve such ways: with few samples,
/// ranks are more sensitive.
///
/// Returns 1 if a side has no samples or a sample is NaN.
#[must_use]
pub fn rank_sum_p(one: &[f64], other: &[f64]) -> f64 {
    if one.is_empty() || other.is_empty() || one.iter().chain(other).any(|it| it.is_nan()) {
        return 1.0;
    }
    let ranks = doubled_ranks(one, other);
    let middle = one.len() * (ranks.len() + 1);
    let seen = ranks[..one.len()].iter().sum::<usize>().abs_diff(middle);
    if ranks.len() > EXACT_UP_TO {
        return normal_p(&ranks, one.len(), seen);
    }
    let ways = ways_by_sum(&ranks, one.len());
    let as_far = ways.iter().enumerate().filter(|(sum, _)| sum.abs_diff(middle) >= seen);
    let (as_far, all): (f64, f64) = (as_far.map(|(_, ways)| ways).sum(), ways.iter().sum());
    as_far / all
}

/// Returns twice the rank of each sample among all, in their order. Twice, so that the mean rank of equal
/// samples is a whole number, too.
fn doubled_ranks(one: &[f64], other: &[f64]) -> Vec<usize> {
    let all = [one, other].concat();
    let sorted = sorted(&all);
    let rank = |sample: &f64| {
        let below = sorted.partition_point(|it| it < sample);
        let up_to = sorted.partition_point(|it| it <= sample);
        below + up_to + 1
    };
    all.iter().map(rank).collect()
}

/// Returns the two-sided p-value of `seen` by the normal approximation.
fn normal_p(ranks: &[usize], count: usize, seen: usize) -> f64 {
    let (all, count) = (ranks.len() as f64, count as f64);
    let middle = all + 1.0;
    let squares: f64 = ranks.iter().map(|&rank| (rank as f64 - middle).powi(2)).sum();
    let variance = count * (all - count) / (all * (all - 1.0)) * squares;
    if variance == 0.0 { 1.0 } else { libm::erfc(seen as f64 / (2.0 * variance).sqrt()) }
}

/// Returns, for each sum, the number of ways to choose `count` ranks that add up to it.
fn ways_by_sum(ranks: &[usize], count: usize) -> Vec<f64> {
    let largest: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0; largest + 1]; count + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        // Downwards, so that no rank is chosen twice.
        for chosen in (1..=count).rev() {
            let (fewer, these) = ways.split_at_mut(chosen);
            for sum in rank..=largest {
                these[0][sum] += fewer[chosen - 1][sum - rank];
            }
        }
    }
    ways.swap_remove(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn assert_p(one: &[f64], other: &[f64], expected: f64) {
        let p = rank_sum_p(one, other);
        assert!((p - expected).abs() < 1e-12, "{p} instead of {expected}");
    }

    #[test]
    fn p_of_small_groups_matches_hand_count() {
        assert_p(&[1.0, 2.0], &[3.0, 4.0], 2.0 / 6.0);
        assert_p(&[1.0, 3.0], &[2.0, 4.0], 4.0 / 6.0);
        assert_p(&[1.0, 4.0], &[2.0, 3.0], 1.0);
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        assert_p(&low, &high, 2.0 / 252.0);
        assert_p(&high, &low, 2.0 / 252.0);
        // One pair swapped: twice as many ways.
        assert_p(&[1.0, 2.0, 3.0, 4.0, 6.0], &[5.0, 7.0, 8.0, 9.0, 10.0], 4.0 / 252.0);
    }

    #[test]
    fn ties_share_the_mean_rank() {
        assert_p(&[5.0; 4], &[5.0; 6], 1.0);
        // Ranks 1.5, 1.5, 3: one of three choices is at the upper end.
        assert_p(&[2.0], &[1.0, 1.0], 1.0 / 3.0);
        assert_eq!(doubled_ranks(&[2.0], &[1.0, 1.0]), [6, 3, 3]);
    }

    #[test]
    fn p_without_evidence_is_one() {
        assert_p(&[], &[1.0], 1.0);
        assert_p(&[1.0], &[], 1.0);
        assert_p(&[1.0, f64::NAN], &[3.0, 4.0], 1.0);
    }

    #[test]
    fn normal_approximation_close_to_exact() {
        let group = |first: u32| -> Vec<f64> {
            (0..100).map(|at| f64::from((at * 37 + first) % 101)).collect()
        };
        let (one, other) = (group(0), group(18));
        let ranks = doubled_ranks(&one, &other);
        let seen = ranks[..100].iter().sum::<usize>().abs_diff(100 * 201);
        let (counted, normal) = (rank_sum_p(&one, &other), normal_p(&ranks, 100, seen));
        assert!((counted - normal).abs() < 0.002, "{counted} and {normal}");
        let low: Vec<f64> = (0..5_000).map(f64::from).collect();
        assert_p(&low, &low, 1.0);
        assert_p(&[1.0; 300], &[1.0; 300], 1.0);
        assert!(rank_sum_p(&low, &low.iter().map(|it| it + 500.0).collect::<Vec<_>>()) < 1e-9);
    }

    #[test]
    fn p_of_a_hundred_samples_is_exact() {
        let low: Vec<f64> = (0..50).map(f64::from).collect();
        let high: Vec<f64> = (30..80).map(f64::from).collect();
        let p = rank_sum_p(&low, &high);
        assert!(p > 0.0 && p < 1e-9, "{p}");
    }

    proptest! {
        #[test]
        fn p_matches_brute_force(
            samples in prop::collection::vec(0..6_u32, 2..9), at in 1..8_usize,
        ) {
            let all: Vec<f64> = samples.into_iter().map(f64::from).collect();
            let at = at.min(all.len() - 1);
            let (one, other) = all.split_at(at);
            let ranks = doubled_ranks(one, other);
            let middle = at * (all.len() + 1);
            let far = |set: u32| {
                let chosen = (0..all.len()).filter(|place| set >> place & 1 == 1);
                chosen.map(|place| ranks[place]).sum::<usize>().abs_diff(middle)
            };
            let seen = far((1 << at) - 1);
            let sets: Vec<u32> =
                (0..1_u32 << all.len()).filter(|set| set.count_ones() as usize == at).collect();
            let as_far = sets.iter().filter(|&&set| far(set) >= seen).count();
            let expected = as_far as f64 / sets.len() as f64;
            prop_assert!((rank_sum_p(one, other) - expected).abs() < 1e-12);
            prop_assert!((rank_sum_p(other, one) - expected).abs() < 1e-12);
        }
    }
}
