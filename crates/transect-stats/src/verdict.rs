//! Verdicts: whether two cells differ, and the rule that decides it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::paired::Ratios;
use super::significance::holm;

/// Default for the smallest difference that counts: 3 %. Smaller ones come and go with the memory
/// layout of a binary.
pub const DEFAULT_THRESHOLD: f64 = 0.03;

/// Rounds needed for any verdict but "undecided".
pub const MIN_ROUNDS: usize = 5;

/// Significance level: the bound on the probability of a false difference among all cells of a session.
///
/// The test is nearly exact, so a bound of 5 % would be reached: in noise of 20 %, 4.3 % of sessions of
/// three equal cells had a false difference, and one in four series of 200 sessions more than ten. With
/// 4 % it is 3.2 %, and one in twenty. With twelve rounds and noise of 2.5 % that costs 1 % of the
/// sessions that find a true 5 %.
pub const LEVEL: f64 = 0.04;

/// Largest estimate of rounds still needed; above it there is no estimate.
const MAX_ROUNDS: f64 = 10_000.0;

/// How a method compares with the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It takes less time than the base.
    Faster,
    /// It takes more time than the base.
    Slower,
    /// It differs by less than the threshold. This is a result, and takes as much evidence.
    NoDifference,
    /// The samples do not decide it.
    Undecided,
    /// It needs less CPU time than the base; which of them ends sooner is unknown.
    LessCpu,
    /// It needs more CPU time than the base.
    MoreCpu,
}

impl Verdict {
    /// Returns the name in JSON and CSV.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifference => "no_difference",
            Self::Undecided => "undecided",
            Self::LessCpu => "less_cpu",
            Self::MoreCpu => "more_cpu",
        }
    }

    /// Returns the same verdict on ratios of CPU times.
    #[must_use]
    pub fn on_cpu(self) -> Self {
        match self {
            Self::Faster => Self::LessCpu,
            Self::Slower => Self::MoreCpu,
            other => other,
        }
    }

    /// Returns the word that reports show.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::NoDifference => "no difference",
            Self::LessCpu => "less CPU",
            Self::MoreCpu => "more CPU",
            other => other.as_str(),
        }
    }

    /// Returns whether the verdict is a difference, in time or in CPU time.
    #[must_use]
    pub fn is_difference(self) -> bool {
        matches!(self, Self::Faster | Self::Slower | Self::LessCpu | Self::MoreCpu)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

/// A verdict and its evidence, besides the [`Ratios`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// Faster, slower, no difference, or undecided.
    pub verdict: Verdict,
    /// The p-value, corrected for the other cells.
    pub adjusted_p: f64,
    /// The smallest difference that counts: 0.03 is 3 %.
    pub threshold: f64,
    /// Estimated number of further rounds to a decision. `None` if it is decided or there is no estimate.
    pub more_rounds: Option<u64>,
}

/// Judges one cell against its base.
///
/// `adjusted_p` is the cell's [`Ratios::p`] after [`holm`] over all cells of the session. `threshold`
/// (d) is the smallest difference that counts, at least 0 and below 1 ([`DEFAULT_THRESHOLD`]).
///
/// With m the median of the ratios, [low, high] its 95 % interval and n the number of rounds, the first
/// rule that holds gives the verdict:
///
/// 1. **undecided** if n < 5. Four rounds agree by chance once in eight sessions.
/// 2. **no difference** if 1 − d ≤ low and high ≤ 1 + d. The whole interval has to fit: a wide interval
///    around 1 proves nothing.
/// 3. **faster** if m < 1 − d, high < 1 and p ≤ limit; **slower** if m > 1 + d, low > 1 and
///    p ≤ limit.
///    * m beyond d: a difference below the threshold does not count, however certain it is.
///    * The interval has to exclude 1, not 1 ∓ d: there *is* a difference, and its best estimate is
///      larger than d. Reports show the interval beside the verdict.
///    * p ≤ limit: the interval is about one cell and is too narrow at small n; p is exact at every n
///      and corrected for the number of cells. The limit is [`LEVEL`], or 2 / 2ⁿ if that is larger, which
///      is n = 5 only: the smallest p of five rounds is 0.0625, so all five must agree, and a false
///      positive has a probability of up to 1 in 16. With several cells, the correction puts five
///      rounds out of reach, as it should.
/// 4. **undecided** otherwise.
///
/// Rules 2 and 3 exclude each other, as an interval contains its median. A p outside `0.0..=1.0` counts
/// as 1. A threshold outside its range gives "undecided".
///
/// # Further rounds
///
/// An interval shrinks with √n. If m is within d, the interval has to shrink until it fits there. If m
/// is beyond d, it has to exclude 1, and p has to reach the limit; ln p falls in proportion to n if
/// further rounds are like those so far. [`Judgement::more_rounds`] is the larger need. It is an
/// estimate, as the median moves, too. There is none if m lies on the threshold (no number of rounds is
/// enough) or more than 10,000 rounds are needed.
#[must_use]
pub fn judge(ratios: &Ratios, adjusted_p: f64, threshold: f64) -> Judgement {
    let adjusted_p = Some(adjusted_p).filter(|p| (0.0..=1.0).contains(p)).unwrap_or(1.0);
    let possible = (0.0..1.0).contains(&threshold);
    let verdict = if possible && ratios.n >= MIN_ROUNDS {
        decide(ratios, adjusted_p, threshold)
    } else {
        Verdict::Undecided
    };
    let is_open = possible && verdict == Verdict::Undecided;
    let more_rounds = if is_open { more_rounds(ratios, adjusted_p, threshold) } else { None };
    Judgement { verdict, adjusted_p, threshold, more_rounds }
}

