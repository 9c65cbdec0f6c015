//! Rankings: which cells of a session are faster, by how much, and how certain that is.
//!
//! Each dataset in each cache state has its own ranking. A cell is ranked if it found the expected work
//! in every round it ran. Differences are ratios within a round, to the base and to the floor. The base
//! runs twice; if it differs from itself, no other verdict counts.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::harness::accesses::Accesses;
use crate::harness::account::Account;
use crate::harness::cache_state::State;
use crate::harness::launch::Usage;
use crate::harness::log::{FileEvidence, Outcome, Sample, SessionData, Started};
use crate::harness::protocol::CallTimes;
use crate::harness::protocol::Held;
use crate::spec::Cell;
use crate::stats::summary::mean_without_the_first;
use crate::stats::verdict::{DEFAULT_THRESHOLD, MIN_ROUNDS};
use crate::stats::{Judgement, Ratios, Summary, aa_check, judge_all};

/// Up to one of this many samples may be disturbed; with more, processor time is compared.
const MAX_DISTURBED_ONE_IN: usize = 4;

/// Bytes of a memory page.
const PAGE: u64 = 4096;

/// The ranking of one dataset in one cache state.
#[derive(Debug, Serialize)]
pub struct Ranking {
    /// Index into the datasets of the spec.
    #[serde(rename = "place")]
    pub dataset: usize,
    /// Its name.
    pub name: String,
    /// Index into the cache states of the spec.
    #[serde(rename = "pass")]
    pub cache_state: usize,
    /// The cache state before every run.
    pub state: State,
    /// The metric that is compared and that rows are sorted by.
    pub by: Metric,
    /// Number of samples disturbed by other processes.
    pub disturbed: usize,
    /// Number of samples with the right result.
    pub samples: usize,
    /// The lab's own processor time during a run, divided by the time of the run: the median. `None` if
    /// the system does not report it.
    pub harness: Option<f64>,
    /// The cells, the fastest first.
    pub rows: Vec<Row>,
    /// The cells whose output is on the device when they end, although the base leaves its output in the
    /// cache; the fastest first. They do more work, so they are not compared with the other rows.
    pub apart: Vec<Row>,
    /// The cells that are not ranked.
    pub unranked: Vec<Unranked>,
    /// The base against itself.
    pub noise: Option<Ratios>,
    /// Whether every sample proved its cache state; false if the system does not report it.
    pub proved: bool,
    /// Whether the base differs from itself: then no verdict counts.
    pub noisy: bool,
}

/// The metric that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Wall time, by each cell's own clock.
    Time,
    /// Wall time of the whole process, from its start to its exit.
    Process,
    /// Processor time of the whole process: used if too many samples were disturbed, as wall time then
    /// depends on other processes.
    Processor,
}

impl Metric {
    /// Returns the name in JSON and CSV.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Process => "process",
            Self::Processor => "processor",
        }
    }

    /// Returns what reports add to a title; empty for wall time by a cell's own clock.
    pub fn about(self) -> &'static str {
        match self {
            Self::Time => "",
            Self::Process => "; whole processes",
            Self::Processor => "; by processor time",
        }
    }
}

