//! Sessions of one method under several names, and of one that takes longer.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use transect::{Cancel, Order, ReaderKind};

use super::rate::{ALIASES, DELAY, Length, MAX_FALSE, MAX_ROUNDS, MIN_FOUND, Rate, VerdictRates};
use super::request::{SelfTestError, SelfTestRequest, SelfTestStep};
use super::result::Measured;
use super::tree;
use crate::experiments::walk::measure::{WalkExperiment, dataset};
use crate::experiments::walk::method::{Method, cells};
use crate::experiments::walk::variant::Variant;
use crate::harness::cache_state::State;
use crate::harness::error::Error;
use crate::harness::experiment::{CountPart, Experiment, Job, Launcher, Output};
use crate::harness::launch::{Failure, Usage};
use crate::harness::log::{FileEvidence, Outcome, Sample, SessionData};
use crate::harness::scheduler::Session;
use crate::harness::stopping::are_precise;
use crate::ranking::rank;
use crate::spec::{Cell, SessionSpec, Spec};
use transect_stats::{SplitMix64, Verdict};

/// The name of the cell that takes longer.
const DELAYED: &str = "delayed";

/// Rounds after which the duration is estimated.
const FIRST_ROUNDS: usize = 5;

/// The tree is that much smaller than for faults: there are many more processes.
const SMALLER: usize = 10;

/// Sessions look after every round whether they are precise. Looking less often saves most of the time of
/// ranking.
const ROUNDS_BETWEEN_LOOKS: usize = 4;

/// The time limit of a process, in seconds.
const LIMIT: u64 = 60;

/// Walks, and delays one of the cells.
struct Delaying<'m>(WalkExperiment<'m>);

impl Experiment for Delaying<'_> {
    fn launcher(&self) -> &Launcher {
        self.0.launcher()
    }

    fn begin(&mut self, job: &Job<'_>) -> Option<Outcome> {
        self.0.begin(job)
    }

    fn command(&mut self, job: &Job<'_>) -> Result<Command, Failure> {
        let mut command = self.0.command(job)?;
        if job.cell.name == DELAYED {
            command.arg("--delay").arg(DELAY.to_string());
        }
        Ok(command)
    }

    fn verify(
        &mut self,
        job: &Job<'_>,
        output: &Output,
        files: Option<&mut FileEvidence>,
    ) -> Result<(), String> {
        self.0.verify(job, output, files)
    }

    fn begin_counting(&mut self, spec: &SessionSpec) -> Result<std::path::PathBuf, Error> {
        self.0.begin_counting(spec)
    }

    fn count_command(&mut self, job: &Job<'_>, part: CountPart) -> Result<(Command, u64), String> {
        self.0.count_command(job, part)
    }

    fn start_up(&mut self, job: &Job<'_>) -> Result<Usage, String> {
        self.0.start_up(job)
    }
}

/// Returns the spec of the long session. The method is one on a single thread: in a delay of its only
/// thread, wall time and CPU time grow by the same share, whichever is compared.
fn spec(root: &Path, rounds: usize) -> (Method, SessionSpec) {
    let method = Method::variant(&Variant::new(ReaderKind::best(), Order::Recursive));
    let mut cells = cells(&[&method], &method.name);
    let alias = |name: String| Cell { name, ..method.cell() };
    cells.extend((1..=ALIASES).map(|number| alias(format!("alias {number}"))));
    cells.push(alias(DELAYED.to_owned()));
    let datasets = vec![dataset("tree".to_owned(), root.to_owned())];
    let spec = SessionSpec::new(Spec::Walk, "self-test", datasets, cells, &method.name);
    let seed = spec.environment.began;
    let spec = SessionSpec { cache_states: vec![State::Warm], rounds, seed, limit: LIMIT, ..spec };
    (method, spec)
}

