//! Rankings: which cells of a session are faster, by how much, and how certain that is.
//!
//! Each dataset in each cache state has its own ranking. A cell is ranked if it found the expected work
//! in every round it ran, its own clock is plausible ([`plausibility`]), and it used what the work needs
//! ([`minimum_cost`]). Differences are ratios within
//! a round, to the base and to the floor. The base runs twice; if it differs from itself, no other verdict
//! counts.
//!
//! If other processes disturbed more than a quarter of the samples, wall times show how busy the machine
//! was. Then CPU times of single runs are compared, as far as they are known ([`run_cpu`]); if they are
//! known for too few cells, nothing is compared.
//!
//! [`minimum_cost`]: super::minimum_cost
//! [`plausibility`]: super::plausibility
//! [`run_cpu`]: super::run_cpu

use std::collections::BTreeMap;

use serde::Serialize;

use crate::harness::account::Account;
use crate::harness::cache_state::State;
use crate::harness::launch::Usage;
use crate::harness::log::{CountedEvents, FileEvidence, Outcome, Sample, SessionData, Started};
use crate::harness::protocol::Held;
use crate::ranking::best::best_group;
use crate::ranking::minimum_cost::{Cost, missing_cpu, missing_reads, proves_cold};
use crate::ranking::pair_answers::{PairAnswer, judge_together};
use crate::ranking::plausibility::{self, Claim};
use crate::ranking::row::{Metric, Row, TimedSample};
use crate::ranking::run_cpu::{StartUp, cpu_of_one_run, one_of_runs};
use crate::spec::{Cell, Pair, SessionSpec, Spec};
use transect_stats::verdict::{DEFAULT_THRESHOLD, MIN_ROUNDS};
use transect_stats::{Ratios, Summary, aa_check};

/// Up to one of this many samples may be disturbed; with more, wall times are not compared.
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
    /// Why nothing is compared, if so. Rows then have their wall times, in the order of the session,
    /// without ratios and verdicts.
    pub uncompared: Option<String>,
    /// Number of samples disturbed by other processes.
    pub disturbed: usize,
    /// Number of samples with the right result.
    pub samples: usize,
    /// The lab's own CPU time during a run, divided by the time of the run: the median. `None` if
    /// the system does not report it.
    pub harness: Option<f64>,
    /// The fastest method, and the methods that are not clearly slower, by ascending median. Empty if
    /// nothing is compared, no verdict counts, or no method is left.
    pub best: Vec<String>,
    /// The cells, the fastest first.
    pub rows: Vec<Row>,
    /// The cells whose output is on the device when they end, although the base leaves its output in the
    /// cache; the fastest first. They do more work, so they are not compared with the other rows.
    pub apart: Vec<Row>,
    /// The cells whose own clock is implausible. Their reported times are listed, sorted by them, and
    /// compared with nothing.
    pub implausible: Vec<Row>,
    /// The cells that are not ranked.
    pub unranked: Vec<Unranked>,
    /// The answers to the pairs of the session.
    pub pairs: Vec<PairAnswer>,
    /// The cell that ran twice, usually the base, against itself.
    pub noise: Option<Ratios>,
    /// Whether every sample proved its cache state; false if the system does not report it.
    pub proved: bool,
    /// The ranked cells with samples that did not prove their cache state.
    pub unproved: Vec<String>,
    /// Whether the base differs from itself: then no verdict counts.
    pub noisy: bool,
}

impl Ranking {
    /// Returns whether its wall times may be compared.
    pub(crate) fn has_wall_times(&self) -> bool {
        self.by != Metric::Processor && self.uncompared.is_none()
    }
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
    /// CPU time of one run, in nanoseconds, if known, and the wall time of the same interval.
    cpu: Option<f64>,
    elapsed: f64,
    /// The time it reported, and the usage of its process.
    claim: Claim,
    usage: Usage,
    files: Option<FileEvidence>,
    held: Option<Held>,
    timed: Option<TimedSample>,
    is_disturbed: bool,
    /// Whether it proved its state by itself.
    is_proved: Option<bool>,
}