/// One cell of a ranking.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The cell.
    pub cell: Cell,
    /// Its times in nanoseconds, by the metric of the ranking.
    pub time: Summary,
    /// The same, one for each round it ran, in order.
    pub samples: Vec<f64>,
    /// The round of each sample, from 0.
    pub rounds: Vec<usize>,
    /// Indexes of outliers ([`Summary::outliers`]): shown, never dropped.
    pub outliers: Vec<usize>,
    /// Indexes of disturbed samples: shown, never dropped.
    pub disturbed: Vec<usize>,
    /// Median time from start to end of its process, in nanoseconds.
    pub wall_ns: f64,
    /// Median user time of the whole process, in nanoseconds.
    pub user_ns: f64,
    /// Median kernel time of the whole process, in nanoseconds.
    pub system_ns: f64,
    /// Median peak memory of its process, in bytes; `None` if the system does not report it.
    pub peak_memory: Option<f64>,
    /// Median number of page faults, minor and major.
    pub faults: Option<f64>,
    /// Median number of context switches, voluntary and involuntary.
    pub switches: Option<f64>,
    /// Median number of output bytes not yet on the device when it ends. A method that leaves less did
    /// more work.
    pub unwritten: Option<f64>,
    /// Median number of bytes that devices read for it.
    pub device_read: Option<f64>,
    /// Median number of bytes it gave devices to write, at once or later.
    pub device_written: Option<f64>,
    /// Median ratio of processor time: the unmeasured first run, divided by the measured run. Far above 1
    /// means that touching fresh memory is expensive on this machine.
    pub fresh: Option<f64>,
    /// Median memory of its cache for each cached name, in bytes; `None` without a cache or in other kinds
    /// of session.
    #[serde(rename = "held_each")]
    pub cache_bytes_per_name: Option<f64>,
    /// Median time divided by input bytes, in nanoseconds; `None` for walks and for small files, whose
    /// time does not depend on their length.
    pub ns_per_byte: Option<f64>,
    /// The slowest row's median divided by this row's.
    #[serde(rename = "against_the_slowest")]
    pub speedup_over_slowest: f64,
    /// Ratio to the floor with one or several threads, whichever matches the method.
    pub to_floor: Option<Ratios>,
    /// Whether it is faster than the floor, which is impossible: an error of the lab. A parallel method
    /// has to be faster than both floors, as starting threads may not pay on a small tree. Always false
    /// in cold state: the method may have more threads waiting for the device than the floor.
    pub below_the_floor: bool,
    /// System calls of its walk, if they were counted.
    pub accesses: Option<Accesses>,
    /// Median time of its process with no work, in nanoseconds, if it has no clock of its own. Its times
    /// include it.
    pub start_up: Option<f64>,
    /// Median time minus start-up. No verdict uses it.
    pub without_start: Option<f64>,
    /// Time inside the system calls of its walk, if they were timed.
    pub calls: Option<CallTimes>,
    /// Ratio to the base.
    pub to_base: Option<Ratios>,
    /// The verdict on that ratio.
    pub judgement: Option<Judgement>,
}

/// A cell that is not ranked, and why.
#[derive(Debug, Serialize)]
pub struct Unranked {
    /// Its name.
    pub cell: String,
    /// The reason.
    pub reason: String,
}

/// The run of a cell in one round.
#[derive(Clone, Copy)]
struct Run {
    /// By the metric of the ranking, in nanoseconds.
    time: f64,
    usage: Usage,
    files: Option<FileEvidence>,
    held: Option<Held>,
    is_disturbed: bool,
}

/// The runs of a cell, by round.
type Runs = BTreeMap<usize, Run>;

/// Ranks the cells of a session: one ranking for each dataset and cache state.
pub fn rank(data: &SessionData) -> Vec<Ranking> {
    let cache_states = data.spec.cache_states.len();
    (0..data.spec.datasets.len())
        .flat_map(|dataset| {
            (0..cache_states).map(move |cache_state| rank_one(data, dataset, cache_state))
        })
        .collect()
}

fn rank_one(data: &SessionData, dataset: usize, cache_state: usize) -> Ranking {
    let here = samples_of(data, dataset);
    let (disturbed, right) = disturbances(&here, cache_state);
    let by = match data.spec.whole_processes {
        _ if disturbed * MAX_DISTURBED_ONE_IN > right => Metric::Processor,
        true => Metric::Process,
        false => Metric::Time,
    };
    rank_by(data, dataset, cache_state, by)
}

