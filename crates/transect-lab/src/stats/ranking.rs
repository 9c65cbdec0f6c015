//! What a session has come to: who is faster, by how much, and how sure that is.
//!
//! Each tree in each state of the caches is a ranking of its own. Ranked are the cells that found
//! what is there in every round they ran. Differences are ratios within a round, against the base
//! and against the floor; the base ran twice, and where it differs from itself nothing else is
//! concluded.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::harness::accesses::Accesses;
use crate::harness::cache_state::State;
use crate::harness::launch::Held;
use crate::harness::log::{Cell, Outcome, Sample, SessionData, Started};
use crate::harness::timed::CallTimes;
use crate::stats::article_stats::mean_without_the_first;
use crate::stats::verdict::{DEFAULT_THRESHOLD, MIN_ROUNDS};
use crate::stats::{Judgement, Ratios, Summary, aa_check, judge_all};

/// One of so many samples may be disturbed; if there are more, wall time is not compared.
const MAX_DISTURBED_ONE_IN: usize = 4;

/// A page of memory, in bytes.
const PAGE: f64 = 4096.0;

/// What a session has come to on one tree, in one state of the caches.
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
    /// The state of the caches before every run.
    pub state: State,
    /// What is compared, and what rows are sorted by.
    pub by: Metric,
    /// How many samples were disturbed by what went on beside them.
    pub disturbed: usize,
    /// How many samples there are, of those that are right.
    pub samples: usize,
    /// The processor time of the lab itself while a run went on, over the time of the run: the median;
    /// nothing where the system does not tell.
    pub harness: Option<f64>,
    /// The cells, the fastest first.
    pub rows: Vec<Row>,
    /// The cells that left nothing unwritten where the base leaves what it wrote to be written later, the
    /// fastest first: they did more, so they are compared with nobody here.
    pub apart: Vec<Row>,
    /// The cells that are not ranked.
    pub unranked: Vec<Unranked>,
    /// The base against itself.
    pub noise: Option<Ratios>,
    /// Whether every sample proved its state; never where the system does not tell.
    pub proved: bool,
    /// Whether the base is found to differ from itself: then no verdict is to be believed.
    pub noisy: bool,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Wall time, by the clock of each cell.
    Time,
    /// Processor time of the whole process: where others worked beside too many samples, their wall
    /// time says what the others did.
    Processor,
}

impl Metric {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Processor => "processor",
        }
    }

    /// Returns what is added to a title where it is not the wall's time that is compared.
    pub fn about(self) -> &'static str {
        match self {
            Self::Time => "",
            Self::Processor => "; by processor time",
        }
    }
}

/// One cell.
#[derive(Debug, Serialize)]
pub struct Row {
    /// What it is.
    pub cell: Cell,
    /// Its times, in nanoseconds by its own clock, or of the processors.
    pub time: Summary,
    /// The same, one for each round it ran, in their order: nanoseconds.
    pub samples: Vec<f64>,
    /// The round of each of these, from 0.
    pub rounds: Vec<usize>,
    /// Which of these lie far out ([`Summary::outliers`]): shown, never dropped.
    pub outliers: Vec<usize>,
    /// Which of these were disturbed by what went on beside them: likewise.
    pub disturbed: Vec<usize>,
    /// From the start to the end of its process, in nanoseconds: the median.
    pub wall_ns: f64,
    /// Time of the whole process outside the kernel, in nanoseconds: the median.
    pub user_ns: f64,
    /// Time of the whole process in the kernel, in nanoseconds: the median.
    pub system_ns: f64,
    /// The most memory that its process held, in bytes: the median; nothing where the system does
    /// not tell.
    pub peak_memory: Option<f64>,
    /// Pages that its process touched first, or that had to come from a device: the median.
    pub faults: Option<f64>,
    /// How often its threads waited, or were made to: the median.
    pub switches: Option<f64>,
    /// What of its output was not on the device at its end, in bytes: the median. A method that
    /// leaves less behind did more.
    pub unwritten: Option<f64>,
    /// What devices read for it, in bytes: the median.
    pub device_read: Option<f64>,
    /// What it gave devices to write, sooner or later, in bytes: the median.
    pub device_written: Option<f64>,
    /// The processor time of the run before the measured one, which does not count, over that of
    /// the measured one: the median. Far more than 1 says that memory that nobody had used for a
    /// while is dear here.
    pub fresh: Option<f64>,
    /// The memory that its cache takes for each name of which it knows something, in bytes: the median;
    /// nothing if it has none, or is not asked about attributes.
    #[serde(rename = "held_each")]
    pub cache_bytes_per_name: Option<f64>,
    /// What it takes for each byte of the input, in nanoseconds, by its median; nothing of walks, and
    /// of files so small that they are not told by their bytes.
    pub ns_per_byte: Option<f64>,
    /// How much faster than the slowest, by medians.
    #[serde(rename = "against_the_slowest")]
    pub speedup_over_slowest: f64,
    /// Against the floor on as many threads as it uses: one, or several.
    pub to_floor: Option<Ratios>,
    /// It took less time than the floor, which cannot be: an error of the lab. On several threads
    /// than both floors: on a small tree starting threads costs more than it saves. Never cold: more
    /// threads than the floors have may wait for a device at once.
    pub below_the_floor: bool,
    /// The system calls of its walk, if they were counted.
    pub accesses: Option<Accesses>,
    /// What its process takes with nothing to do, in nanoseconds: the median, if it has no clock of its
    /// own. It is part of its times.
    pub start_up: Option<f64>,
    /// Its median time without that: a figure of its own, which nothing is concluded from.
    pub without_start: Option<f64>,
    /// The time inside the calls of its walk, if they were timed.
    pub calls: Option<CallTimes>,
    /// Against the base.
    pub to_base: Option<Ratios>,
    /// What is said of it beside the base.
    pub judgement: Option<Judgement>,
}

