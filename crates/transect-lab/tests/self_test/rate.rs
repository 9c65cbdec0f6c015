//! Shares of sessions, their uncertainty, and the targets.

use serde::Serialize;

/// The true difference that has to be found: the planted method takes this share longer.
pub(crate) const DELAY: f64 = 0.05;

/// The largest share of sessions of equal methods with a false verdict.
pub(crate) const MAX_FALSE: f64 = 0.05;

/// The smallest share of sessions that find the true difference.
pub(crate) const MIN_FOUND: f64 = 0.9;

/// Equal methods that are compared with the base.
pub(crate) const ALIASES: usize = 3;

/// The share of sessions with a property.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Rate {
    /// Sessions with the property.
    pub(crate) hits: usize,
    /// All sessions.
    pub(crate) sessions: usize,
    /// The share.
    pub(crate) share: f64,
    /// Lower end of its 95 % interval.
    pub(crate) low: f64,
    /// Upper end of its 95 % interval.
    pub(crate) high: f64,
}

impl Rate {
    /// Returns a share with its interval (Wilson 1927), which holds for small numbers and shares near 0 and 1.
    pub(crate) fn of(hits: usize, sessions: usize) -> Self {
        /// The 97.5 % quantile of the normal distribution.
        const Z: f64 = 1.959_964;
        let n = sessions.max(1) as f64;
        let share = hits as f64 / n;
        let middle = share + Z * Z / (2.0 * n);
        let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        let scale = 1.0 + Z * Z / n;
        let (low, high) = ((middle - half) / scale, (middle + half) / scale);
        let is = |whole: usize| hits == whole;
        // Rounding may leave a little above 0 or below 1.
        let low = if is(0) { 0.0 } else { low };
        let high = if is(sessions) { 1.0 } else { high };
        Self { hits, sessions, share, low, high }
    }
}

/// Verdicts in sessions of one length, on samples of one source.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct VerdictRates {
    /// `measured`, or the noise of made-up samples.
    pub(crate) source: String,
    /// Rounds of a session, before it adds more.
    pub(crate) rounds: usize,
    /// The mean number of rounds, if sessions add rounds until every ratio is precise enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mean_rounds: Option<f64>,
    /// Sessions of equal methods with a false verdict.
    pub(crate) false_verdicts: Rate,
    /// Sessions of equal methods whose headline names one of them.
    pub(crate) single_winner: Rate,
    /// Sessions of equal methods in which the base differs from itself, so that no verdict counts.
    pub(crate) refused: Rate,
    /// Sessions that find the true difference.
    pub(crate) found: Rate,
    /// Sessions that deny the true difference, or find its opposite.
    pub(crate) denied: Rate,
    /// Whether the share of sessions that find it has a target; otherwise it only shows what noise costs.
    pub(crate) has_power_target: bool,
    /// Whether the targets are met.
    pub(crate) passed: bool,
}

/// When a session ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    /// After this number of rounds.
    Fixed(usize),
    /// After the minimum, as soon as every ratio is precise enough, as sessions of presets do. Where
    /// nothing is measured, a number of rounds replaces their time limit.
    UntilPrecise {
        /// The fewest rounds.
        min: usize,
        /// The most rounds.
        max: usize,
    },
}

impl Length {
    /// Returns the fewest rounds of a session.
    pub(crate) fn min(self) -> usize {
        match self {
            Self::Fixed(rounds) | Self::UntilPrecise { min: rounds, .. } => rounds,
        }
    }
}

#[test]
fn rate_interval_matches_published_values() {
    // Newcombe 1998, table I, method 3.
    for (hits, sessions, low, high) in
        [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)]
    {
        let rate = Rate::of(hits, sessions);
        assert!((rate.low - low).abs() < 1e-4 && (rate.high - high).abs() < 1e-4, "{rate:?}");
    }
    assert_eq!(Rate::of(7, 7).high, 1.0);
}
