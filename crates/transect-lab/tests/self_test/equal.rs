//! Sessions of one method under several names, and of one that takes longer.

use std::path::Path;
use std::process::Command;

use transect::internal::Order;
use transect::{Cancel, ReaderKind};

use crate::rate::{ALIASES, DELAY, Length, MAX_FALSE, MIN_FOUND, Rate, VerdictRates};
use crate::result::Measured;
use crate::{PROGRAM, tree};
use transect_lab::experiments::walk::measure::{WalkExperiment, dataset};
use transect_lab::experiments::walk::method::{Method, cells};
use transect_lab::experiments::walk::preset::PRESETS;
use transect_lab::experiments::walk::variant::Variant;
use transect_lab::harness::cache_state::State;
use transect_lab::harness::experiment::{CountPart, Experiment, Job, Launcher, Output};
use transect_lab::harness::launch::{Failure, Usage};
use transect_lab::harness::log::{FileEvidence, Outcome, Sample, Session, SessionData};
use transect_lab::ranking::rank;
use transect_lab::ranking::stopping::{self, are_precise, is_look};
use transect_lab::spec::{Cell, SessionSpec};
use transect_stats::{SplitMix64, Verdict};

/// The name of the cell that takes longer.
const DELAYED: &str = "delayed";

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

    fn command(&self, job: &Job<'_>) -> Result<Command, Failure> {
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

    fn begin_counting(&mut self, spec: &SessionSpec) {
        self.0.begin_counting(spec);
    }

    fn count_command(&mut self, job: &Job<'_>, part: CountPart) -> Result<(Command, u64), String> {
        self.0.count_command(job, part)
    }

    fn start_up(&mut self, job: &Job<'_>) -> Result<Usage, String> {
        self.0.start_up(job)
    }
}

/// Returns the method, and the spec of a session as the default preset has it: further rounds until every
/// ratio is precise, within its time limit or the given one. The method is one on a single thread: in a
/// delay of its only thread, wall time and CPU time grow by the same share, whichever is compared.
pub(crate) fn spec(root: &Path, max_time: Option<u64>) -> (Method, SessionSpec) {
    let method = Method::variant(&Variant::new(ReaderKind::best(), Order::Recursive));
    let mut cells = cells(&[&method], &method.name);
    let base = cells[0].clone();
    let alias = |name: String| Cell { name, ..base.clone() };
    cells.extend((1..=ALIASES).map(|number| alias(format!("alias {number}"))));
    cells.push(alias(DELAYED.to_owned()));
    let datasets = vec![dataset("tree".to_owned(), root.to_owned())];
    let spec = SessionSpec::new("self-test", datasets, cells, &method.name);
    let rounds = PRESETS[0].rounds;
    let max_time = max_time.or(PRESETS[0].max_time);
    let spec = SessionSpec { cache_states: vec![State::Warm], rounds, max_time, ..spec };
    (method, SessionSpec { limit: LIMIT, ..spec })
}

/// Measures sessions of walks of a tree in `folder`, or continues with those that an earlier run left there.
pub(crate) fn measure(
    folder: &Path,
    files: usize,
    sessions: usize,
    max_time: Option<u64>,
) -> Vec<SessionData> {
    let root = folder.join("equal");
    if !root.exists() {
        let unfinished = folder.join("unfinished");
        let _ = std::fs::remove_dir_all(&unfinished);
        tree::create(&unfinished, files).expect("a tree");
        std::fs::rename(unfinished, &root).expect("a tree");
    }
    let (method, spec) = spec(&root, max_time);
    let methods = [method];
    let launcher =
        Launcher { program: PROGRAM.into(), built: Default::default(), disturbable: true };
    let mut experiment = Delaying(WalkExperiment::new(&methods, &launcher));
    let mut seeds = SplitMix64::new(spec.environment.began);
    let session = |number: usize| {
        let spec = SessionSpec { seed: seeds.bits(), ..spec.clone() };
        let file = folder.join(format!("equal-{number}.jsonl"));
        let session =
            if file.exists() { Session::resume(&file) } else { Session::begin(spec, &file) };
        let mut session = session.expect("a session");
        session
            .run(&mut experiment, &stopping::end, &Cancel::new(), &mut |_, _| ())
            .expect("samples");
        let data = session.data().clone();
        for sample in &data.samples {
            let Outcome::Failed(failure) = &sample.outcome else { continue };
            panic!("{}: {failure}", sample.cell);
        }
        data
    };
    (0..sessions).map(session).collect()
}

/// Returns the samples for the result, in the order of the sessions.
pub(crate) fn measured(sessions: &[SessionData]) -> Measured {
    let all = joined(sessions);
    let mut measured = Measured {
        method: all.spec.base.clone(),
        files: all.spec.datasets[0].expected.files,
        rounds: sessions.iter().map(SessionData::rounds).collect(),
        disturbed: 0,
        noise_percent: 0.0,
        times_ns: all.spec.cells.iter().map(|cell| (cell.name.clone(), Vec::new())).collect(),
    };
    for sample in &all.samples {
        let Outcome::Right { runs, .. } = &sample.outcome else { continue };
        measured.disturbed += usize::from(!sample.outcome.disturbed().is_empty());
        let times = measured.times_ns.get_mut(&sample.cell);
        times.expect("BUG: it is a cell").extend(runs.iter().map(|run| run.elapsed_ns));
    }
    let noise = rank(&all).remove(0).noise;
    // The ratio of two samples varies √2 times as much as one; 1.4826 scales to a standard deviation.
    measured.noise_percent =
        noise.map_or(0.0, |pair| 100.0 * 1.4826 * pair.mad / std::f64::consts::SQRT_2);
    measured
}

/// Returns sessions as one, with all their rounds.
///
/// # Panics
/// There is none.
fn joined(sessions: &[SessionData]) -> SessionData {
    let mut all = SessionData::begin(sessions[0].spec.clone());
    let mut rounds = 0;
    for session in sessions {
        let moved = |sample: &Sample| Sample { round: rounds + sample.round, ..sample.clone() };
        all.samples.extend(session.samples.iter().map(moved));
        rounds += session.rounds();
    }
    all.spec.rounds = rounds;
    all
}

/// Returns the rates of sessions of a fixed number of rounds: consecutive rounds of the measured ones.
pub(crate) fn rates_of_fixed(sessions: &[SessionData], rounds: usize) -> VerdictRates {
    let sessions = split(&joined(sessions), rounds);
    rates_of("measured".to_owned(), Length::Fixed(rounds), &sessions, false)
}

/// Splits a session into sessions of consecutive rounds. An incomplete last one is left out.
fn split(data: &SessionData, rounds: usize) -> Vec<SessionData> {
    let mut seeds = SplitMix64::new(data.spec.seed);
    let mut by_round: Vec<Vec<Sample>> = vec![Vec::new(); data.spec.rounds];
    for sample in &data.samples {
        by_round[sample.round].push(sample.clone());
    }
    let sessions = by_round.chunks_exact(rounds);
    let session = |of: &[Vec<Sample>]| take(data, of, Length::Fixed(rounds), seeds.bits());
    sessions.filter_map(session).collect()
}

/// Returns the session of the first of these rounds; `None` if they are too few. `data` has its cells.
pub(crate) fn take(
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
                let is_look = done >= min && is_look(done);
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
pub(crate) fn rates_of(
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
    let rounds: usize = sessions.iter().map(SessionData::rounds).sum();
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