/// Ranks the cells of one dataset and cache state by a metric, disturbed or not.
pub(crate) fn rank_by(
    data: &SessionData,
    dataset: usize,
    cache_state: usize,
    by: Metric,
) -> Ranking {
    let SessionData { spec, counted, timed, started, .. } = data;
    let here = samples_of(data, dataset);
    let (disturbed, right) = disturbances(&here, cache_state);
    let (mut rounds, mut unranked) = (BTreeMap::new(), Vec::new());
    for cell in spec.cells_in(dataset) {
        match runs_of(cell, &here, cache_state, by) {
            Ok(values) => {
                rounds.insert(cell.name.as_str(), values);
            }
            Err(reason) => unranked.push(Unranked { cell: cell.name.clone(), reason }),
        }
    }
    let against = |base: &str, other: &str| -> Option<Ratios> {
        let (base, other) = (rounds.get(base)?, rounds.get(other)?);
        let pairs: Vec<(f64, f64)> =
            base.iter().filter_map(|(r, b)| Some((b.time, other.get(r)?.time))).collect();
        Ratios::paired(&pairs, spec.seed).ok()
    };
    let noise = against(&spec.base, &spec.second_base);
    let noisy = noise.as_ref().is_some_and(|pair| !aa_check(pair, DEFAULT_THRESHOLD));
    let leaves_nothing = |cell: &str| rounds.get(cell).and_then(leaves_nothing);
    let base_leaves_output = leaves_nothing(&spec.base) == Some(false);
    let (mut rows, mut apart) = (Vec::<Row>::new(), Vec::new());
    let input_bytes = spec.datasets[dataset].bytes_of_one();
    for cell in &spec.cells {
        let Some(values) = rounds.get(cell.name.as_str()) else { continue };
        let Some(mut row) = Row::of(cell, values) else { continue };
        let accesses = counted.iter().find(|it| it.dataset == dataset && it.cell == cell.name);
        row.accesses = accesses.map(|counted| counted.accesses);
        let start = started.iter().find(|it| it.cell == cell.name).and_then(median_start_up);
        row.start_up = start;
        row.without_start =
            start.filter(|_| by != Metric::Processor).map(|it| row.time.median - it);
        let mut calls =
            timed.iter().filter(|it| it.dataset == dataset && it.cache_state == cache_state);
        row.calls = calls.find(|it| it.cell == cell.name).map(|timed| timed.calls);
        row.ns_per_byte = input_bytes.map(|bytes| row.time.median / bytes as f64);
        if base_leaves_output && leaves_nothing(&cell.name) == Some(true) {
            apart.push(row);
            continue;
        }
        let parallel = cell.parallel && spec.parallel_floor.is_some();
        let floor = if parallel { &spec.parallel_floor } else { &spec.floor };
        row.to_floor = floor.as_deref().and_then(|floor| against(floor, &cell.name));
        let floors: Vec<&String> = match &cell.floors {
            Some(floors) => floors.iter().collect(),
            None => [&spec.floor, floor].into_iter().flatten().collect(),
        };
        let floors = floors.into_iter();
        let mut to_floors = floors.filter_map(|floor| against(floor, &cell.name)).peekable();
        row.below_the_floor = spec.cache_states[cache_state] != State::Cold
            && to_floors.peek().is_some()
            && to_floors.all(|ratios| ratios.n >= MIN_ROUNDS && ratios.high < 1.0);
        let is_base = cell.name == spec.base || cell.name == spec.second_base;
        row.to_base =
            if is_base || cell.is_floor() { None } else { against(&spec.base, &cell.name) };
        rows.push(row);
    }
    rows.sort_by(|a, b| a.time.median.total_cmp(&b.time.median));
    judge_rows(&mut rows);
    apart.sort_by(|a, b| a.time.median.total_cmp(&b.time.median));
    judge_rows(&mut apart);
    let state = spec.cache_states[cache_state];
    let proved =
        here.iter().filter(|sample| sample.cache_state == cache_state).all(|sample| match &sample
            .outcome
        {
            right @ Outcome::Right { .. } => right.is_proved(state) == Some(true),
            _ => true,
        });
    let name = spec.datasets[dataset].name.clone();
    let samples = right;
    Ranking {
        dataset,
        name,
        cache_state,
        state,
        by,
        disturbed,
        samples,
        harness: harness_share(&here, cache_state),
        rows,
        apart,
        unranked,
        noise,
        proved,
        noisy,
    }
}

/// Returns the samples of a dataset.
fn samples_of(data: &SessionData, dataset: usize) -> Vec<&Sample> {
    data.samples.iter().filter(|sample| sample.dataset == dataset).collect()
}

/// Returns whether the output of a cell is on the device when it ends; `None` if unknown. A last partial
/// page, or 1 % of the output, does not count.
fn leaves_nothing(runs: &Runs) -> Option<bool> {
    let is_nothing = |run: &Run| {
        let (written, unwritten) = (run.files?.written?, run.files?.unwritten?);
        (written > 0).then(|| unwritten <= (written / 100).max(PAGE))
    };
    let known: Vec<bool> = runs.values().filter_map(is_nothing).collect();
    let nothing = known.iter().filter(|&&nothing| nothing).count();
    // The majority of runs: in one run a device may keep up by chance.
    (!known.is_empty()).then(|| nothing * 2 > known.len())
}

