//! Finding the settings that win on a file system.
//!
//! ```text
//! PATH ─► a sample tree that fits the time ─► a session: the default, and each setting changed alone
//!                                             │ only what is decidedly faster
//!                                             ▼
//!                       a second session: the default, and all that won, together ─► profile
//! ```
//!
//! The second session is there because the winner among many is partly the luckiest: what it won
//! with is not measured again by believing it. Only fresh samples that say "faster" change anything.

pub mod profile;

use std::path::{Path, PathBuf};
use std::time::Duration;

use transect::{Cancel, Order, ReaderKind, StatOrder};

use crate::experiments::walk::measure::{Walks, dataset, engine_command};
use crate::experiments::walk::method::{Method, cells};
use crate::experiments::walk::sample_tree::{SMALLEST_SAMPLE_TREE, SampleTree, sample_tree};
use crate::harness::cache_state::State;
use crate::harness::environment::Environment;
use crate::harness::experiment::Launcher;
use crate::harness::launch;
use crate::harness::scheduler::{self, Session};
use crate::spec::{SCHEMA, SessionSpec, Spec};
use crate::stats::Verdict;
use crate::stats::ranking::{Metric, Ranking, rank};
use crate::tune::profile::{Evidence, Settings};
use transect_text::size;

/// With fewer rounds than that nothing can be decided among a dozen cells: all of ten rounds agree
/// by chance twice in 1,024 sessions, which the correction for the other cells multiplies by their
/// number.
const MIN_TUNE_ROUNDS: usize = 10;

/// More rounds narrow nothing that matters.
const MAX_TUNE_ROUNDS: usize = 40;

/// The largest sample tree that is tried first, in entries.
const LARGEST_PORTION: u64 = 60_000;

/// With fewer entries than that, threads are mostly started: what is best there is not best for a
/// whole file system, so nothing of them is tried.
const MIN_ENTRIES_FOR_THREADS: u64 = 5000;

/// The longest that one walk may take, in seconds.
const WALK_TIMEOUT_SECONDS: u64 = 60;

/// What is asked for.
#[derive(Debug)]
pub struct TuneRequest<'a> {
    /// A place on the file system.
    pub path: &'a Path,
    /// The states of the caches to measure in.
    pub states: &'a [State],
    /// How long it may take, about.
    pub time: Duration,
    /// The program `transect`.
    pub program: PathBuf,
    /// Where the samples go: two files, which must not be there yet.
    pub files: [PathBuf; 2],
    /// As in [`Launcher::disturbable`].
    pub disturbable: bool,
}

impl TuneRequest<'_> {
    fn launcher(&self) -> Launcher {
        let (program, built) = (self.program.clone(), Default::default());
        Launcher { program, built, disturbable: self.disturbable }
    }
}

/// What was found out.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneResult {
    /// What was read.
    pub sample_tree: SampleTree,
    /// What won: the default where nothing did.
    pub settings: Settings,
    /// Everything that was tried.
    pub evidence: Vec<Evidence>,
    /// The default was found to differ from itself: the machine was not quiet, and nothing is believed.
    pub noisy: bool,
}

/// What is going to happen, or happens.
#[derive(Debug)]
pub enum TuneProgress<'a> {
    /// This will be read: so many walks, so long.
    Started {
        /// The tree.
        sample_tree: &'a SampleTree,
        /// Walks.
        walks: usize,
        /// For about so long.
        time: Duration,
    },
    /// Walks that are left in this session.
    WalksLeft(usize),
    /// These settings won alone, and are tried together.
    Confirming(&'a Settings),
}

/// Why nothing can be found out.
#[derive(Debug)]
#[non_exhaustive]
pub enum TuneError {
    /// The path cannot be read.
    Walk(transect::Error),
    /// There is too little to learn anything from: so many entries.
    TooSmall(PathBuf, u64),
    /// Reading the smallest sample tree often enough would take so long.
    TooSlow(PathBuf, Duration),
    /// A walk failed.
    Launch(launch::Failure),
    /// The session failed.
    Session(scheduler::Error),
}