/// A cell that has no time, and why.
#[derive(Debug, Serialize)]
pub struct Unranked {
    /// Its name.
    pub cell: String,
    /// Why.
    pub reason: String,
}

/// One round's value of a cell.
#[derive(Clone, Copy)]
struct RoundValue {
    time: f64,
    wall: f64,
    user: f64,
    system: f64,
    memory: f64,
    faults: Option<f64>,
    switches: Option<f64>,
    written: Option<f64>,
    unwritten: Option<f64>,
    device_read: Option<f64>,
    device_written: Option<f64>,
    fresh: Option<f64>,
    cache_bytes_per_name: Option<f64>,
    is_disturbed: bool,
}

/// The values of a cell by round.
type Values = BTreeMap<usize, RoundValue>;

/// Ranks the cells of a session: for each dataset, each cache state.
pub fn rank(data: &SessionData) -> Vec<Ranking> {
    let cache_states = data.spec.cache_states.len();
    (0..data.spec.datasets.len())
        .flat_map(|dataset| {
            (0..cache_states).map(move |cache_state| rank_one(data, dataset, cache_state))
        })
        .collect()
}

fn rank_one(data: &SessionData, dataset: usize, cache_state: usize) -> Ranking {
    let here = samples_in(data, dataset);
    let (disturbed, right) = disturbances(&here, cache_state);
    let by = if disturbed * MAX_DISTURBED_ONE_IN > right { Metric::Processor } else { Metric::Time };
    rank_by(data, dataset, cache_state, by)
}

