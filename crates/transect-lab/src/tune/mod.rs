//! Finds the fastest settings for a file system.
//!
//! ```text
//! PATH ─► a sample tree that fits the time ─► a session: the default, and each setting changed alone
//!                                                 │ only those with the verdict "faster"
//!                                                 ▼
//!                           a second session: the default, and all winners together ─► profile
//! ```
//!
//! The fastest of many candidates is partly the luckiest, so its own samples overstate it. The second
//! session measures again: only fresh samples with the verdict "faster" change a setting.

pub mod profile;

use std::path::{Path, PathBuf};
use std::time::Duration;

use transect::{Cancel, Order, ReaderKind, StatOrder, WalkSettings};

use crate::experiments::walk::measure::{WalkExperiment, dataset, engine_command};
use crate::experiments::walk::method::{Method, cells};
use crate::experiments::walk::sample_tree::{SMALLEST_SAMPLE_TREE, SampleTree, sample_tree};
use crate::experiments::walk::variant::Variant;
use crate::harness::cache_state::State;
use crate::harness::error;
use crate::harness::experiment::Launcher;
use crate::harness::launch;
use crate::harness::scheduler::Session;
use crate::spec::{SessionSpec, Spec};
use crate::stats::Verdict;
use crate::stats::ranking::{Metric, Ranking, rank};
use crate::tune::profile::Evidence;
use transect_text::{settings, size};

/// Fewest rounds that can decide among a dozen cells: ten rounds all agree by chance twice in 1,024
/// sessions, and the correction multiplies that by the number of cells.
const MIN_TUNE_ROUNDS: usize = 10;

/// Largest number of rounds; more do not improve the intervals enough to matter.
const MAX_TUNE_ROUNDS: usize = 40;

/// Size of the first sample tree tried, in entries.
const LARGEST_PORTION: u64 = 60_000;

/// Fewest entries for which thread settings are tried: a smaller tree mostly measures the start of
/// threads.
const MIN_ENTRIES_FOR_THREADS: u64 = 5000;

/// Timeout of one walk, in seconds.
const WALK_TIMEOUT_SECONDS: u64 = 60;

/// A request to tune a file system.
#[derive(Debug)]
pub struct TuneRequest<'a> {
    /// A path on the file system.
    pub path: &'a Path,
    /// The cache states to measure in.
    pub states: &'a [State],
    /// Approximate time limit.
    pub time: Duration,
    /// Path of the program `transect`.
    pub program: PathBuf,
    /// The session files to write; they must not exist yet.
    pub files: [PathBuf; 2],
    /// Whether other processes can disturb a run; see [`Launcher::disturbable`].
    pub disturbable: bool,
}

impl TuneRequest<'_> {
    fn launcher(&self) -> Launcher {
        let (program, built) = (self.program.clone(), Default::default());
        Launcher { program, built, disturbable: self.disturbable }
    }
}

/// Result of tuning.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneResult {
    /// The tree that was walked.
    pub sample_tree: SampleTree,
    /// The settings that won; defaults where none did.
    pub settings: WalkSettings,
    /// Every setting tried.
    pub evidence: Vec<Evidence>,
    /// Whether the default differed from itself: the machine was not quiet, and no verdict counts.
    pub noisy: bool,
}

/// Progress of tuning.
#[derive(Debug)]
pub enum TuneProgress<'a> {
    /// The first session starts.
    Started {
        /// The tree to walk.
        sample_tree: &'a SampleTree,
        /// Number of walks.
        walks: usize,
        /// Approximate duration.
        time: Duration,
    },
    /// Number of walks left in this session.
    WalksLeft(usize),
    /// The second session starts, with these settings together.
    Confirming(&'a WalkSettings),
}

/// Error of tuning.
#[derive(Debug)]
#[non_exhaustive]
pub enum TuneError {
    /// The path cannot be read.
    Walk(transect::Error),
    /// The tree is too small; the number of its entries.
    TooSmall(PathBuf, u64),
    /// Walking even the smallest sample tree often enough takes longer than allowed; the time it takes.
    TooSlow(PathBuf, Duration),
    /// A walk failed.
    Launch(launch::Failure),
    /// The session failed.
    Session(error::Error),
}