impl std::fmt::Display for TuneError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Walk(error) => error.fmt(f),
            Self::TooSmall(path, entries) => {
                let path = path.display();
                write!(f, "'{path}' has {entries} entries: too few to learn anything from them")
            }
            Self::TooSlow(path, time) => {
                let (path, seconds) = (path.display(), time.as_secs() + 1);
                write!(
                    f,
                    "reading '{path}' often enough takes about {seconds} s: give it --seconds"
                )
            }
            Self::Launch(failure) => write!(f, "a walk of the default settings {failure}"),
            Self::Session(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TuneError {}

impl From<scheduler::Error> for TuneError {
    fn from(error: scheduler::Error) -> Self {
        Self::Session(error)
    }
}

/// One setting, changed alone.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    setting: &'static str,
    value: String,
    settings: Settings,
}

/// Finds out what wins; `None` if it was cancelled.
///
/// # Errors
/// There is nothing to be found out, or a walk or the session fails.
pub fn tune(
    request: &TuneRequest<'_>,
    cancel: &Cancel,
    progress: &mut dyn FnMut(TuneProgress<'_>),
) -> Result<Option<TuneResult>, TuneError> {
    let (sample_tree, rounds, each) = sample_tree_in_time(request)?;
    let candidates = candidates(request.states, sample_tree.entries);
    let walks = walks_of_a_round(request.states, sample_tree.entries);
    let time = each * u32::try_from(walks * rounds).unwrap_or(u32::MAX);
    progress(TuneProgress::Started { sample_tree: &sample_tree, walks: walks * rounds, time });

    let alone: Vec<Settings> = candidates.iter().map(|candidate| candidate.settings).collect();
    let trial = Trial { request, sample_tree: &sample_tree, rounds };
    let Some(rankings) = trial.run(&request.files[0], &alone, cancel, progress)? else {
        return Ok(None);
    };
    let (together, mut evidence) = pick_winners(&candidates, &rankings);
    let mut noisy = rankings.iter().any(|ranking| ranking.noisy);
    let mut settings = Settings::default();
    if !together.is_default() {
        progress(TuneProgress::Confirming(&together));
        let Some(rankings) = trial.run(&request.files[1], &[together], cancel, progress)? else {
            return Ok(None);
        };
        let all = Candidate { setting: "all", value: together.to_string(), settings: together };
        let (confirmed, further) = pick_winners(&[all], &rankings);
        settings = confirmed;
        noisy |= rankings.iter().any(|ranking| ranking.noisy);
        evidence.extend(further);
    }
    Ok(Some(TuneResult { sample_tree, settings, evidence, noisy }))
}

/// Returns all that is tried in some states, on so many entries.
fn candidates(states: &[State], entries: u64) -> Vec<Candidate> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let default = Settings::default();
    let mut candidates = Vec::new();
    let mut add = |setting, value: String, settings: Settings| {
        let plan = settings.variant().options(Path::new(".")).plan();
        if plan.is_ok() {
            candidates.push(Candidate { setting, value, settings });
        }
    };
    for &reader in ReaderKind::ALL.iter().filter(|&&reader| reader != ReaderKind::best()) {
        let settings = Settings { reader: Some(reader), ..default };
        add("reader", reader.as_str().to_owned(), settings);
    }
    for bytes in [16 << 10, 256 << 10, 1 << 20] {
        let settings = Settings { buffer_size: Some(bytes), ..default };
        add("buffer_size", size::shortest(bytes), settings);
    }
    let settings = Settings { stat_order: Some(StatOrder::Inode), ..default };
    add("stat_order", StatOrder::Inode.as_str().to_owned(), settings);
    if entries < MIN_ENTRIES_FOR_THREADS {
        return candidates;
    }
    // How a walk waits is decided by its order: what is faster warm alone may be much slower cold.
    if states.contains(&State::Warm) && states.contains(&State::Cold) {
        for &order in Order::ALL.iter().filter(|order| order.is_parallel()) {
            if order != Order::default() {
                let settings = Settings { order: Some(order), ..default };
                add("order", order.as_str().to_owned(), settings);
            }
        }
    }
    let mut busy = vec![1, cores.div_ceil(2), cores * 2, cores * 4];
    busy.retain(|&threads| threads != cores);
    busy.dedup();
    for threads in busy.into_iter().filter(|_| states.iter().any(|&state| state != State::Cold)) {
        let settings = Settings { busy_threads: Some(threads), ..default };
        add("busy_threads", threads.to_string(), settings);
    }
    let waits = states.iter().any(|&state| state != State::Warm);
    for threads in [cores, 8, 16, 64].into_iter().filter(|_| waits) {
        let settings = Settings { waiting_threads: Some(threads), ..default };
        add("waiting_threads", threads.to_string(), settings);
    }
    candidates
}