/// The runs of a cell, by round.
type Runs = BTreeMap<usize, Run>;

/// A cell that did the expected work in every round it ran.
struct Ran<'d> {
    cell: &'d Cell,
    runs: Runs,
    start: Option<StartUp>,
}

impl Ran<'_> {
    /// Returns the median cost of its processes; `None` if it is unknown.
    fn cost(&self, of: fn(&Usage) -> Option<f64>, start: Option<Summary>) -> Option<Cost> {
        let costs: Option<Vec<f64>> = self.runs.values().map(|run| of(&run.usage)).collect();
        Some(Cost { process: Summary::of(&costs?)?.median, start: start?, runs: 1 })
    }

    fn reads(&self) -> Option<Cost> {
        self.cost(read_bytes, self.start?.read_bytes)
    }

    fn cpu(&self) -> Option<Cost> {
        let cost = self.cost(|usage| Some(usage.cpu_ns() as f64), self.start?.cpu)?;
        let runs = self.runs.values().map(|run| run.claim.number).max()?;
        Some(Cost { runs, ..cost })
    }
}

fn read_bytes(usage: &Usage) -> Option<f64> {
    usage.read_bytes().map(|bytes| bytes as f64)
}

/// What each method of a dataset needs, in a state of the caches ([`minimum_cost`](super::minimum_cost)).
struct Needs<'d> {
    spec: &'d SessionSpec,
    state: State,
    /// The reads of a cell with cold caches, with its name.
    reads: Option<(Cost, &'d str)>,
    /// The CPU time of the floor, with its name.
    cpu: Option<(Cost, &'d str)>,
}

impl<'d> Needs<'d> {
    fn of(spec: &'d SessionSpec, state: State, ran: &[Ran<'d>]) -> Self {
        let find = |name: &str| ran.iter().find(|it| it.cell.name == name);
        let floor = spec.floor.as_deref().and_then(find);
        let reads = |it: &Ran<'d>| Some((it.reads()?, it.cell.name.as_str()));
        let is_cold = state == State::Cold && spec.has_cold_programs();
        let reference = floor.and_then(reads).or_else(|| find(&spec.base).and_then(reads));
        let cpu = floor.filter(|_| spec.experiment == Spec::Walk);
        Self {
            spec,
            state,
            reads: reference.filter(|_| is_cold),
            cpu: cpu.and_then(|it| Some((it.cpu()?, it.cell.name.as_str()))),
        }
    }

    /// Returns why a cell cannot have done the work, if so. Methods of this program are not judged.
    fn objection_to(&self, ran: &Ran<'_>) -> Option<String> {
        if self.spec.is_own(ran.cell) {
            return None;
        }
        let is_other = |name: &str| ran.cell.name != name;
        let reads = self.reads.filter(|(_, name)| is_other(name));
        let cpu = self.cpu.filter(|(_, name)| is_other(name));
        reads
            .and_then(|(needed, name)| missing_reads(&ran.reads()?, &needed, name))
            .or_else(|| cpu.and_then(|(needed, name)| missing_cpu(&ran.cpu()?, &needed, name)))
    }

    /// Returns whether a run proved its state.
    fn is_proved(&self, run: &Run, start: Option<StartUp>) -> bool {
        if self.state != State::Cold || run.files.is_some() {
            return run.is_proved == Some(true);
        }
        let cost = || {
            let start = start?.read_bytes?;
            Some(Cost { process: read_bytes(&run.usage)?, start, runs: 1 })
        };
        let (Some(cost), Some((needed, _))) = (cost(), &self.reads) else { return false };
        proves_cold(&cost, needed)
    }
}

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
    let (disturbed, right) = disturbances(&samples_of(data, dataset), cache_state);
    let by = match disturbed * MAX_DISTURBED_ONE_IN > right {
        true => Metric::Processor,
        false => wall_metric(&data.spec),
    };
    rank_by(data, dataset, cache_state, by)
}

