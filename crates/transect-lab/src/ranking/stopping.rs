//! Decides when a session with a time limit has enough rounds: by the width of the intervals, never by verdicts, as
//! each look at a verdict is another chance of a false positive. (Chow and Robbins, 1965: sampling until the interval
//! has a fixed width nearly preserves its coverage.)
//!
//! A ratio far from 1, by four times the width of its interval, may have a wider one: otherwise one slow and noisy
//! method would delay all others.

use std::time::Duration;

use crate::harness::log::{End, SessionData};
use crate::ranking::{Ranking, rank};
use transect_stats::Ratios;
use transect_stats::verdict::{DEFAULT_THRESHOLD, MIN_ROUNDS, can_decide};

/// The maximum relative distance between the ends of an interval and its median: half the smallest
/// relevant difference. "No difference" can then be proved for methods that differ by less than the other
/// half.
const PRECISION: f64 = DEFAULT_THRESHOLD / 2.0;

/// The minimum distance of a far ratio from 1, in widths of its interval.
const FAR: f64 = 4.0;

/// Returns why the session ends after this number of complete `rounds`, if it does: the rule for
/// [`Session::run`](crate::harness::log::Session::run).
pub fn end(data: &SessionData, rounds: usize, max_time: Duration) -> Option<End> {
    if is_look(rounds) && are_precise(&rank(data), rounds) {
        return Some(End::Precision);
    }
    let spent: Duration =
        data.samples.iter().filter_map(|it| it.took_ns).map(Duration::from_nanos).sum();
    let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
    // Assume the mean duration of the previous rounds.
    let next = spent / rounds.max(1);
    (spent + next > max_time).then_some(End::Time)
}

/// Returns whether precision is looked at after this number of rounds: the more there are, the less often,
/// as ranking resamples all of them, and one more round changes little.
pub fn is_look(rounds: usize) -> bool {
    // Between two looks, rounds grow by a third at most.
    rounds.is_multiple_of((rounds / 6).max(1).next_power_of_two())
}

/// Returns whether every ratio is precise enough after this number of rounds, the base against itself
/// included.
pub fn are_precise(rankings: &[Ranking], rounds: usize) -> bool {
    rankings.iter().all(|ranking| {
        // A machine too busy to compare anything may become quiet.
        if ranking.uncompared.is_some() {
            return false;
        }
        let to_base = ranking.rows.iter().filter_map(|row| row.to_base);
        let ratios = to_base.chain(ranking.pairs.iter().filter_map(|pair| pair.ratios));
        let cells = ratios.clone().count();
        // Too few rounds cannot decide anything, however narrow the intervals are.
        can_decide(cells, rounds) && ratios.chain(ranking.noise).all(|it| is_known(&it))
    })
}

fn is_known(ratios: &Ratios) -> bool {
    let [median, low, high] = [ratios.median, ratios.low, ratios.high].map(libm::log);
    let open = (high - median).max(median - low);
    ratios.n >= MIN_ROUNDS && open <= libm::log(1.0 + PRECISION).max(median.abs() / FAR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::with;
    use transect_stats::{SplitMix64, Verdict, judge};

    fn ratios(n: usize, low: f64, median: f64, high: f64) -> Ratios {
        Ratios { n, median, low, high, mad: 0.01, p: 0.9, seed: 0 }
    }

    #[test]
    fn ratio_known_by_width_of_interval_not_by_verdict() {
        for (low, median, high, known) in [
            (0.99, 1.0, 1.01, true),
            (0.975, 0.98, 0.985, true), // just as narrow, and forever undecided
            (1.00, 1.02, 1.04, false),
            (0.90, 0.95, 0.99, false), // a difference of unknown size
            (1.90, 2.00, 2.30, true),  // far away
            (1.02, 2.00, 4.00, false),
        ] {
            assert_eq!(is_known(&ratios(10, low, median, high)), known, "{low} {median} {high}");
        }
        assert!(!is_known(&ratios(4, 1.0, 1.0, 1.0)), "four rounds are too few");
    }

    #[test]
    fn rounds_end_when_ratios_are_precise_or_time_is_over() {
        let long = Duration::from_secs(1);
        let end = |it: &SessionData, time| end(it, it.rounds(), time);
        let mut data = with(&[("base", 100_000), ("base (again)", 100_000), ("a", 200_000)], 5);
        assert_eq!(end(&data, long), Some(End::Precision));
        // With 20 cells, five rounds cannot decide anything.
        let names: Vec<String> = (0..20).map(|n| format!("cell {n}")).collect();
        let mut many = vec![("base", 100_000), ("base (again)", 100_000)];
        many.extend(names.iter().map(|name| (name.as_str(), 200_000)));
        assert_eq!(end(&with(&many, 5), long), None);
        assert_eq!(end(&with(&many, 10), long), Some(End::Precision));

        let mut busy = data.clone();
        crate::fixtures::disturb(&mut busy, 15);
        assert_eq!(end(&busy, long), None, "the machine may become quiet");

        for (at, sample) in data.samples.iter_mut().enumerate() {
            sample.took_ns = Some(1_000_000);
            let crate::harness::log::Outcome::Right { runs, .. } = &mut sample.outcome else {
                continue;
            };
            runs[0].elapsed_ns += if at % 2 == 0 { 30_000 } else { 0 };
        }
        assert_eq!(end(&data, long), None, "the ratios are noisy");
        // Five rounds took three milliseconds each.
        assert_eq!(end(&data, Duration::from_millis(18)), None);
        assert_eq!(end(&data, Duration::from_millis(17)), Some(End::Time));
    }

    #[test]
    fn looks_become_rarer() {
        let looks: Vec<usize> = (5..100).filter(|&rounds| is_look(rounds)).collect();
        assert_eq!(looks[..7], [5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(looks[7..], [12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96]);
    }

    /// Simulates rounds of a method that equals the base, until `is_over`, and returns whether the verdict is
    /// a difference.
    fn finds(seed: u64, spread: f64, is_over: impl Fn(&Ratios) -> bool) -> bool {
        let mut random = SplitMix64::new(seed);
        // The sum of uniform numbers is nearly normal.
        let mut noise = || {
            let sum: f64 = (0..6).map(|_| random.below(2001) as f64 / 1000.0 - 1.0).sum();
            libm::exp(spread * sum)
        };
        let mut rounds = Vec::new();
        loop {
            rounds.push((1e6 * noise(), 1e6 * noise()));
            if rounds.len() < MIN_ROUNDS {
                continue;
            }
            let ratios = Ratios::paired(&rounds, seed).unwrap();
            if is_over(&ratios) || rounds.len() >= 24 {
                return judge(&ratios, ratios.p, DEFAULT_THRESHOLD).verdict.is_difference();
            }
        }
    }

    #[test]
    fn stopping_by_width_keeps_false_positives_below_limit() {
        const SESSIONS: u64 = 100;
        let sessions = |spread: f64, is_over: fn(&Ratios) -> bool| {
            (0..SESSIONS).filter(|&seed| finds(seed, spread, is_over)).count() as f64
        };
        let is_significant = |ratios: &Ratios| {
            judge(ratios, ratios.p, DEFAULT_THRESHOLD).verdict != Verdict::Undecided
        };
        for spread in [0.01, 0.03, 0.1] {
            let by_width = sessions(spread, is_known) / SESSIONS as f64;
            assert!(by_width <= 0.08, "{by_width} of those of spread {spread}");
        }
        // Stopping at the first significant result finds several times as many false positives.
        let by_verdict = sessions(0.1, is_significant) / SESSIONS as f64;
        assert!(by_verdict >= 0.12, "{by_verdict}");
    }
}