/// Returns what wins, setting by setting, and all evidence. A setting wins that is faster in one
/// state and slower in none; of several values of one, that with the smallest ratio.
fn pick_winners(candidates: &[Candidate], rankings: &[Ranking]) -> (Settings, Vec<Evidence>) {
    let mut evidence = Vec::new();
    let mut winners: Vec<(&Candidate, f64)> = Vec::new();
    for candidate in candidates {
        let cell = candidate.settings.variant().to_string();
        let of_it: Vec<Evidence> =
            rankings.iter().map(|ranking| evidence_of(candidate, &cell, ranking)).collect();
        let any = |verdict: Verdict| of_it.iter().any(|seen| seen.verdict == verdict);
        let ratios = of_it.iter().filter_map(|seen| Some(seen.ratios?.median));
        let ratio = ratios.fold(f64::INFINITY, f64::min);
        if any(Verdict::Faster) && !any(Verdict::Slower) {
            winners.push((candidate, ratio));
        }
        evidence.extend(of_it);
    }
    winners.sort_by(|a, b| a.1.total_cmp(&b.1));
    // The first of a setting stays.
    let settings = winners.iter().rev().fold(Settings::default(), |settings, (winner, _)| {
        let Settings { reader, order, busy_threads, waiting_threads, buffer_size, stat_order } =
            winner.settings;
        Settings {
            reader: reader.or(settings.reader),
            order: order.or(settings.order),
            busy_threads: busy_threads.or(settings.busy_threads),
            waiting_threads: waiting_threads.or(settings.waiting_threads),
            buffer_size: buffer_size.or(settings.buffer_size),
            stat_order: stat_order.or(settings.stat_order),
        }
    });
    // What each takes alone the winner among the readers may not take.
    let possible = settings.variant().options(Path::new(".")).plan().is_ok();
    let reader_alone = Settings { buffer_size: None, stat_order: None, ..settings };
    (if possible { settings } else { reader_alone }, evidence)
}

/// Returns what was seen of a candidate in one state.
fn evidence_of(candidate: &Candidate, cell: &str, ranking: &Ranking) -> Evidence {
    let row = ranking.rows.iter().find(|row| row.cell.name == cell);
    let verdict = row.and_then(|row| row.judgement).map(|judgement| judgement.verdict);
    Evidence {
        setting: candidate.setting.to_owned(),
        value: candidate.value.clone(),
        state: ranking.state,
        ratios: row.and_then(|row| row.to_base),
        // Where the default differs from itself nothing is to be believed; and processor time, which is
        // all that a busy machine tells, is not what is to become shorter.
        verdict: verdict
            .filter(|_| !ranking.noisy && ranking.by == Metric::Time)
            .unwrap_or(Verdict::Undecided),
    }
}

/// What both sessions have in common.
struct Trial<'a> {
    request: &'a TuneRequest<'a>,
    sample_tree: &'a SampleTree,
    rounds: usize,
}

impl Trial<'_> {
    /// Measures settings beside the default; `None` if it was cancelled.
    fn run(
        &self,
        file: &Path,
        settings: &[Settings],
        cancel: &Cancel,
        progress: &mut dyn FnMut(TuneProgress<'_>),
    ) -> Result<Option<Vec<Ranking>>, TuneError> {
        let TuneRequest { states, .. } = self.request;
        let base = Settings::default();
        let methods: Vec<Method> = std::iter::once(&base)
            .chain(settings)
            .map(|settings| Method::variant(&settings.variant()))
            .collect();
        let (cells, again) = cells(&methods.iter().collect::<Vec<_>>(), &methods[0].name);
        let environment = Environment::of_this_command();
        let root = self.sample_tree.root.clone();
        let spec = SessionSpec {
            schema: SCHEMA.to_owned(),
            preset: "tune".to_owned(),
            datasets: vec![dataset(root.display().to_string(), root)],
            cache_states: states.to_vec(),
            rounds: self.rounds,
            max_time: None,
            runs: 1,
            seed: environment.began,
            environment,
            limit: WALK_TIMEOUT_SECONDS,
            cells,
            base: methods[0].name.clone(),
            again,
            floor: None,
            parallel_floor: None,
            experiment: Spec::Walk,
        };
        let mut session = Session::begin(spec, file)?;
        let launcher = self.request.launcher();
        session.run(&mut Walks::new(&methods, &launcher), cancel, &mut |_, left| {
            progress(TuneProgress::WalksLeft(left))
        })?;
        Ok((!cancel.is_cancelled()).then(|| rank(session.data())))
    }
}