/// Measures the long session; returns `None` if cancelled.
pub(super) fn measure(
    request: &SelfTestRequest,
    cancel: &Cancel,
    progress: &mut dyn FnMut(SelfTestStep),
) -> Result<Option<SessionData>, SelfTestError> {
    let root = request.folder.join("equal");
    tree::create(&root, request.files / SMALLER)
        .map_err(|error| SelfTestError::Prepare("a tree".to_owned(), error))?;
    let (method, spec) = spec(&root, request.sessions * MAX_ROUNDS);
    let (methods, cells) = ([method], spec.cells.len());
    let program = request.program.clone();
    let launcher = Launcher { program, built: Default::default(), disturbable: true };
    let mut session = Session::begin(spec, &request.folder.join("equal.jsonl"))?;
    let (began, mut done) = (Instant::now(), 0_u32);
    let mut experiment = Delaying(WalkExperiment::new(&methods, &launcher));
    session.run(&mut experiment, cancel, &mut |_, left| {
        done += 1;
        if done as usize == FIRST_ROUNDS * cells {
            let left = u32::try_from(left).unwrap_or(u32::MAX);
            progress(SelfTestStep::Estimated(None, began.elapsed() / done * left));
        }
        progress(SelfTestStep::RunsLeft(left));
    })?;
    if cancel.is_cancelled() {
        return Ok(None);
    }
    let data = session.data();
    let failed = data.samples.iter().find_map(|sample| match &sample.outcome {
        Outcome::Failed(failure) => Some((sample.cell.clone(), failure.clone())),
        _ => None,
    });
    match failed {
        Some((cell, failure)) => Err(SelfTestError::Method(cell, failure)),
        None => Ok(Some(data.clone())),
    }
}

/// Returns the samples for the result.
pub(super) fn measured(data: &SessionData) -> Measured {
    let mut measured = Measured {
        method: data.spec.base.clone(),
        files: data.spec.datasets[0].expected.files,
        rounds: data.spec.rounds,
        disturbed: 0,
        noise_percent: 0.0,
        times_ns: data.spec.cells.iter().map(|cell| (cell.name.clone(), Vec::new())).collect(),
    };
    for sample in &data.samples {
        let Outcome::Right { runs, .. } = &sample.outcome else { continue };
        measured.disturbed += usize::from(!sample.outcome.disturbed().is_empty());
        let times = measured.times_ns.get_mut(&sample.cell);
        times.expect("BUG: it is a cell").extend(runs.iter().map(|run| run.elapsed_ns));
    }
    let noise = rank(data).remove(0).noise;
    // The ratio of two samples varies √2 times as much as one; 1.4826 scales to a standard deviation.
    measured.noise_percent =
        noise.map_or(0.0, |pair| 100.0 * 1.4826 * pair.mad / std::f64::consts::SQRT_2);
    measured
}

/// Returns the rates of short sessions: consecutive rounds of the long one.
pub(super) fn rates(data: &SessionData, length: Length, has_power_target: bool) -> VerdictRates {
    rates_of("measured".to_owned(), length, &split(data, length), has_power_target)
}

/// Splits a session into sessions of consecutive rounds. An incomplete last one is left out.
fn split(data: &SessionData, length: Length) -> Vec<SessionData> {
    let mut seeds = SplitMix64::new(data.spec.seed);
    let mut rounds: Vec<Vec<Sample>> = vec![Vec::new(); data.spec.rounds];
    for sample in &data.samples {
        rounds[sample.round].push(sample.clone());
    }
    let (mut sessions, mut rest) = (Vec::new(), rounds.as_slice());
    while let Some(session) = take(data, rest, length, seeds.bits()) {
        rest = &rest[session.spec.rounds..];
        sessions.push(session);
    }
    sessions
}

/// Returns the session of the first of these rounds; `None` if they are too few. `data` has its cells.
pub(super) fn take(
    data: &SessionData,
    rounds: &[Vec<Sample>],
    length: Length,
    seed: u64,
) -> Option<SessionData> {
    let spec = SessionSpec { rounds: length.min(), seed, ..data.spec.clone() };
    let mut session = SessionData::begin(spec);
    for (at, samples) in rounds.iter().enumerate() {
        let samples = samples.iter().map(|sample| Sample { round: at, ..sample.clone() });
        session.samples.extend(samples);
        let done = at + 1;
        session.spec.rounds = done.max(length.min());
        let is_over = match length {
            Length::Fixed(rounds) => done == rounds,
            Length::UntilPrecise { min, max } => {
                let is_look = done >= min && (done - min) % ROUNDS_BETWEEN_LOOKS == 0;
                done == max || is_look && are_precise(&rank(&session), done)
            }
        };
        if is_over {
            return Some(session);
        }
    }
    None
}