/// Returns the metric of a quiet machine.
fn wall_metric(spec: &SessionSpec) -> Metric {
    if spec.whole_processes { Metric::Process } else { Metric::Time }
}

/// Ranks the cells of one dataset and cache state by a metric, disturbed or not. If the CPU time is known
/// for too few cells to compare any, nothing is compared.
pub(crate) fn rank_by(
    data: &SessionData,
    dataset: usize,
    cache_state: usize,
    by: Metric,
) -> Ranking {
    let ranking = rank_all(data, dataset, cache_state, by);
    let has_times = ranking.samples > 0;
    if by != Metric::Processor || !has_times || ranking.rows.iter().any(|row| row.to_base.is_some())
    {
        return ranking;
    }
    let mut ranking = rank_all(data, dataset, cache_state, wall_metric(&data.spec));
    ranking.uncompared = Some(format!(
        "other processes disturbed {} of {} samples, and the CPU time of a single run is known for too \
         few methods",
        ranking.disturbed, ranking.samples
    ));
    let place = |row: &Row| data.spec.cells.iter().position(|cell| cell.name == row.cell.name);
    ranking.rows.sort_by_key(place);
    ranking.best.clear();
    ranking.pairs.iter_mut().for_each(|pair| pair.refuse("nothing is compared"));
    for row in ranking.rows.iter_mut().chain(&mut ranking.apart) {
        (row.to_base, row.to_floor, row.judgement) = (None, None, None);
        row.below_the_floor = false;
    }
    ranking
}