/// Returns the bytes per name in a cache.
fn cache_bytes_per_name(held: Held) -> f64 {
    held.memory as f64 / held.names.max(1) as f64
}

/// Returns the median start-up time.
fn median_start_up(started: &Started) -> Option<f64> {
    let times: Vec<f64> = started.times_ns.iter().map(|&time| time as f64).collect();
    Summary::of(&times).map(|summary| summary.median)
}

/// Returns the median of the lab's processor time divided by the time of the run.
fn harness_share(samples: &[&Sample], cache_state: usize) -> Option<f64> {
    let shares =
        samples.iter().filter(|sample| sample.cache_state == cache_state).filter_map(|sample| {
            let Outcome::Right { beside: Some(beside), .. } = &sample.outcome else { return None };
            (beside.wall_ns > 0).then(|| beside.lab_ns as f64 / beside.wall_ns as f64)
        });
    Summary::of(&shares.collect::<Vec<_>>()).map(|summary| summary.median)
}

/// Returns the numbers of disturbed samples and of all samples with the right result.
fn disturbances(samples: &[&Sample], cache_state: usize) -> (usize, usize) {
    let of_pass = samples.iter().filter(|sample| sample.cache_state == cache_state);
    let right = of_pass.filter(|sample| matches!(sample.outcome, Outcome::Right { .. }));
    let disturbed = right.clone().filter(|sample| !sample.outcome.disturbed().is_empty());
    (disturbed.count(), right.count())
}

/// Judges sorted rows together, corrected for their number.
fn judge_rows(rows: &mut [Row]) {
    let slowest = rows.last().map_or(1.0, |row| row.time.median);
    for row in &mut *rows {
        row.speedup_over_slowest = slowest / row.time.median;
    }
    let judged: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].to_base.is_some()).collect();
    let ratios: Vec<Ratios> = judged.iter().filter_map(|&row| rows[row].to_base).collect();
    for (row, judgement) in judged.into_iter().zip(judge_all(&ratios, DEFAULT_THRESHOLD)) {
        rows[row].judgement = Some(judgement);
    }
}

impl Row {
    /// Summarizes a cell; comparisons with other cells are filled in later.
    fn of(cell: &Cell, runs: &Runs) -> Option<Self> {
        let median = |of: &dyn Fn(&Run) -> Option<f64>| {
            Summary::of(&runs.values().filter_map(of).collect::<Vec<_>>()).map(|it| it.median)
        };
        let of_usage = |of: fn(&Usage) -> u64| median(&|run| Some(of(&run.usage) as f64));
        let of_account =
            |of: fn(Account) -> u64| median(&|run| run.usage.account.map(|it| of(it) as f64));
        let samples: Vec<f64> = runs.values().map(|run| run.time).collect();
        let time = Summary::of(&samples)?;
        let disturbed = runs.values().enumerate().filter(|(_, run)| run.is_disturbed);
        Some(Self {
            cell: cell.clone(),
            time,
            outliers: time.outliers(&samples),
            disturbed: disturbed.map(|(at, _)| at).collect(),
            samples,
            rounds: runs.keys().copied().collect(),
            wall_ns: of_usage(|it| it.wall_ns)?,
            user_ns: of_usage(|it| it.user_ns)?,
            system_ns: of_usage(|it| it.system_ns)?,
            peak_memory: of_usage(|it| it.peak_memory).filter(|&bytes| bytes > 0.0),
            faults: of_account(|it| it.minor_faults + it.major_faults),
            switches: of_account(|it| it.waits + it.preemptions),
            unwritten: median(&|run| Some(run.files?.unwritten? as f64)),
            device_read: of_account(|it| it.read_bytes),
            device_written: of_account(|it| it.written_bytes),
            fresh: median(&|run| run.files?.fresh_over(&run.usage)),
            cache_bytes_per_name: median(&|run| run.held.map(cache_bytes_per_name)),
            ns_per_byte: None,
            speedup_over_slowest: 1.0,
            to_floor: None,
            below_the_floor: false,
            accesses: None,
            start_up: None,
            without_start: None,
            calls: None,
            to_base: None,
            judgement: None,
        })
    }