/// Ranks the cells of a session in one place and pass by what is asked for, whatever disturbed them.
pub(crate) fn rank_by(
    data: &SessionData,
    dataset: usize,
    cache_state: usize,
    by: Metric,
) -> Ranking {
    let SessionData { spec, counted, timed, started, .. } = data;
    let here = samples_in(data, dataset);
    let (disturbed, right) = disturbances(&here, cache_state);
    let (mut rounds, mut unranked) = (BTreeMap::new(), Vec::new());
    for cell in spec.cells_in(dataset) {
        match values(cell, &here, cache_state, by) {
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
    let noise = against(&spec.base, &spec.again);
    let noisy = noise.as_ref().is_some_and(|pair| !aa_check(pair, DEFAULT_THRESHOLD));
    let leaves_nothing = |cell: &str| rounds.get(cell).and_then(leaves_nothing);
    let later = leaves_nothing(&spec.base) == Some(false);
    let (mut rows, mut apart) = (Vec::<Row>::new(), Vec::new());
    let passed_over = spec.datasets[dataset].bytes_of_one();
    for cell in &spec.cells {
        let Some(values) = rounds.get(cell.name.as_str()) else { continue };
        let Some(mut row) = Row::of(cell, values) else { continue };
        let accesses = counted.iter().find(|it| it.dataset == dataset && it.cell == cell.name);
        row.accesses = accesses.map(|counted| counted.accesses);
        let start = started.iter().find(|it| it.cell == cell.name).and_then(start_up);
        row.start_up = start;
        row.without_start = start.filter(|_| by == Metric::Time).map(|it| row.time.median - it);
        let mut calls =
            timed.iter().filter(|it| it.dataset == dataset && it.cache_state == cache_state);
        row.calls = calls.find(|it| it.cell == cell.name).map(|timed| timed.calls);
        row.ns_per_byte = passed_over.map(|bytes| row.time.median / bytes as f64);
        if later && leaves_nothing(&cell.name) == Some(true) {
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
        let is_base = cell.name == spec.base || cell.name == spec.again;
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
        harness: harness(&here, cache_state),
        rows,
        apart,
        unranked,
        noise,
        proved,
        noisy,
    }
}

/// Returns the samples of a dataset.
fn samples_in(data: &SessionData, dataset: usize) -> Vec<&Sample> {
    data.samples.iter().filter(|sample| sample.dataset == dataset).collect()
}

/// Returns whether what a cell wrote is on the device when it ends; nothing if that is not known. A last
/// page that no device takes as it is, or one of a hundred, does not count.
fn leaves_nothing(values: &Values) -> Option<bool> {
    let is_nothing = |value: &RoundValue| {
        let (written, unwritten) = (value.written?, value.unwritten?);
        (written > 0.0).then(|| unwritten <= (written / 100.0).max(PAGE))
    };
    let known: Vec<bool> = values.values().filter_map(is_nothing).collect();
    let nothing = known.iter().filter(|&&nothing| nothing).count();
    // Most of them: a device may keep up with one run by chance.
    (!known.is_empty()).then(|| nothing * 2 > known.len())
}

/// Returns what a name takes in a cache.
fn cache_bytes_per_name(held: Held) -> f64 {
    held.memory as f64 / held.names.max(1) as f64
}

/// Returns the median of what a start takes.
fn start_up(started: &Started) -> Option<f64> {
    let times: Vec<f64> = started.times_ns.iter().map(|&time| time as f64).collect();
    Summary::of(&times).map(|summary| summary.median)
}

/// Returns the processor time of the lab over the time of the run: the median of a pass.
fn harness(samples: &[&Sample], cache_state: usize) -> Option<f64> {
    let shares =
        samples.iter().filter(|sample| sample.cache_state == cache_state).filter_map(|sample| {
            let Outcome::Right { beside: Some(beside), .. } = &sample.outcome else { return None };
            (beside.wall_ns > 0).then(|| beside.lab_ns as f64 / beside.wall_ns as f64)
        });
    Summary::of(&shares.collect::<Vec<_>>()).map(|summary| summary.median)
}

/// Returns how many samples of a pass were disturbed, and how many there are.
fn disturbances(samples: &[&Sample], cache_state: usize) -> (usize, usize) {
    let of_pass = samples.iter().filter(|sample| sample.cache_state == cache_state);
    let right = of_pass.filter(|sample| matches!(sample.outcome, Outcome::Right { .. }));
    let disturbed = right.clone().filter(|sample| !sample.outcome.disturbed().is_empty());
    (disturbed.count(), right.count())
}

/// Judges rows, the slowest of which is the last, together: each further cell makes a difference by
/// chance more likely.
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
    /// Sums up a cell; what it is beside others comes later.
    fn of(cell: &Cell, values: &Values) -> Option<Self> {
        let column = |of: fn(&RoundValue) -> f64| values.values().map(of).collect::<Vec<_>>();
        let median = |of| Summary::of(&column(of)).map_or(0.0, |summary| summary.median);
        let median_known = |of: fn(&RoundValue) -> Option<f64>| {
            Summary::of(&values.values().filter_map(of).collect::<Vec<_>>()).map(|it| it.median)
        };
        let samples = column(|value| value.time);
        let time = Summary::of(&samples)?;
        Some(Self {
            cell: cell.clone(),
            time,
            outliers: time.outliers(&samples),
            disturbed: (0..)
                .zip(values.values())
                .filter_map(|(at, it)| it.is_disturbed.then_some(at))
                .collect(),
            samples,
            rounds: values.keys().copied().collect(),
            wall_ns: median(|value| value.wall),
            user_ns: median(|value| value.user),
            system_ns: median(|value| value.system),
            peak_memory: Some(median(|value| value.memory)).filter(|&bytes| bytes > 0.0),
            faults: median_known(|value| value.faults),
            switches: median_known(|value| value.switches),
            unwritten: median_known(|value| value.unwritten),
            device_read: median_known(|value| value.device_read),
            device_written: median_known(|value| value.device_written),
            fresh: median_known(|value| value.fresh),
            cache_bytes_per_name: median_known(|value| value.cache_bytes_per_name),
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

    /// Returns the processor time of its process, in nanoseconds.
    pub fn cpu_ns(&self) -> f64 {
        self.user_ns + self.system_ns
    }
}

/// Returns the values of a cell in one pass by round, or why it has none. Who was wrong in another
/// pass is wrong.
fn values(
    cell: &Cell,
    samples: &[&Sample],
    cache_state: usize,
    by: Metric,
) -> Result<Values, String> {
    let mut values = BTreeMap::new();
    let mut void = None;
    for sample in samples.iter().filter(|sample| sample.cell == cell.name) {
        match &sample.outcome {
            Outcome::Wrong { found } => return Err(format!("found something else: {found}")),
            Outcome::Failed(failure) => return Err(failure.to_string()),
            _ if sample.cache_state != cache_state => {}
            Outcome::Void { instead } => void = Some(*instead),
            Outcome::Right { runs, usage, passed, .. } => {
                let times: Vec<f64> = runs.iter().map(|run| run.elapsed_ns as f64).collect();
                let time = match times.as_slice() {
                    _ if by == Metric::Processor => (usage.user_ns + usage.system_ns) as f64,
                    [only] => *only,
                    // The first walk of several warms what it walks on: it does not count.
                    times => mean_without_the_first(times).map_err(|why| why.to_string())?,
                };
                let value = RoundValue {
                    time,
                    wall: usage.wall_ns as f64,
                    user: usage.user_ns as f64,
                    system: usage.system_ns as f64,
                    memory: usage.peak_memory as f64,
                    faults: usage.account.map(|it| (it.minor_faults + it.major_faults) as f64),
                    switches: usage.account.map(|it| (it.waits + it.preemptions) as f64),
                    written: passed.as_ref().and_then(|it| it.written).map(|bytes| bytes as f64),
                    unwritten: passed
                        .as_ref()
                        .and_then(|it| it.unwritten)
                        .map(|bytes| bytes as f64),
                    device_read: usage.account.map(|it| it.read_bytes as f64),
                    device_written: usage.account.map(|it| it.written_bytes as f64),
                    fresh: passed.as_ref().and_then(|it| it.fresh_over(usage)),
                    cache_bytes_per_name: runs.iter().find_map(|run| run.held).map(cache_bytes_per_name),
                    is_disturbed: !sample.outcome.disturbed().is_empty(),
                };
                values.insert(sample.round, value);
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
    use crate::experiments::transform::Passed;
    use crate::fixtures::with;

    /// A session in which cells leave so much of a MiB unwritten.
    fn leaving(cells: &[(&str, Option<u64>)]) -> SessionData {
        let times: Vec<(&str, u64)> = cells.iter().map(|(name, _)| (*name, 1000)).collect();
        let mut data = with(&times, 6);
        for sample in &mut data.samples {
            let (_, unwritten) = cells.iter().find(|(name, _)| *name == sample.cell).unwrap();
            let Outcome::Right { passed, .. } = &mut sample.outcome else { continue };
            let primed = crate::harness::launch::Usage::default();
            let (bytes, written) = (1 << 20, Some(1 << 20));
            let unwritten = *unwritten;
            *passed = Some(Box::new(Passed { bytes, resident: None, written, unwritten, primed }));
        }
        data
    }

    fn names(rows: &[Row]) -> Vec<&str> {
        rows.iter().map(|row| row.cell.name.as_str()).collect()
    }

    #[test]
    fn who_leaves_nothing_unwritten_is_never_ranked_with_who_does() {
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
    fn where_all_are_synced_or_nothing_is_known_there_is_one_class() {
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