fn rank_all(data: &SessionData, dataset: usize, cache_state: usize, by: Metric) -> Ranking {
    let SessionData { spec, counted, timed, .. } = data;
    let here = samples_of(data, dataset);
    let (disturbed, right) = disturbances(&here, cache_state);
    let (mut rounds, mut unranked) = (BTreeMap::new(), Vec::new());
    let (mut implausible, mut ran) = (Vec::new(), Vec::new());
    for cell in spec.cells_in(dataset) {
        let start = start_up(data, cell, cache_state);
        match runs_of(cell, &here, cache_state, by, (spec, start)) {
            Ok(runs) => ran.push(Ran { cell, runs, start }),
            Err(reason) => unranked.push(Unranked { cell: cell.name.clone(), reason }),
        }
    }
    let state = spec.cache_states[cache_state];
    let needs = Needs::of(spec, state, &ran);
    let mut unproved = Vec::new();
    for one in ran {
        let objection =
            objection_to(spec, one.cell, &one.runs, one.start).or_else(|| needs.objection_to(&one));
        if objection.is_some() {
            let row = Row::of(one.cell, &one.runs);
            implausible.extend(row.map(|row| Row { implausible: objection, ..row }));
            continue;
        }
        if !one.runs.values().all(|run| needs.is_proved(run, one.start)) {
            unproved.push(one.cell.name.clone());
        }
        rounds.insert(one.cell.name.as_str(), one.runs);
    }
    let against = |base: &str, other: &str| -> Option<Ratios> {
        let (base, other) = (rounds.get(base)?, rounds.get(other)?);
        let pairs: Vec<(f64, f64)> =
            base.iter().filter_map(|(r, b)| Some((b.time, other.get(r)?.time))).collect();
        Ratios::paired(&pairs, spec.seed).ok()
    };
    let noise = against(spec.repeated(), &spec.second_base);
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
        let start = start_up(data, cell, cache_state).filter(|_| cell.is_process());
        row.start_up = start.map(|start| start.wall.median);
        row.without_start =
            row.start_up.filter(|_| by != Metric::Processor).map(|it| row.time.median - it);
        let mut calls =
            timed.iter().filter(|it| it.dataset == dataset && it.cache_state == cache_state);
        row.calls = match row.timed_sample {
            Some(sample) => Some(sample.calls),
            None => calls.find(|it| it.cell == cell.name).map(|timed| timed.calls),
        };
        let here_now = |it: &&CountedEvents| (it.dataset, it.cache_state) == (dataset, cache_state);
        let mut events = data.events.iter().filter(here_now);
        row.counters = events.find(|it| it.cell == cell.name).map(|it| it.counters.clone());
        row.ns_per_byte = input_bytes.map(|bytes| row.time.median / bytes as f64);
        if base_leaves_output && leaves_nothing(&cell.name) == Some(true) {
            apart.push(row);
            continue;
        }
        let floor = spec.floor_of(cell, spec.cache_states[cache_state]);
        row.to_floor = floor.and_then(|floor| against(floor, &cell.name));
        let floors: Vec<&str> = match &cell.floors {
            Some(floors) => floors.iter().map(String::as_str).collect(),
            None => [spec.floor.as_deref(), floor].into_iter().flatten().collect(),
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
    speed_ups(&mut rows);
    let methods: Vec<&Row> = rows.iter().filter(|row| spec.is_method(&row.cell.name)).collect();
    let best = if noisy { Vec::new() } else { best_group(&methods, against) };
    apart.sort_by(|a, b| a.time.median.total_cmp(&b.time.median));
    speed_ups(&mut apart);
    let runs_here = |pair: &&Pair| {
        let is_here = |name: &str| spec.cells_in(dataset).any(|cell| cell.name == name);
        is_here(&pair.cell) && is_here(&pair.against)
    };
    let pairs = spec.pairs.iter().filter(runs_here);
    let mut pairs: Vec<PairAnswer> =
        pairs.map(|pair| PairAnswer::of(pair, [&rows, &apart], against)).collect();
    judge_together(&mut rows, &mut pairs, &spec.base, by);
    implausible.sort_by(|a, b| a.time.median.total_cmp(&b.time.median));
    // Without samples, nothing is unproved.
    let proved = unproved.is_empty();
    if state == State::AsIs {
        unproved.clear();
    }
    let name = spec.datasets[dataset].name.clone();
    let samples = right;
    Ranking {
        dataset,
        name,
        cache_state,
        state,
        by,
        uncompared: None,
        disturbed,
        samples,
        harness: harness_share(&here, cache_state),
        best,
        rows,
        apart,
        implausible,
        unranked,
        pairs,
        noise,
        proved,
        unproved,
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

/// Returns why the own clock of a cell is implausible, if it is.
fn objection_to(
    spec: &SessionSpec,
    cell: &Cell,
    runs: &Runs,
    start: Option<StartUp>,
) -> Option<String> {
    // Their time is not one that they report.
    if spec.is_own(cell) || cell.is_process() || spec.whole_processes {
        return None;
    }
    let claims: Vec<Claim> = runs.values().map(|run| run.claim).collect();
    plausibility::objection(&claims, start?, spec.environment.cores)
}

/// Returns the usage of the start of a cell in a cache state; both cells of the base start alike. Sessions of
/// older versions have one start for all states.
fn start_up(data: &SessionData, cell: &Cell, cache_state: usize) -> Option<StartUp> {
    let SessionData { spec, started, .. } = data;
    let name = if cell.name == spec.second_base { spec.repeated() } else { &cell.name };
    let state = spec.cache_states[cache_state];
    let mut starts = started.iter().filter(|start| start.cell == name);
    let is_in_state = |start: &&Started| {
        !spec.has_cold_programs() || spec.cache_states.get(start.cache_state) == Some(&state)
    };
    let start = starts.clone().find(is_in_state).or_else(|| starts.next())?;
    let summary =
        |times: &[u64]| Summary::of(&times.iter().map(|&time| time as f64).collect::<Vec<_>>());
    let of_state = |values: &[u64]| summary(values).filter(|_| is_in_state(&start));
    let (cpu, read_bytes) = (of_state(&start.cpu_ns), of_state(&start.read_bytes));
    Some(StartUp { wall: summary(&start.times_ns)?, cpu, read_bytes })
}

/// Returns the median of the lab's CPU time divided by the time of the run.
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

/// Compares sorted rows with the slowest.
fn speed_ups(rows: &mut [Row]) {
    let slowest = rows.last().map_or(1.0, |row| row.time.median);
    for row in rows {
        row.speedup_over_slowest = slowest / row.time.median;
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
            run_cpu_ns: median(&|run| run.cpu),
            cores: median(&|run| Some(run.cpu? / run.elapsed)),
            peak_memory: of_usage(|it| it.peak_memory).filter(|&bytes| bytes > 0.0),
            faults: of_account(|it| it.minor_faults + it.major_faults),
            switches: of_account(|it| it.waits + it.preemptions),
            unwritten: median(&|run| Some(run.files?.unwritten? as f64)),
            device_read: median(&|run| run.usage.read_bytes().map(|bytes| bytes as f64)),
            device_written: of_account(|it| it.written_bytes),
            fresh: median(&|run| run.files?.fresh_over(&run.usage)),
            cache_bytes_per_name: median(&|run| run.held.map(cache_bytes_per_name)),
            ns_per_byte: None,
            speedup_over_slowest: 1.0,
            to_floor: None,
            implausible: None,
            below_the_floor: false,
            accesses: None,
            start_up: None,
            without_start: None,
            calls: None,
            counters: None,
            timed_sample: timed_sample(runs),
            to_base: None,
            judgement: None,
        })
    }

    /// Returns the median CPU time of its process, in nanoseconds.
    pub fn cpu_ns(&self) -> f64 {
        self.user_ns + self.system_ns
    }
}

/// Returns the sample with the median time, the faster of two, of those whose calls were timed. Its times stay
/// together: medians of each would be of different runs.
fn timed_sample(runs: &Runs) -> Option<TimedSample> {
    let mut timed: Vec<TimedSample> = runs.values().filter_map(|run| run.timed).collect();
    timed.sort_by(|a, b| a.time.total_cmp(&b.time));
    timed.get(timed.len().checked_sub(1)? / 2).copied()
}

/// Returns the runs of a cell in one cache state by round, or why it has none. A wrong result in any
/// cache state excludes the cell from all.
fn runs_of(
    cell: &Cell,
    samples: &[&Sample],
    cache_state: usize,
    by: Metric,
    (spec, start): (&SessionSpec, Option<StartUp>),
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
                let cpu = cpu_of_one_run(runs, usage, spec.whole_processes, start);
                let time = match by {
                    Metric::Processor => {
                        cpu.clone().map_err(|why| format!("CPU time of a run unknown: {why}"))?
                    }
                    Metric::Process => usage.wall_ns as f64,
                    Metric::Time => one_of_runs(&times)?,
                };
                let runs_cpu: Option<f64> = runs.iter().map(|run| Some(run.cpu_ns? as f64)).sum();
                let is_disturbed = !sample.outcome.disturbed().is_empty();
                let cores = spec.environment.cores;
                let run = Run {
                    time,
                    cpu: cpu.ok(),
                    elapsed: match spec.whole_processes {
                        true => usage.wall_ns as f64,
                        false => one_of_runs(&times)?,
                    },
                    claim: Claim {
                        wall: usage.wall_ns as f64,
                        cpu: usage.cpu_ns() as f64,
                        runs: times.iter().sum(),
                        number: times.len(),
                        runs_cpu,
                        is_disturbed,
                    },
                    usage: *usage,
                    files: files.as_deref().copied(),
                    held: runs.iter().find_map(|run| run.held),
                    timed: runs.first().and_then(|run| TimedSample::of(run, cores)),
                    is_disturbed,
                    is_proved: sample.outcome.is_proved(spec.cache_states[cache_state]),
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
mod tests;
