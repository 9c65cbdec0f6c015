//! Tests of the statistics on synthetic samples with a known answer. Every number comes from a seed, so
//! every rate is the same on every machine.

#![allow(clippy::unwrap_used, reason = "test helpers")]

use transect_stats::verdict::DEFAULT_THRESHOLD;
use transect_stats::{Ratios, SplitMix64, Verdict, aa_check, judge, judge_all};

/// Sessions per rate, each with its own seed.
const SESSIONS: u64 = 200;

/// Typical sample, in nanoseconds.
const TYPICAL: f64 = 50e6;

/// Draws from a normal distribution (Box–Muller).
fn normal(random: &mut SplitMix64) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

/// Draws a time: never negative, with log-normal noise.
fn noisy(typical: f64, noise: f64, random: &mut SplitMix64) -> f64 {
    typical * (noise * normal(random)).exp()
}

/// Returns `n` rounds in which the other method really takes `truth` times as long as the base.
fn session(n: usize, truth: f64, noise: f64, seed: u64) -> Vec<(f64, f64)> {
    let mut random = SplitMix64::new(seed);
    (0..n)
        .map(|_| (noisy(TYPICAL, noise, &mut random), noisy(TYPICAL * truth, noise, &mut random)))
        .collect()
}

fn verdict(rounds: &[(f64, f64)], seed: u64) -> Verdict {
    let ratios = Ratios::paired(rounds, seed).unwrap();
    judge(&ratios, ratios.p, DEFAULT_THRESHOLD).verdict
}

/// Number of sessions by verdict.
#[derive(Debug, Default)]
struct Counts {
    faster: u64,
    slower: u64,
    no_difference: u64,
    undecided: u64,
}

impl Counts {
    fn of(make: impl Fn(u64) -> Vec<(f64, f64)>) -> Self {
        let mut counts = Self::default();
        for seed in 0..SESSIONS {
            match verdict(&make(seed), seed) {
                Verdict::Faster => counts.faster += 1,
                Verdict::Slower => counts.slower += 1,
                Verdict::NoDifference => counts.no_difference += 1,
                Verdict::Undecided => counts.undecided += 1,
                Verdict::LessCpu | Verdict::MoreCpu => unreachable!("these are wall times"),
            }
        }
        counts
    }

    fn differences(&self) -> u64 {
        self.faster + self.slower
    }
}

#[test]
fn equal_methods_no_difference_found() {
    for (n, noise) in [(6, 0.02), (10, 0.02), (20, 0.02), (6, 0.2), (10, 0.2), (20, 0.2)] {
        let counts = Counts::of(|seed| session(n, 1.0, noise, seed));
        println!("equal, {n} rounds, noise {noise}: {counts:?}");
        // 5 % of 200 is 10, plus chance (the standard deviation is 3).
        assert!(counts.differences() <= 14, "{n} rounds, noise {noise}: {counts:?}");
        if noise < 0.1 && n == 20 {
            assert!(counts.no_difference >= 170, "equality is found in low noise: {counts:?}");
        }
    }
}

#[test]
fn five_equal_rounds_agree_at_most_once_in_sixteen() {
    let counts = Counts::of(|seed| session(5, 1.0, 0.2, seed));
    println!("equal, 5 rounds, noise 0.2: {counts:?}");
    assert!(counts.differences() <= 20, "{counts:?}");
    assert_eq!(counts.no_difference, 0, "noise is not reported as equality");
}

#[test]
fn many_equal_cells_no_more_false_positives_than_one() {
    let alarmed = (0..SESSIONS).filter(|session_seed| {
        let cells: Vec<Ratios> = (0..8)
            .map(|cell| {
                let seed = session_seed * 8 + cell;
                Ratios::paired(&session(12, 1.0, 0.2, seed), seed).unwrap()
            })
            .collect();
        judge_all(&cells, DEFAULT_THRESHOLD).iter().any(|cell| cell.verdict.is_difference())
    });
    let alarmed = alarmed.count();
    println!("8 equal cells, 12 rounds, noise 0.2: {alarmed} of {SESSIONS} sessions alarmed");
    assert!(alarmed <= 14, "{alarmed}");
}

#[test]
fn aa_check_passes_in_nearly_every_session() {
    let passed = |noise| {
        let pairs = (0..SESSIONS).map(|seed| Ratios::paired(&session(10, 1.0, noise, seed), seed));
        pairs.filter(|pair| aa_check(&pair.unwrap(), DEFAULT_THRESHOLD)).count()
    };
    assert_eq!(passed(0.02), 200);
    assert!(passed(0.2) >= 186);
}

#[test]
fn ten_percent_found_in_low_noise() {
    for n in [5, 6, 10, 20] {
        let counts = Counts::of(|seed| session(n, 0.9, 0.02, seed));
        println!("10 % faster, {n} rounds, noise 0.02: {counts:?}");
        assert_eq!(counts.slower + counts.no_difference, 0, "{counts:?}");
        assert!(counts.faster >= 190, "{n} rounds: {counts:?}");
    }
    let counts = Counts::of(|seed| session(10, 1.1, 0.02, seed));
    assert!(counts.slower >= 190, "{counts:?}");
}

#[test]
fn ten_percent_in_high_noise_undecided_not_denied() {
    let counts = Counts::of(|seed| session(10, 0.9, 0.2, seed));
    println!("10 % faster, 10 rounds, noise 0.2: {counts:?}");
    assert_eq!(counts.no_difference, 0);
    assert!(counts.slower <= 4, "{counts:?}");
    assert!(counts.undecided >= 100, "{counts:?}");
}