impl std::fmt::Display for TuneError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Walk(error) => error.fmt(f),
            Self::TooSmall(path, entries) => {
                let path = path.display();
                write!(f, "'{path}' has {entries} entries: too few to tune on")
            }
            Self::TooSlow(path, time) => {
                let (path, seconds) = (path.display(), time.as_secs() + 1);
                write!(f, "reading '{path}' often enough takes about {seconds} s; use --seconds")
            }
            Self::Launch(failure) => write!(f, "a walk of the default settings {failure}"),
            Self::Session(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TuneError {}

impl From<error::Error> for TuneError {
    fn from(error: error::Error) -> Self {
        Self::Session(error)
    }
}

/// A setting to try, changed alone.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    setting: &'static str,
    value: String,
    settings: WalkSettings,
}

/// Tunes the settings of a file system; returns `None` if cancelled.
///
/// # Errors
/// The tree is too small or too slow, or a walk or a session fails.
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

    let alone: Vec<WalkSettings> = candidates.iter().map(|candidate| candidate.settings).collect();
    let session = TuneSession { request, sample_tree: &sample_tree, rounds };
    let Some(rankings) = session.run(&request.files[0], &alone, cancel, progress)? else {
        return Ok(None);
    };
    let (together, mut evidence) = pick_winners(&candidates, &rankings);
    let mut noisy = rankings.iter().any(|ranking| ranking.noisy);
    let mut settings = WalkSettings::default();
    if !together.is_default() {
        progress(TuneProgress::Confirming(&together));
        let Some(rankings) = session.run(&request.files[1], &[together], cancel, progress)? else {
            return Ok(None);
        };
        let all =
            Candidate { setting: "all", value: settings::describe(&together), settings: together };
        let (confirmed, further) = pick_winners(&[all], &rankings);
        settings = confirmed;
        noisy |= rankings.iter().any(|ranking| ranking.noisy);
        evidence.extend(further);
    }
    Ok(Some(TuneResult { sample_tree, settings, evidence, noisy }))
}

/// Returns the settings to try in these cache states, on a tree of this many entries.
fn candidates(states: &[State], entries: u64) -> Vec<Candidate> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let default = WalkSettings::default();
    let mut candidates = Vec::new();
    let mut add = |setting, value: String, settings: WalkSettings| {
        if settings.is_supported() {
            candidates.push(Candidate { setting, value, settings });
        }
    };
    for &reader in ReaderKind::ALL.iter().filter(|&&reader| reader != ReaderKind::best()) {
        let settings = WalkSettings { reader: Some(reader), ..default };
        add("reader", reader.as_str().to_owned(), settings);
    }
    for bytes in [16 << 10, 256 << 10, 1 << 20] {
        let settings = WalkSettings { buffer_size: Some(bytes), ..default };
        add("buffer_size", size::shortest(bytes), settings);
    }
    let settings = WalkSettings { stat_order: Some(StatOrder::Inode), ..default };
    add("stat_order", StatOrder::Inode.as_str().to_owned(), settings);
    if entries < MIN_ENTRIES_FOR_THREADS {
        return candidates;
    }
    // Orders are tried only in both states: one that is faster warm may be much slower cold.
    if states.contains(&State::Warm) && states.contains(&State::Cold) {
        for &order in Order::ALL.iter().filter(|order| order.is_parallel()) {
            if order != Order::default() {
                let settings = WalkSettings { order: Some(order), ..default };
                add("order", order.as_str().to_owned(), settings);
            }
        }
    }
    let mut busy = vec![1, cores.div_ceil(2), cores * 2, cores * 4];
    busy.retain(|&threads| threads != cores);
    busy.dedup();
    for threads in busy.into_iter().filter(|_| states.iter().any(|&state| state != State::Cold)) {
        let settings = WalkSettings { busy_threads: Some(threads), ..default };
        add("busy_threads", threads.to_string(), settings);
    }
    let waits = states.iter().any(|&state| state != State::Warm);
    for threads in [cores, 8, 16, 64].into_iter().filter(|_| waits) {
        let settings = WalkSettings { waiting_threads: Some(threads), ..default };
        add("waiting_threads", threads.to_string(), settings);
    }
    candidates
}

