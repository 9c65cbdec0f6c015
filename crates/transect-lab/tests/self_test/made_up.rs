//! Sessions of samples drawn with a known truth and several kinds of noise.

use crate::equal::{self, rates_of};
use crate::rate::{DELAY, Length, VerdictRates};
use transect_lab::experiments::walk::preset;
use transect_lab::harness::launch::Usage;
use transect_lab::harness::log::{Outcome, Sample, SessionData};
use transect_lab::harness::protocol::RunLine;
use transect_lab::spec::{Cell, SessionSpec};
use transect_stats::SplitMix64;

/// A typical sample, in nanoseconds.
const TYPICAL: f64 = 5e7;

/// The most rounds of a session, instead of a time limit: on a tree of 100,000 files, the limit of the
/// default preset allows about as many for six methods.
const MAX_ROUNDS: usize = 40;

/// The noise of samples.
struct Noise {
    /// Its description.
    about: &'static str,
    /// Standard deviation of the logarithm of a sample.
    deviation: f64,
    /// One in this many samples takes longer, up to three times; 0 for none.
    outlier_one_in: usize,
    /// Relative growth of all samples from the first round to the last.
    drift: f64,
    /// Whether the true difference has to be found.
    has_power_target: bool,
}

const KINDS: &[Noise] = &[
    Noise {
        about: "noise 2 %",
        deviation: 0.02,
        outlier_one_in: 0,
        drift: 0.0,
        has_power_target: true,
    },
    Noise {
        about: "noise 5 %",
        deviation: 0.05,
        outlier_one_in: 0,
        drift: 0.0,
        has_power_target: false,
    },
    Noise {
        about: "noise 20 %",
        deviation: 0.2,
        outlier_one_in: 0,
        drift: 0.0,
        has_power_target: false,
    },
    Noise {
        about: "noise 2 %, every tenth an outlier",
        deviation: 0.02,
        outlier_one_in: 10,
        drift: 0.0,
        has_power_target: true,
    },
    Noise {
        about: "noise 2 %, drift to the double",
        deviation: 0.02,
        outlier_one_in: 0,
        drift: 1.0,
        has_power_target: true,
    },
];

/// Returns the rates for each kind of noise, with sessions as the default preset has them.
pub(crate) fn rates(spec: &SessionSpec, sessions: usize) -> Vec<VerdictRates> {
    let length = Length::UntilPrecise { min: preset::PRESETS[0].rounds, max: MAX_ROUNDS };
    let of = |noise: &Noise| {
        let session = |seed: usize| draw(spec, length, noise, seed as u64);
        let drawn: Vec<SessionData> = (0..sessions).map(session).collect();
        rates_of(format!("made up, {}", noise.about), length, &drawn, noise.has_power_target)
    };
    KINDS.iter().map(of).collect()
}

/// Draws a session with the cells of a spec; the last takes longer.
fn draw(spec: &SessionSpec, length: Length, noise: &Noise, seed: u64) -> SessionData {
    let mut random = SplitMix64::new(seed);
    let round = |round: usize| draw_round(spec, noise, round, &mut random);
    let rounds: Vec<Vec<Sample>> = (0..MAX_ROUNDS).map(round).collect();
    let of_the_spec = SessionData::begin(spec.clone());
    equal::take(&of_the_spec, &rounds, length, seed)
        .expect("BUG: there are as many rounds as needed")
}

/// Draws the samples of a round.
fn draw_round(
    spec: &SessionSpec,
    noise: &Noise,
    round: usize,
    random: &mut SplitMix64,
) -> Vec<Sample> {
    let drift = 1.0 + noise.drift * round as f64 / (MAX_ROUNDS - 1) as f64;
    let mut sample = |(at, cell): (usize, &Cell)| {
        let truth = if at == spec.cells.len() - 1 { 1.0 + DELAY } else { 1.0 };
        let outlier = match noise.outlier_one_in {
            0 => 1.0,
            one_in if random.below(one_in) == 0 => 1.0 + 2.0 * random.unit(),
            _ => 1.0,
        };
        let factor = libm::exp(noise.deviation * normal(random)) * truth * drift * outlier;
        let elapsed_ns = (TYPICAL * factor) as u64;
        let usage = Usage { wall_ns: elapsed_ns, ..Usage::default() };
        let runs = vec![RunLine::new(spec.datasets[0].expected, elapsed_ns)];
        let outcome = Outcome::Right { runs, usage, read_kib: Some(0), beside: None, files: None };
        let cell = cell.name.clone();
        Sample { round, dataset: 0, cache_state: 0, cell, took_ns: None, repeated: 0, outcome }
    };
    spec.cells.iter().enumerate().map(&mut sample).collect()
}

/// Draws from the standard normal distribution (Box–Muller).
fn normal(random: &mut SplitMix64) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - random.unit()));
    radius * libm::cos(std::f64::consts::TAU * random.unit())
}

/// Returns the spec of measured sessions, of an empty tree.
fn spec_of_measured() -> SessionSpec {
    let temp = transect_testkit::TempDir::new();
    equal::spec(temp.path(), None).1
}

/// The same samples in every run: a few of those of a full self-test.
#[test]
fn made_up_sessions_meet_the_targets() {
    for rates in rates(&spec_of_measured(), 8) {
        assert_eq!((rates.false_verdicts.hits, rates.single_winner.hits), (0, 0), "{rates:?}");
        assert!(!rates.has_power_target || rates.found.hits >= 7, "{rates:?}");
        assert_eq!((rates.rounds, rates.found.sessions), (12, 8));
    }
}

/// Draws a session in noise of this deviation.
fn taken(deviation: f64, length: Length) -> SessionData {
    let spec = spec_of_measured();
    draw(&spec, length, &Noise { deviation, ..KINDS[0] }, 1)
}

#[test]
fn sessions_until_precise_end_by_the_rule_of_sessions() {
    let rounds = |deviation| taken(deviation, Length::UntilPrecise { min: 5, max: 12 }).spec.rounds;
    assert_eq!(
        rounds(0.0),
        8,
        "nothing varies: the first look that can decide among so many cells"
    );
    assert_eq!(rounds(0.2), 12, "never precise");
}

#[test]
fn fixed_rounds_split_joined_sessions_into_whole_ones() {
    let session = taken(0.02, Length::Fixed(25));
    let sessions = [session.clone(), session];
    let fixed = |rounds| equal::rates_of_fixed(&sessions, rounds).found.sessions;
    assert_eq!([12, 25, 26, 51].map(fixed), [4, 2, 1, 0]);
}