/// Judges all cells of a session, corrected for their number, in their order. The A/A pair is not among
/// them: see [`aa_check`].
#[must_use]
pub fn judge_all(cells: &[Ratios], threshold: f64) -> Vec<Judgement> {
    let p: Vec<f64> = cells.iter().map(|ratios| ratios.p).collect();
    cells.iter().zip(holm(&p)).map(|(ratios, p)| judge(ratios, p, threshold)).collect()
}

/// Returns whether the A/A pair, the base measured twice under two names, passes: it shows no
/// difference. If it does, the measurement is wrong, and the lab prints no other verdict of that
/// session.
///
/// The pair is judged like any cell, but without a correction for other cells, which makes the check
/// stricter. An undecided pair passes: the same noise affects the other cells and leaves them undecided,
/// too.
#[must_use]
pub fn aa_check(pair: &Ratios, threshold: f64) -> bool {
    !judge(pair, pair.p, threshold).verdict.is_difference()
}

fn decide(ratios: &Ratios, adjusted_p: f64, d: f64) -> Verdict {
    let Ratios { median, low, high, .. } = *ratios;
    let shown = adjusted_p <= limit(ratios.n);
    if 1.0 - d <= low && high <= 1.0 + d {
        Verdict::NoDifference
    } else if shown && median < 1.0 - d && high < 1.0 {
        Verdict::Faster
    } else if shown && median > 1.0 + d && low > 1.0 {
        Verdict::Slower
    } else {
        Verdict::Undecided
    }
}

/// Returns whether this number of rounds, all in agreement, can decide one of this number of cells
/// judged together.
#[must_use]
pub fn can_decide(cells: usize, rounds: usize) -> bool {
    let least = 0.5_f64.powi(rounds.min(64) as i32 - 1);
    rounds >= MIN_ROUNDS && least * cells as f64 <= limit(rounds)
}

/// Returns the largest p that counts as evidence.
fn limit(n: usize) -> f64 {
    0.5_f64.powi(n.min(64) as i32 - 1).max(LEVEL)
}

fn more_rounds(ratios: &Ratios, adjusted_p: f64, d: f64) -> Option<u64> {
    if ratios.n < MIN_ROUNDS {
        return Some((MIN_ROUNDS - ratios.n) as u64);
    }
    let [median, low, high] = [ratios.median, ratios.low, ratios.high].map(libm::log);
    let [least, most] = [1.0 - d, 1.0 + d].map(libm::log);
    // Halving an interval takes four times the rounds.
    let growth = |width: f64, room: f64| (width / room).powi(2);
    let times = if (least..=most).contains(&median) {
        growth(high - median, most - median).max(growth(median - low, median - least))
    } else {
        let near = if median < 0.0 { high - median } else { median - low };
        growth(near, median).max(growth_for_p(ratios.p, adjusted_p))
    };
    let needed = (times * ratios.n as f64).ceil();
    // This also refuses NaN.
    (needed <= MAX_ROUNDS).then(|| (needed as u64).saturating_sub(ratios.n as u64).max(1))
}