/// Returns the winning settings and all evidence. A candidate wins if it is faster in one cache state and
/// slower in none; among several values of a setting, the one with the smallest ratio.
fn pick_winners(candidates: &[Candidate], rankings: &[Ranking]) -> (WalkSettings, Vec<Evidence>) {
    let mut evidence = Vec::new();
    let mut winners: Vec<(&Candidate, f64)> = Vec::new();
    for candidate in candidates {
        let cell = Variant::from(candidate.settings).to_string();
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
    // The fastest value of a setting is applied last.
    let settings = winners.iter().rev().fold(WalkSettings::default(), |settings, (winner, _)| {
        let WalkSettings { reader, order, busy_threads, waiting_threads, buffer_size, stat_order } =
            winner.settings;
        WalkSettings {
            reader: reader.or(settings.reader),
            order: order.or(settings.order),
            busy_threads: busy_threads.or(settings.busy_threads),
            waiting_threads: waiting_threads.or(settings.waiting_threads),
            buffer_size: buffer_size.or(settings.buffer_size),
            stat_order: stat_order.or(settings.stat_order),
        }
    });
    // The winning reader may not support the other winning settings.
    let reader_alone = WalkSettings { buffer_size: None, stat_order: None, ..settings };
    (if settings.is_supported() { settings } else { reader_alone }, evidence)
}

/// Returns the evidence on a candidate in one cache state.
fn evidence_of(candidate: &Candidate, cell: &str, ranking: &Ranking) -> Evidence {
    let row = ranking.rows.iter().find(|row| row.cell.name == cell);
    let verdict = row.and_then(|row| row.judgement).map(|judgement| judgement.verdict);
    Evidence {
        setting: candidate.setting.to_owned(),
        value: candidate.value.clone(),
        state: ranking.state,
        ratios: row.and_then(|row| row.to_base),
        // No verdict counts if the default differs from itself. Processor time, the metric of a busy
        // machine, is not what tuning reduces.
        verdict: verdict
            .filter(|_| !ranking.noisy && ranking.by == Metric::Time)
            .unwrap_or(Verdict::Undecided),
    }
}

/// The parameters that both sessions share.
struct TuneSession<'a> {
    request: &'a TuneRequest<'a>,
    sample_tree: &'a SampleTree,
    rounds: usize,
}

impl TuneSession<'_> {
    /// Measures settings against the default; returns `None` if cancelled.
    fn run(
        &self,
        file: &Path,
        settings: &[WalkSettings],
        cancel: &Cancel,
        progress: &mut dyn FnMut(TuneProgress<'_>),
    ) -> Result<Option<Vec<Ranking>>, TuneError> {
        let TuneRequest { states, .. } = self.request;
        let default = WalkSettings::default();
        let methods: Vec<Method> = std::iter::once(&default)
            .chain(settings)
            .map(|settings| Method::variant(&Variant::from(*settings)))
            .collect();
        let base = methods[0].name.as_str();
        let cells = cells(&methods.iter().collect::<Vec<_>>(), base);
        let root = self.sample_tree.root.clone();
        let datasets = vec![dataset(root.display().to_string(), root)];
        let spec = SessionSpec::new(Spec::Walk, "tune", datasets, cells, base);
        let spec = SessionSpec {
            cache_states: states.to_vec(),
            rounds: self.rounds,
            seed: spec.environment.began,
            limit: WALK_TIMEOUT_SECONDS,
            ..spec
        };
        let mut session = Session::begin(spec, file)?;
        let launcher = self.request.launcher();
        session.run(&mut WalkExperiment::new(&methods, &launcher), cancel, &mut |_, left| {
            progress(TuneProgress::WalksLeft(left))
        })?;
        Ok((!cancel.is_cancelled()).then(|| rank(session.data())))
    }
}

/// Returns the largest sample tree that can be walked often enough in the given time, the number of
/// rounds, and the time of one walk.
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
        // The second session takes at most a third of the walks of the first.
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

/// Returns the number of walks in a round: each candidate, the default, and the default again.
fn walks_of_a_round(states: &[State], entries: u64) -> usize {
    (candidates(states, entries).len() + 2) * states.len()
}

