//! How often chance alone would have ordered two groups of samples as they are.

use super::samples::sorted;

/// Up to so many samples all ways are counted.
pub const COUNTED_UP_TO: usize = 200;

/// Returns how often chance alone would have put two groups as far apart: the two-sided p of the
/// rank sum (Wilcoxon 1945, Mann and Whitney 1947), whatever is equal among the samples. It is exact
/// up to [`COUNTED_UP_TO`] samples; sums of more are normal for all that matters.
///
/// If it were chance which sample belongs to which group, every way to choose the first group among
/// all samples would be as likely as any other. p is the share of the ways in which its sum of
/// ranks lies as far from the middle as the one that was seen. With five samples on each side there
/// are 252, so that no p is below 2 / 252 = 0.008. Ratios of medians, dealt in the same way, would
/// be as large in twelve of them: where samples are few, ranks see more.
///
/// Without samples on both sides, or if one is not a number, p is 1: nothing is shown.
#[must_use]
pub fn rank_sum_p(one: &[f64], other: &[f64]) -> f64 {
    if one.is_empty() || other.is_empty() || one.iter().chain(other).any(|it| it.is_nan()) {
        return 1.0;
    }
    let ranks = doubled_ranks(one, other);
    let middle = one.len() * (ranks.len() + 1);
    let seen = ranks[..one.len()].iter().sum::<usize>().abs_diff(middle);
    if ranks.len() > COUNTED_UP_TO {
        return normal_p(&ranks, one.len(), seen);
    }
    let ways = ways_by_sum(&ranks, one.len());
    let as_far = ways.iter().enumerate().filter(|(sum, _)| sum.abs_diff(middle) >= seen);
    let (as_far, all): (f64, f64) = (as_far.map(|(_, ways)| ways).sum(), ways.iter().sum());
    as_far / all
}

/// Returns twice the rank of each sample among all, in their order: whole numbers, also where equal
/// samples share the mean of their ranks.
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

/// Returns the share of a normal distribution that is as far from its middle as `seen`.
fn normal_p(ranks: &[usize], count: usize, seen: usize) -> f64 {
    let (all, count) = (ranks.len() as f64, count as f64);
    let middle = all + 1.0;
    let squares: f64 = ranks.iter().map(|&rank| (rank as f64 - middle).powi(2)).sum();
    let variance = count * (all - count) / (all * (all - 1.0)) * squares;
    if variance == 0.0 { 1.0 } else { libm::erfc(seen as f64 / (2.0 * variance).sqrt()) }
}

/// Returns, for each sum, how many ways there are to choose `count` of the ranks that add up to it.
fn ways_by_sum(ranks: &[usize], count: usize) -> Vec<f64> {
    let largest: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0; largest + 1]; count + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        // From above, so that no rank is chosen twice.
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
    fn small_groups_are_counted_by_hand() {
        assert_p(&[1.0, 2.0], &[3.0, 4.0], 2.0 / 6.0);
        assert_p(&[1.0, 3.0], &[2.0, 4.0], 4.0 / 6.0);
        assert_p(&[1.0, 4.0], &[2.0, 3.0], 1.0);
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        assert_p(&low, &high, 2.0 / 252.0);
        assert_p(&high, &low, 2.0 / 252.0);
        // One pair the wrong way round: twice as many ways.
        assert_p(&[1.0, 2.0, 3.0, 4.0, 6.0], &[5.0, 7.0, 8.0, 9.0, 10.0], 4.0 / 252.0);
    }

    #[test]
    fn equal_samples_share_their_ranks() {
        assert_p(&[5.0; 4], &[5.0; 6], 1.0);
        // Ranks 1.5, 1.5, 3: of the three ways to choose one, the last is alone at its end.
        assert_p(&[2.0], &[1.0, 1.0], 1.0 / 3.0);
        assert_eq!(doubled_ranks(&[2.0], &[1.0, 1.0]), [6, 3, 3]);
    }

    #[test]
    fn nothing_shown_is_a_p_of_one() {
        assert_p(&[], &[1.0], 1.0);
        assert_p(&[1.0], &[], 1.0);
        assert_p(&[1.0, f64::NAN], &[3.0, 4.0], 1.0);
    }

    #[test]
    fn many_samples_are_normal() {
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
    fn a_hundred_samples_are_counted_as_well() {
        let low: Vec<f64> = (0..50).map(f64::from).collect();
        let high: Vec<f64> = (30..80).map(f64::from).collect();
        let p = rank_sum_p(&low, &high);
        assert!(p > 0.0 && p < 1e-9, "{p}");
    }

    proptest! {
        #[test]
        fn p_is_the_share_of_all_ways(
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