/// Returns the largest sample tree that can be walked often enough in the time that there is, in how
/// many rounds, and how long one walk of it takes.
fn sample_tree_in_time(
    request: &TuneRequest<'_>,
) -> Result<(SampleTree, usize, Duration), TuneError> {
    let mut most = LARGEST_PORTION;
    loop {
        let sample_tree = sample_tree(request.path, most).map_err(TuneError::Walk)?;
        if sample_tree.entries < 2 {
            return Err(TuneError::TooSmall(request.path.to_owned(), sample_tree.entries));
        }
        let each = time_of_a_walk(request, &sample_tree)?;
        // The second session has a third of the walks of the first, at most.
        let walks = walks_of_a_round(request.states, sample_tree.entries);
        let round = each * u32::try_from(walks).unwrap_or(u32::MAX) * 4 / 3;
        let rounds = request.time.as_nanos() / round.as_nanos().max(1);
        let rounds = usize::try_from(rounds).unwrap_or(usize::MAX).min(MAX_TUNE_ROUNDS);
        if rounds >= MIN_TUNE_ROUNDS {
            return Ok((sample_tree, rounds, each));
        }
        most = sample_tree.entries.min(most) / 2;
        if most < SMALLEST_SAMPLE_TREE {
            let time = round * MIN_TUNE_ROUNDS as u32;
            return Err(TuneError::TooSlow(sample_tree.root, time));
        }
    }
}

/// Returns how many walks one round takes: each candidate, the default, and the default again.
fn walks_of_a_round(states: &[State], entries: u64) -> usize {
    (candidates(states, entries).len() + 2) * states.len()
}