/// Walks once in every cache state with the default settings; returns the mean time.
fn time_of_a_walk(
    request: &TuneRequest<'_>,
    sample_tree: &SampleTree,
) -> Result<Duration, TuneError> {
    let method = Method::variant(&Variant::from(WalkSettings::default()));
    let mut sum = Duration::ZERO;
    for &state in request.states {
        let start = std::time::Instant::now();
        state.prepare().map_err(|error| error::Error::State(state, error))?;
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
    use crate::harness::launch::Usage;
    use crate::harness::log::{Outcome, Sample, SessionData};
    use crate::harness::protocol::RunLine;
    use transect_testkit::TempDir;

    /// Returns rankings of twenty rounds: the default twice, and settings with these ratios to it.
    fn measured(states: &[State], settings: &[(WalkSettings, f64)]) -> Vec<Ranking> {
        let default = WalkSettings::default();
        let methods: Vec<Method> = std::iter::once(&default)
            .chain(settings.iter().map(|(settings, _)| settings))
            .map(|settings| Method::variant(&Variant::from(*settings)))
            .collect();
        let base = methods[0].name.as_str();
        let cells = cells(&methods.iter().collect::<Vec<_>>(), base);
        let work = Inventory::default().work();
        let mut samples = Vec::new();
        for round in 0..20 {
            for cache_state in 0..states.len() {
                for (at, cell) in cells.iter().enumerate() {
                    let factor = at.checked_sub(1).and_then(|at| settings.get(at));
                    let factor = factor.map_or(1.0, |(_, factor)| *factor);
                    // A little noise, different in each cell, without bias.
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
        let datasets = vec![dataset("here".to_owned(), temp.path().to_owned())];
        let spec = SessionSpec {
            cache_states: states.to_vec(),
            rounds: 20,
            ..SessionSpec::new(Spec::Walk, "tune", datasets, cells, base)
        };
        rank(&SessionData { samples, ..SessionData::begin(spec) })
    }

    fn threads(busy: usize) -> Candidate {
        let settings = WalkSettings { busy_threads: Some(busy), ..WalkSettings::default() };
        Candidate { setting: "busy_threads", value: busy.to_string(), settings }
    }

    fn reader(reader: ReaderKind) -> Candidate {
        let settings = WalkSettings { reader: Some(reader), ..WalkSettings::default() };
        Candidate { setting: "reader", value: reader.as_str().to_owned(), settings }
    }

    fn settled(states: &[State], tried: &[(Candidate, f64)]) -> (WalkSettings, Vec<Evidence>) {
        let settings: Vec<(WalkSettings, f64)> =
            tried.iter().map(|(candidate, factor)| (candidate.settings, *factor)).collect();
        let candidates: Vec<Candidate> = tried.iter().map(|(it, _)| it.clone()).collect();
        pick_winners(&candidates, &measured(states, &settings))
    }

    #[test]
    fn fastest_value_with_faster_verdict_wins() {
        let tried = [
            (threads(1), 1.4),
            (threads(4), 0.8),
            (threads(8), 0.7),
            (reader(ReaderKind::Portable), 1.01),
        ];
        let (settings, evidence) = settled(&[State::Warm], &tried);
        let expected = WalkSettings { busy_threads: Some(8), ..WalkSettings::default() };
        assert_eq!(settings, expected);
        let verdicts: Vec<Verdict> = evidence.iter().map(|seen| seen.verdict).collect();
        let (faster, slower) = (Verdict::Faster, Verdict::Slower);
        assert_eq!(verdicts, [slower, faster, faster, Verdict::NoDifference]);

        // Two percent is below the threshold.
        let (settings, _) = settled(&[State::Warm], &[(threads(4), 0.98)]);
        assert!(settings.is_default());
    }

    #[test]
    fn compatible_settings_win_together() {
        let tried = [(threads(8), 0.7), (reader(ReaderKind::Portable), 0.9)];
        let (settings, _) = settled(&[State::Warm], &tried);
        assert_eq!(Variant::from(settings).to_string(), "portable/work-stealing,busy=8");
        if !ReaderKind::best().takes_buffer_size() {
            return;
        }
        let buffer = WalkSettings { buffer_size: Some(16 << 10), ..WalkSettings::default() };
        let buffer =
            Candidate { setting: "buffer_size", value: "16K".to_owned(), settings: buffer };
        let tried = [(buffer, 0.8), (reader(ReaderKind::Portable), 0.5)];
        let (settings, _) = settled(&[State::Warm], &tried);
        assert_eq!(Variant::from(settings).to_string(), "portable/work-stealing");
    }

    #[test]
    fn noisy_default_gives_no_winner() {
        let candidates = [threads(4)];
        let mut rankings = measured(&[State::Warm], &[(threads(4).settings, 0.5)]);
        rankings[0].noisy = true;
        let (settings, evidence) = pick_winners(&candidates, &rankings);
        assert!(settings.is_default());
        assert_eq!(evidence[0].verdict, Verdict::Undecided);
    }

    #[test]
    fn candidates_are_usable_and_differ_from_default() {
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