    /// Returns the median processor time of its process, in nanoseconds.
    pub fn cpu_ns(&self) -> f64 {
        self.user_ns + self.system_ns
    }
}

/// Returns the runs of a cell in one cache state by round, or why it has none. A wrong result in any
/// cache state excludes the cell from all.
fn runs_of(
    cell: &Cell,
    samples: &[&Sample],
    cache_state: usize,
    by: Metric,
) -> Result<Runs, String> {
    let mut values = BTreeMap::new();
    let mut void = None;
    for sample in samples.iter().filter(|sample| sample.cell == cell.name) {
        match &sample.outcome {
            Outcome::Wrong { found } => return Err(format!("found something else: {found}")),
            Outcome::Failed(failure) => return Err(failure.to_string()),
            _ if sample.cache_state != cache_state => {}
            Outcome::Void { instead } => void = Some(*instead),
            Outcome::Right { runs, usage, files, .. } => {
                let times: Vec<f64> = runs.iter().map(|run| run.elapsed_ns as f64).collect();
                let time = match times.as_slice() {
                    _ if by == Metric::Processor => (usage.user_ns + usage.system_ns) as f64,
                    _ if by == Metric::Process => usage.wall_ns as f64,
                    [only] => *only,
                    // The first of several walks warms the cache and does not count.
                    times => mean_without_the_first(times).map_err(|why| why.to_string())?,
                };
                let run = Run {
                    time,
                    usage: *usage,
                    files: files.as_deref().copied(),
                    held: runs.iter().find_map(|run| run.held),
                    is_disturbed: !sample.outcome.disturbed().is_empty(),
                };
                values.insert(sample.round, run);
            }
        }
    }
    match void {
        _ if !values.is_empty() => Ok(values),
        Some(instead) => Err(format!("could not prove its state: {instead}")),
        None => Err("did not run yet".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::with;
    use crate::harness::log::FileEvidence;

    /// A session in which cells leave this many bytes of 1 MiB unwritten.
    fn leaving(cells: &[(&str, Option<u64>)]) -> SessionData {
        let times: Vec<(&str, u64)> = cells.iter().map(|(name, _)| (*name, 1000)).collect();
        let mut data = with(&times, 6);
        for sample in &mut data.samples {
            let (_, unwritten) = cells.iter().find(|(name, _)| *name == sample.cell).unwrap();
            let Outcome::Right { files, .. } = &mut sample.outcome else { continue };
            let primed = crate::harness::launch::Usage::default();
            let (bytes, written) = (1 << 20, Some(1 << 20));
            let unwritten = *unwritten;
            *files =
                Some(Box::new(FileEvidence { bytes, resident: None, written, unwritten, primed }));
        }
        data
    }

    fn names(rows: &[Row]) -> Vec<&str> {
        rows.iter().map(|row| row.cell.name.as_str()).collect()
    }

    #[test]
    fn rank_cells_that_leave_nothing_unwritten_apart() {
        let all = Some(1 << 20);
        let cells =
            [("base", all), ("base (again)", all), ("some", Some(20_000)), ("direct", Some(4096))];
        let ranking = &rank(&leaving(&cells))[0];
        assert_eq!(names(&ranking.rows), ["base", "base (again)", "some"]);
        assert_eq!(names(&ranking.apart), ["direct"]);
        let direct = &ranking.apart[0];
        assert!(
            direct.to_base.is_none() && direct.to_floor.is_none() && direct.judgement.is_none()
        );
        assert_eq!(ranking.rows.iter().filter(|row| row.judgement.is_some()).count(), 1);
    }

    #[test]
    fn rank_together_if_all_synced_or_unknown() {
        for cells in [
            [
                ("base", Some(0)),
                ("base (again)", Some(0)),
                ("direct", Some(0)),
                ("late", Some(1 << 20)),
            ],
            [("base", None), ("base (again)", None), ("direct", Some(0)), ("other", None)],
        ] {
            let ranking = &rank(&leaving(&cells))[0];
            assert_eq!((ranking.rows.len(), ranking.apart.len()), (4, 0), "{cells:?}");
        }
    }
}