/// Walks once in every state, as the default does, in a process of its own; returns the mean.
fn time_of_a_walk(
    request: &TuneRequest<'_>,
    sample_tree: &SampleTree,
) -> Result<Duration, TuneError> {
    let method = Method::variant(&Settings::default().variant());
    let mut sum = Duration::ZERO;
    for &state in request.states {
        let start = std::time::Instant::now();
        state.prepare().map_err(|error| scheduler::Error::State(state, error))?;
        let command = engine_command(&request.program, &method, &sample_tree.root, 1, false);
        launch::launch(command, 1, Duration::from_secs(WALK_TIMEOUT_SECONDS))
            .map_err(TuneError::Launch)?;
        sum += start.elapsed();
    }
    Ok(sum / u32::try_from(request.states.len()).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::inventory::Inventory;
    use crate::harness::launch::{RunLine, Usage};
    use crate::harness::log::{Outcome, Sample, SessionData};
    use transect_testkit::TempDir;

    /// Twenty rounds of the default, twice, and of settings that take so many times as long.
    fn measured(states: &[State], settings: &[(Settings, f64)]) -> Vec<Ranking> {
        let base = Settings::default();
        let methods: Vec<Method> = std::iter::once(&base)
            .chain(settings.iter().map(|(settings, _)| settings))
            .map(|settings| Method::variant(&settings.variant()))
            .collect();
        let (cells, again) = cells(&methods.iter().collect::<Vec<_>>(), &methods[0].name);
        let work = Inventory::default().work();
        let mut samples = Vec::new();
        for round in 0..20 {
            for cache_state in 0..states.len() {
                for (at, cell) in cells.iter().enumerate() {
                    let factor = at.checked_sub(1).and_then(|at| settings.get(at));
                    let factor = factor.map_or(1.0, |(_, factor)| *factor);
                    // A little noise, another in each cell, that favours nobody.
                    let noise = 1.0 + 0.004 * ((round * 7 + at * 3) % 5) as f64;
                    let elapsed_ns = (1e6 * factor * noise) as u64;
                    let usage = Usage { wall_ns: elapsed_ns, ..Usage::default() };
                    let runs = vec![RunLine::new(work, elapsed_ns)];
                    let outcome =
                        Outcome::Right { runs, usage, read_kib: None, beside: None, files: None };
                    let cell = cell.name.clone();
                    samples.push(Sample {
                        round,
                        dataset: 0,
                        cache_state,
                        cell,
                        took_ns: None,
                        repeated: 0,
                        outcome,
                    });
                }
            }
        }
        let temp = TempDir::new();
        let spec = SessionSpec {
            schema: SCHEMA.to_owned(),
            preset: "tune".to_owned(),
            environment: Environment::capture(Vec::new()),
            datasets: vec![dataset("here".to_owned(), temp.path().to_owned())],
            cache_states: states.to_vec(),
            rounds: 20,
            max_time: None,
            runs: 1,
            seed: 1,
            limit: 1,
            cells,
            base: methods[0].name.clone(),
            again,
            floor: None,
            parallel_floor: None,
            experiment: Spec::Walk,
        };
        rank(&SessionData { samples, ..SessionData::begin(spec) })
    }

    fn threads(busy: usize) -> Candidate {
        let settings = Settings { busy_threads: Some(busy), ..Settings::default() };
        Candidate { setting: "busy_threads", value: busy.to_string(), settings }
    }

    fn reader(reader: ReaderKind) -> Candidate {
        let settings = Settings { reader: Some(reader), ..Settings::default() };
        Candidate { setting: "reader", value: reader.as_str().to_owned(), settings }
    }

    fn settled(states: &[State], tried: &[(Candidate, f64)]) -> (Settings, Vec<Evidence>) {
        let settings: Vec<(Settings, f64)> =
            tried.iter().map(|(candidate, factor)| (candidate.settings, *factor)).collect();
        let candidates: Vec<Candidate> = tried.iter().map(|(it, _)| it.clone()).collect();
        pick_winners(&candidates, &measured(states, &settings))
    }

    #[test]
    fn only_what_is_decidedly_faster_wins_and_the_fastest_of_a_setting() {
        let tried = [
            (threads(1), 1.4),
            (threads(4), 0.8),
            (threads(8), 0.7),
            (reader(ReaderKind::Portable), 1.01),
        ];
        let (settings, evidence) = settled(&[State::Warm], &tried);
        let expected = Settings { busy_threads: Some(8), ..Settings::default() };
        assert_eq!(settings, expected);
        let verdicts: Vec<Verdict> = evidence.iter().map(|seen| seen.verdict).collect();
        let (faster, slower) = (Verdict::Faster, Verdict::Slower);
        assert_eq!(verdicts, [slower, faster, faster, Verdict::NoDifference]);

        // What is two percent faster is not worth a word.
        let (settings, _) = settled(&[State::Warm], &[(threads(4), 0.98)]);
        assert!(settings.is_default());
    }

    #[test]
    fn several_settings_win_together_as_far_as_they_can_be_used_together() {
        let tried = [(threads(8), 0.7), (reader(ReaderKind::Portable), 0.9)];
        let (settings, _) = settled(&[State::Warm], &tried);
        assert_eq!(settings.variant().to_string(), "portable/work-stealing,busy=8");
        if !ReaderKind::best().takes_buffer_size() {
            return;
        }
        let buffer = Settings { buffer_size: Some(16 << 10), ..Settings::default() };
        let buffer =
            Candidate { setting: "buffer_size", value: "16K".to_owned(), settings: buffer };
        let tried = [(buffer, 0.8), (reader(ReaderKind::Portable), 0.5)];
        let (settings, _) = settled(&[State::Warm], &tried);
        assert_eq!(settings.variant().to_string(), "portable/work-stealing");
    }

    #[test]
    fn nothing_is_believed_where_the_default_differs_from_itself() {
        let candidates = [threads(4)];
        let mut rankings = measured(&[State::Warm], &[(threads(4).settings, 0.5)]);
        rankings[0].noisy = true;
        let (settings, evidence) = pick_winners(&candidates, &rankings);
        assert!(settings.is_default());
        assert_eq!(evidence[0].verdict, Verdict::Undecided);
    }

    #[test]
    fn what_is_tried_can_be_used_here_and_differs_from_the_default() {
        let all = candidates(&[State::Warm, State::Cold], MIN_ENTRIES_FOR_THREADS);
        assert!(all.iter().any(|candidate| candidate.setting == "waiting_threads"));
        for (at, candidate) in all.iter().enumerate() {
            assert!(!candidate.settings.is_default(), "{candidate:?}");
            assert!(!all[..at].contains(candidate), "{candidate:?}");
        }
        let warm = candidates(&[State::Warm], MIN_ENTRIES_FOR_THREADS);
        let cold_too = ["waiting_threads", "order"];
        let small = candidates(&[State::Warm], MIN_ENTRIES_FOR_THREADS - 1);
        assert!(small.len() < warm.len());
        assert!(small.iter().all(|candidate| !candidate.setting.ends_with("threads")));
        assert!(warm.iter().all(|candidate| !cold_too.contains(&candidate.setting)));
    }
}
