//! Chooses the method that the planner should use on this machine, by kind, size and cache state of files.
//!
//! A method is chosen in the even rounds and confirmed in the odd ones: the fastest of many is partly the
//! luckiest, and the samples that chose it cannot show that. All rounds together have to give the same
//! verdict, corrected for the number of methods.

use serde::{Serialize, Serializer};
use transect_transform::pass::{IoMethod, Load, PassOptions, Plan, SizeClass, Task};
use transect_transform::step::{Cost, Step};

use super::runs::RunTimes;
use crate::experiments::transform::{Kind, Variant};
use crate::harness::cache_state::State;
use transect_program::profile::{TransformEvidence, load, method};
use transect_stats::verdict::{DEFAULT_THRESHOLD, MIN_ROUNDS};
use transect_stats::{Ratios, Verdict, judge, judge_all};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodChoice {
    /// The load of the transform, as the planner classifies it.
    #[serde(with = "load")]
    pub load: Load,
    /// Size class of the files; `None` if they are too small for a choice.
    #[serde(serialize_with = "by_word")]
    pub size: Option<SizeClass>,
    #[serde(with = "method")]
    pub by_default: IoMethod,
    #[serde(flatten)]
    pub chosen: Chosen,
}

fn by_word<S: Serializer>(size: &Option<SizeClass>, serializer: S) -> Result<S::Ok, S::Error> {
    size.map(SizeClass::as_str).serialize(serializer)
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "chosen", rename_all = "snake_case")]
pub enum Chosen {
    /// Another method, or another block.
    Preferred {
        #[serde(with = "method")]
        method: IoMethod,
        /// Block size in bytes; `None` for the default of the method.
        block: Option<usize>,
        evidence: TransformEvidence,
    },
    /// The default: nothing is faster.
    Default,
    Undecided {
        reason: String,
    },
}

/// A method of the engine, compared with the default.
struct Candidate {
    cell: String,
    variant: Variant,
    ratios: Ratios,
    verdict: Verdict,
}

impl MethodChoice {
    /// Chooses among the methods that ran on one dataset in one cache state.
    pub(super) fn of(runs: &RunTimes<'_>, state: State, kind: Kind) -> Self {
        let bytes = runs.dataset.expected.bytes;
        let cost = kind.step().map(|step| step.cost()).unwrap_or_default();
        let by_default = by_default(kind, cost, bytes);
        let size = SizeClass::of(bytes);
        let undecided = |reason: String| Chosen::Undecided { reason };
        let chosen = if size.is_none() {
            undecided("reading and writing is not what takes time in a small file".to_owned())
        } else if state == State::AsIs {
            undecided("it is unknown how much of the input was in memory".to_owned())
        } else if state == State::Cold && runs.spec.dropped.is_some() {
            undecided("nothing proves that the input was cold".to_owned())
        } else {
            choose(runs, by_default).unwrap_or_else(undecided)
        };
        Self { load: Load::of(kind.shape(), cost), size, by_default, chosen }
    }
}

/// Returns the method that the planner uses without a profile.
fn by_default(kind: Kind, cost: Cost, size: u64) -> IoMethod {
    let task = Task::new(kind.shape(), cost, size);
    let plan = Plan::new(&PassOptions::default(), task);
    plan.expect("BUG: no method was asked for, so none is refused").method
}

/// Chooses a method, or returns why none can be chosen.
fn choose(runs: &RunTimes<'_>, by_default: IoMethod) -> Result<Chosen, String> {
    runs.check_noise()?;
    // On a busy machine, methods with several threads get a larger share of the processors.
    if let Some(crowd) = runs.busy_machine() {
        return Err(crowd);
    }
    let base = default_cell(runs, by_default)?;
    let rounds = runs.rounds(&base);
    if rounds < 2 * MIN_ROUNDS {
        let needed = 2 * MIN_ROUNDS;
        return Err(format!("choosing and confirming takes {needed} rounds, not {rounds}"));
    }
    let candidates = candidates(runs, &base);
    let half = |parity: usize| move |round: usize| round % 2 == parity;
    let first = |candidate: &Candidate| {
        runs.ratios(&base, &candidate.cell, half(0)).map_or(f64::INFINITY, |it| it.median)
    };
    let best = candidates.iter().min_by(|a, b| first(a).total_cmp(&first(b)));
    let is_no_better = |candidate: &Candidate| {
        matches!(candidate.verdict, Verdict::Slower | Verdict::NoDifference)
    };
    let Some(best) = best.filter(|_| !candidates.iter().all(is_no_better)) else {
        return Ok(Chosen::Default);
    };
    let confirmed = runs.ratios(&base, &best.cell, half(1));
    let confirmed = confirmed.ok_or("they never ran in the same round")?;
    let again = judge(&confirmed, confirmed.p, DEFAULT_THRESHOLD).verdict;
    if (best.verdict, again) != (Verdict::Faster, Verdict::Faster) {
        let (cell, ratios) = (&best.cell, &best.ratios);
        let base = if base == runs.spec.base { "the base" } else { &base };
        return Err(format!(
            "{cell} took {ratios} times as long as {base}: {} in all rounds, {again} in the rounds \
             that did not choose it",
            best.verdict
        ));
    }
    let known = IoMethod::ALL.iter().find(|known| known.as_str() == best.variant.method);
    let method =
        *known.ok_or_else(|| format!("method {} does not exist any more", best.variant.method))?;
    let evidence = TransformEvidence { ratios: best.ratios, confirmed };
    Ok(Chosen::Preferred { method, block: best.variant.block, evidence })
}

/// Returns the cell of the planner's default; the fastest if it ran only with explicit block sizes.
fn default_cell(runs: &RunTimes<'_>, by_default: IoMethod) -> Result<String, String> {
    let name = by_default.as_str();
    let of_it = runs.of_the_engine().into_iter().filter(|(_, variant)| variant.method == name);
    let key = |&(cell, ref variant): &(&str, Variant)| {
        (variant.block.is_some(), runs.median(cell).unwrap_or(f64::INFINITY))
    };
    let best = of_it.min_by(|a, b| {
        let ((a_block, a_time), (b_block, b_time)) = (key(a), key(b));
        a_block.cmp(&b_block).then(a_time.total_cmp(&b_time))
    });
    let missing = || format!("the default of the planner did not run: {name}");
    best.map(|(cell, _)| cell.to_owned()).ok_or_else(missing)
}

/// Returns all other methods of the engine, judged together.
fn candidates(runs: &RunTimes<'_>, base: &str) -> Vec<Candidate> {
    let others = runs.of_the_engine().into_iter();
    let others = others.filter(|(cell, variant)| *cell != base && !variant.hint);
    let candidate = |(cell, variant): (&str, Variant)| {
        let ratios = runs.ratios(base, cell, |_| true)?;
        Some(Candidate { cell: cell.to_owned(), variant, ratios, verdict: Verdict::Undecided })
    };
    let mut candidates: Vec<Candidate> = others.filter_map(candidate).collect();
    let ratios: Vec<Ratios> = candidates.iter().map(|candidate| candidate.ratios).collect();
    for (candidate, judged) in candidates.iter_mut().zip(judge_all(&ratios, DEFAULT_THRESHOLD)) {
        candidate.verdict = judged.verdict;
    }
    candidates
}