#[test]
fn difference_below_threshold_never_reported_in_low_noise() {
    let counts = Counts::of(|seed| session(30, 0.99, 0.01, seed));
    println!("1 % faster, 30 rounds, noise 0.01: {counts:?}");
    assert_eq!(counts.differences(), 0, "{counts:?}");
    assert!(counts.no_difference >= 190, "{counts:?}");
}

#[test]
fn more_rounds_estimate_decides_most_sessions() {
    let (mut asked, mut decided, mut most) = (0, 0, 0);
    for seed in 0..SESSIONS {
        let few = Ratios::paired(&session(8, 0.9, 0.1, seed), seed).unwrap();
        let judgement = judge(&few, few.p, DEFAULT_THRESHOLD);
        if let Some(more) = judgement.more_rounds.filter(|more| *more <= 200) {
            asked += 1;
            most = most.max(more);
            // The same seed: the first eight rounds are those that were judged.
            let rounds = session(8 + more as usize, 0.9, 0.1, seed);
            decided += u32::from(verdict(&rounds, seed) != Verdict::Undecided);
        }
    }
    println!("asked for more rounds {asked} times (at most {most}), then decided {decided} times");
    assert!(asked >= 50, "{asked}");
    assert!(2 * decided >= asked, "{decided} of {asked}");
}

#[test]
fn drift_cancels_within_rounds() {
    // The machine gets three times slower, the noise is 2 %.
    let drifting = |truth: f64, seed: u64| {
        let rounds = session(20, truth, 0.02, seed).into_iter().enumerate();
        let slower = |at: usize| 1.0 + 2.0 * at as f64 / 19.0;
        rounds.map(|(at, (base, other))| (base * slower(at), other * slower(at))).collect()
    };
    let equal = Counts::of(|seed| drifting(1.0, seed));
    let faster = Counts::of(|seed| drifting(0.9, seed));
    println!("drift, equal: {equal:?}; 10 % faster: {faster:?}");
    assert_eq!(equal.differences(), 0);
    assert!(equal.no_difference >= 170 && faster.faster >= 190);

    // If the other method ran after the base, drift would look like a difference.
    let rounds: Vec<(f64, f64)> = drifting(1.0, 1);
    let all: Vec<f64> = rounds.iter().map(|round| round.0).collect();
    let one_after_the_other: Vec<_> = all[..10].iter().copied().zip(all[10..].to_vec()).collect();
    assert_eq!(verdict(&one_after_the_other, 1), Verdict::Slower, "an artefact of the order");
}

#[test]
fn bimodal_noise_not_reported_as_difference() {
    // Every third run, of either method, takes half as long again.
    let humps = |truth: f64, n: usize, seed: u64| -> Vec<(f64, f64)> {
        let mut random = SplitMix64::new(seed ^ 0x5eed);
        let mut hump = |time: f64| time * if random.below(3) == 0 { 1.5 } else { 1.0 };
        let rounds = session(n, truth, 0.02, seed).into_iter();
        rounds.map(|(base, other)| (hump(base), hump(other))).collect()
    };
    let equal = Counts::of(|seed| humps(1.0, 12, seed));
    let faster = Counts::of(|seed| humps(0.8, 30, seed));
    println!("two humps, equal: {equal:?}; 20 % faster: {faster:?}");
    assert!(equal.differences() <= 14, "{equal:?}");
    assert_eq!(faster.slower + faster.no_difference, 0, "{faster:?}");
    assert!(faster.faster >= 150, "{faster:?}");
}

#[test]
fn one_outlier_changes_neither_median_nor_verdict() {
    for at_base in [false, true] {
        let disturbed = |truth: f64, seed: u64| {
            let mut rounds = session(11, truth, 0.02, seed);
            let round = &mut rounds[seed as usize % 11];
            *(if at_base { &mut round.0 } else { &mut round.1 }) *= 60.0;
            rounds
        };
        let equal = Counts::of(|seed| disturbed(1.0, seed));
        let faster = Counts::of(|seed| disturbed(0.9, seed));
        println!("one outlier (base: {at_base}), equal: {equal:?}; 10 % faster: {faster:?}");
        assert!(equal.differences() <= 2, "{equal:?}");
        assert!(faster.faster >= 190, "{faster:?}");

        let ratios = Ratios::paired(&disturbed(0.9, 3), 3).unwrap();
        let calm = Ratios::paired(&session(11, 0.9, 0.02, 3), 3).unwrap();
        assert!((ratios.median - calm.median).abs() < 0.02, "{ratios:?} {calm:?}");
    }
}

#[test]
fn one_to_four_rounds_undecided() {
    for n in 1..5 {
        let ratios = Ratios::paired(&session(n, 0.01, 0.0, 1), 1).unwrap();
        let judgement = judge(&ratios, ratios.p, DEFAULT_THRESHOLD);
        assert_eq!(judgement.verdict, Verdict::Undecided);
        assert_eq!(judgement.more_rounds, Some(5 - n as u64));
    }
}

#[test]
fn identical_samples_no_difference() {
    for n in [5, 6, 17, 40] {
        assert_eq!(verdict(&vec![(TYPICAL, TYPICAL); n], 1), Verdict::NoDifference);
        // Without noise any difference is found: these are counters, not times.
        assert_eq!(verdict(&vec![(TYPICAL, TYPICAL / 2.0); n], 1), Verdict::Faster);
    }
}

#[test]
fn intervals_contain_truth_at_stated_rate() {
    for (n, least) in [(10, 180), (25, 184)] {
        let held = (0..SESSIONS).filter(|&seed| {
            let ratios = Ratios::paired(&session(n, 0.9, 0.1, seed), seed).unwrap();
            (ratios.low..=ratios.high).contains(&0.9)
        });
        let held = held.count();
        println!("interval of {n} rounds held the truth in {held} of {SESSIONS} sessions");
        assert!(held >= least, "{n} rounds: {held}");
    }
}