/// Ranks sessions, each once without the method that takes longer, and once with it.
pub(super) fn rates_of(
    source: String,
    length: Length,
    sessions: &[SessionData],
    has_power_target: bool,
) -> VerdictRates {
    let (mut alarmed, mut crowned, mut refused, mut found, mut denied) = (0, 0, 0, 0, 0);
    for data in sessions {
        let mut equal = data.clone();
        equal.spec.cells.retain(|cell| cell.name != DELAYED);
        equal.samples.retain(|sample| sample.cell != DELAYED);
        let ranking = rank(&equal).remove(0);
        let is_difference = ranking
            .rows
            .iter()
            .any(|row| row.judgement.is_some_and(|it| it.verdict.is_difference()));
        // No verdict of a noisy session counts.
        alarmed += usize::from(is_difference && !ranking.noisy);
        crowned += usize::from(ranking.best.len() == 1);
        refused += usize::from(ranking.noisy);

        let ranking = rank(data).remove(0);
        let delayed = ranking.rows.iter().find(|row| row.cell.name == DELAYED);
        let verdict = delayed.and_then(|row| row.judgement).map(|judgement| judgement.verdict);
        match verdict.filter(|_| !ranking.noisy) {
            Some(Verdict::Slower | Verdict::MoreCpu) => found += 1,
            Some(Verdict::Faster | Verdict::LessCpu | Verdict::NoDifference) => denied += 1,
            Some(Verdict::Undecided) | None => {}
        }
    }
    let rate = |hits| Rate::of(hits, sessions.len());
    let (false_verdicts, found) = (rate(alarmed), rate(found));
    let rounds: usize = sessions.iter().map(|session| session.spec.rounds).sum();
    VerdictRates {
        source,
        rounds: length.min(),
        mean_rounds: matches!(length, Length::UntilPrecise { .. })
            .then(|| rounds as f64 / sessions.len().max(1) as f64),
        false_verdicts,
        single_winner: rate(crowned),
        refused: rate(refused),
        found,
        denied: rate(denied),
        has_power_target,
        passed: false_verdicts.share <= MAX_FALSE
            && (!has_power_target || found.share >= MIN_FOUND),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::with;

    #[test]
    fn split_keeps_whole_sessions_of_consecutive_rounds() {
        let data = with(&[("base", 1000), ("base (again)", 1000)], 25);
        let sessions = split(&data, Length::Fixed(12));
        assert_eq!(sessions.len(), 2);
        let time = |session: &SessionData, at: usize| match &session.samples[at].outcome {
            Outcome::Right { runs, .. } => runs[0].elapsed_ns,
            _ => 0,
        };
        for (session, first) in sessions.iter().zip([1000, 1012]) {
            assert_eq!((session.samples.len(), session.spec.rounds), (24, 12));
            assert_eq!((time(session, 0), session.samples[0].round), (first, 0));
        }
        assert_ne!(sessions[0].spec.seed, sessions[1].spec.seed);
    }

    #[test]
    fn sessions_until_precise_end_by_the_rule_of_sessions() {
        let mut data = with(&[("base", 100_000), ("base (again)", 100_000), ("a", 100_000)], 40);
        let length = Length::UntilPrecise { min: 5, max: 12 };
        let rounds = |data: &SessionData| -> Vec<usize> {
            split(data, length).iter().map(|session| session.spec.rounds).collect()
        };
        assert_eq!(rounds(&data), [5; 8], "nothing varies");
        for sample in data.samples.iter_mut().filter(|sample| sample.cell == "a") {
            let Outcome::Right { runs, .. } = &mut sample.outcome else { continue };
            runs[0].elapsed_ns += if sample.round % 2 == 0 { 30_000 } else { 0 };
        }
        assert_eq!(rounds(&data), [12; 3], "never precise");
    }
}