/// Returns the factor by which the rounds have to grow until p is small enough.
fn growth_for_p(p: f64, adjusted_p: f64) -> f64 {
    let cells = adjusted_p / p;
    libm::log(LEVEL / cells) / libm::log(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratios(n: usize, low: f64, median: f64, high: f64) -> Ratios {
        Ratios { n, median, low, high, mad: 0.01, p: 0.002, seed: 0 }
    }

    fn verdict(ratios: &Ratios) -> Verdict {
        judge(ratios, ratios.p, DEFAULT_THRESHOLD).verdict
    }

    #[test]
    fn judge_follows_every_rule() {
        for (low, median, high, expected) in [
            (0.98, 1.0, 1.02, Verdict::NoDifference),
            (0.98, 0.985, 0.99, Verdict::NoDifference), // certain, but below the threshold
            (0.85, 0.9, 0.95, Verdict::Faster),
            (0.90, 0.95, 0.99, Verdict::Faster), // beyond 1, across 1 − d
            (1.01, 1.05, 1.10, Verdict::Slower),
            (0.90, 0.95, 1.00, Verdict::Undecided), // 1 itself is in it
            (0.95, 0.98, 0.99, Verdict::Undecided), // below d, perhaps
            (1.01, 1.02, 1.05, Verdict::Undecided),
            (0.80, 1.0, 1.2, Verdict::Undecided), // wide: no evidence of equality
        ] {
            assert_eq!(verdict(&ratios(10, low, median, high)), expected, "{low} {median} {high}");
        }
    }

    #[test]
    fn judge_fewer_than_five_rounds_undecided() {
        for n in 1..MIN_ROUNDS {
            for clear in [ratios(n, 0.1, 0.1, 0.1), ratios(n, 1.0, 1.0, 1.0)] {
                let judgement = judge(&clear, 0.0, DEFAULT_THRESHOLD);
                assert_eq!(judgement.verdict, Verdict::Undecided);
                assert_eq!(judgement.more_rounds, Some((MIN_ROUNDS - n) as u64));
            }
        }
    }

    #[test]
    fn judge_large_p_undecided() {
        let clear = ratios(10, 0.85, 0.9, 0.95);
        assert_eq!(judge(&clear, 0.04, 0.03).verdict, Verdict::Faster);
        assert_eq!(judge(&clear, 0.041, 0.03).verdict, Verdict::Undecided);
        assert_eq!(judge(&clear, f64::NAN, 0.03).adjusted_p, 1.0);
        assert_eq!(judge(&clear, f64::NAN, 0.03).verdict, Verdict::Undecided);
    }

    #[test]
    fn judge_five_rounds_have_to_agree() {
        let clear = ratios(5, 0.85, 0.9, 0.95);
        assert_eq!(judge(&clear, 0.0625, 0.03).verdict, Verdict::Faster);
        assert_eq!(judge(&clear, 0.125, 0.03).verdict, Verdict::Undecided);
        assert_eq!(judge(&ratios(6, 0.85, 0.9, 0.95), 0.0625, 0.03).verdict, Verdict::Undecided);
    }

    #[test]
    fn judge_all_many_cells_need_more_rounds() {
        // Five unanimous rounds are not enough among ten cells.
        let cell = Ratios { p: 0.0625, ..ratios(5, 0.85, 0.9, 0.95) };
        let judgements = judge_all(&[cell; 10], DEFAULT_THRESHOLD);
        for judgement in judgements {
            assert_eq!(judgement.verdict, Verdict::Undecided);
            let rounds = 5 + judgement.more_rounds.unwrap();
            assert!(10.0 * 0.5_f64.powi(rounds as i32 - 1) <= LEVEL, "{rounds} rounds");
            assert!(rounds <= 10);
        }
    }

    #[test]
    fn more_rounds_follows_interval_width() {
        let need = |low, median, high| {
            let ratios = ratios(10, low, median, high);
            judge(&ratios, ratios.p, DEFAULT_THRESHOLD).more_rounds
        };
        // Twice as wide as allowed: four times the rounds, so about 30 more; logs change it a little.
        let wide = need(0.94, 1.0, 1.06).unwrap();
        assert!((28..=33).contains(&wide), "{wide}");
        // The interval includes 1 by very little.
        assert!(need(0.85, 0.9, 1.001).unwrap() <= 2);
        assert_eq!(need(0.85, 0.9, 0.95), None, "it is decided");
        assert_eq!(need(0.90, 0.97, 1.04), None, "on the threshold no number of rounds helps");
        assert_eq!(need(0.01, 1.0, 100.0), None, "too many for an estimate");
    }

    #[test]
    fn judge_invalid_threshold_undecided() {
        for threshold in [f64::NAN, -0.1, 1.0, f64::INFINITY] {
            let judgement = judge(&ratios(10, 0.4, 0.5, 0.6), 0.001, threshold);
            assert_eq!((judgement.verdict, judgement.more_rounds), (Verdict::Undecided, None));
        }
        assert_eq!(judge(&ratios(10, 0.4, 0.5, 0.6), 0.001, 0.0).verdict, Verdict::Faster);
    }

    #[test]
    fn aa_check_fails_only_on_a_difference() {
        assert!(aa_check(&ratios(10, 0.98, 1.0, 1.02), 0.03));
        assert!(aa_check(&ratios(10, 0.80, 1.0, 1.20), 0.03), "undecided");
        assert!(!aa_check(&ratios(10, 0.85, 0.9, 0.95), 0.03));
        assert!(!aa_check(&ratios(10, 1.05, 1.1, 1.15), 0.03));
    }

    #[test]
    fn verdict_names_match_json() {
        for verdict in [Verdict::Faster, Verdict::Slower, Verdict::NoDifference, Verdict::Undecided]
        {
            let json = serde_json::to_string(&verdict).unwrap();
            assert_eq!(json, format!("\"{}\"", verdict.as_str()));
        }
        assert_eq!(format!("{:>14}", Verdict::NoDifference), " no difference");
    }
}
