//! Rankings: which cells of a session are faster, by how much, and how certain that is.
//!
//! Each dataset in each cache state has its own ranking. A cell is ranked if it found the expected work in every
//! round, its own clock is plausible ([`plausibility`](super::plausibility)), it used what the work needs
//! ([`minimum_cost`](super::minimum_cost)), and was not faster than possible ([`impossible`](super::impossible)).
//! Differences are ratios within a round. The base runs twice; if it differs from itself, no other verdict counts. If
//! other processes disturbed more than a quarter of the samples, CPU times of single runs are compared
//! ([`run_cpu`](super::run_cpu)).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::harness::accesses::Accesses;
use crate::harness::cache_state::State;
use crate::harness::log::{Outcome, Sample, SessionData};
use crate::ranking::besides::Beside;
use crate::ranking::best::best_group;
use crate::ranking::impossible::Bounds;
use crate::ranking::metric::Metric;
use crate::ranking::needs::Needs;
use crate::ranking::pair_answers::{PairAnswer, judge_together};
use crate::ranking::row::Row;
use crate::ranking::runs::{Ran, Run, Runs, leaves_nothing, runs_of, start_up};
use crate::ranking::why::Why;
use crate::spec::{Cell, CheckedBy, Pair, SessionSpec, Spec};
use transect_stats::verdict::{DEFAULT_THRESHOLD, MIN_ROUNDS};
use transect_stats::{Ratios, Summary, aa_check};

/// Up to one of this many samples may be disturbed; with more, wall times are not compared.
const MAX_DISTURBED_ONE_IN: usize = 4;

#[derive(Debug, Default, Serialize)]
pub struct Ranking {
    #[serde(rename = "place")]
    pub dataset: usize,
    pub name: String,
    #[serde(rename = "pass")]
    pub cache_state: usize,
    pub state: State,
    /// The metric that is compared and that rows are sorted by.
    pub by: Metric,
    /// Why nothing is compared, if so. Rows then have their wall times, in the order of the session,
    /// without ratios and verdicts.
    pub uncompared: Option<String>,
    pub disturbed: usize,
    /// Number of samples with the right result.
    pub samples: usize,
    /// The lab's own CPU time during a run, divided by the time of the run: the median. `None` if
    /// the system does not report it.
    pub harness: Option<f64>,
    /// The fastest method, and the methods that are not clearly slower, by ascending median. Empty if
    /// nothing is compared, no verdict counts, or no method is left.
    pub best: Vec<String>,
    /// Whether these methods are shown to make no difference; false if that is undecided.
    pub best_are_equal: bool,
    /// The cells, the fastest first.
    pub rows: Vec<Row>,
    /// The cells that are not compared with the other rows, the fastest first: those whose output is on the device
    /// when they end, although the base leaves its output in the cache, as they do more work; and contenders that
    /// give no digest of what they found, although the base does, as their errors may compensate.
    pub apart: Vec<Row>,
    pub unranked: Vec<Unranked>,
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
    /// Returns why a walk differs from another; `None` if that is unknown, or they are no walks.
    pub(crate) fn why(&self, spec: &SessionSpec, cell: &str, against: &str) -> Option<Why> {
        let entries = spec.datasets[self.dataset].entries();
        let is_walk = spec.experiment() == Spec::Walk;
        let pair = [self.row(cell)?, self.row(against)?];
        Why::of(spec, &self.rows, entries, pair).filter(|_| is_walk)
    }

    pub(crate) fn row(&self, cell: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.cell.name == cell)
    }

    /// Returns the rows that are methods: neither floors nor the repeated base.
    pub(crate) fn methods(&self, spec: &SessionSpec) -> Vec<&Row> {
        self.rows.iter().filter(|row| spec.is_method(&row.cell.name)).collect()
    }

    /// Returns all rows, those apart last.
    pub(crate) fn all_rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().chain(&self.apart)
    }

    pub(crate) fn has_wall_times(&self) -> bool {
        self.by != Metric::Processor && self.uncompared.is_none()
    }
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Unranked {
    pub cell: String,
    pub reason: String,
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
    let (disturbed, right) = disturbances(data.samples_in(dataset, cache_state));
    let by = match disturbed * MAX_DISTURBED_ONE_IN > right {
        true => Metric::Processor,
        false => wall_metric(&data.spec),
    };
    rank_by(data, dataset, cache_state, by)
}

fn wall_metric(spec: &SessionSpec) -> Metric {
    if spec.whole_processes { Metric::Process } else { Metric::Time }
}

/// Ranks the cells of one dataset and cache state by a metric, disturbed or not. If the CPU time is known
/// for too few cells to compare any, nothing is compared.
pub fn rank_by(data: &SessionData, dataset: usize, cache_state: usize, by: Metric) -> Ranking {
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
        (row.to_base, row.to_floor, row.judgement, row.alone) = (None, None, None, None);
        row.below_the_floor = false;
    }
    ranking
}

/// Ranks the cells of a dataset in a cache state, in stages.
fn rank_all(data: &SessionData, dataset: usize, cache_state: usize, by: Metric) -> Ranking {
    let pass = Pass::new(data, dataset, cache_state, by);
    let mut ranking = pass.empty_ranking();
    let ran = pass.keep_what_ran(&mut ranking);
    let mut rounds = pass.keep_what_is_plausible(ran, &mut ranking);
    pass.refuse_the_impossible(&mut rounds, &mut ranking);
    pass.measure_noise(&rounds, &mut ranking);
    pass.compare_rows(&rounds, &mut ranking);
    pass.name_the_best(&rounds, &mut ranking);
    pass.judge(&rounds, &mut ranking);
    pass.explain(&mut ranking);
    ranking
}

/// What is ranked: a dataset in a cache state, by a metric.
struct Pass<'d> {
    data: &'d SessionData,
    dataset: usize,
    cache_state: usize,
    state: State,
    by: Metric,
}

struct Rounds<'d> {
    runs: BTreeMap<&'d str, Runs>,
    spec: &'d SessionSpec,
}

impl Rounds<'_> {
    /// Returns the ratios of a cell to a base, paired by round.
    fn ratios(&self, base: &str, other: &str) -> Option<Ratios> {
        let pairs: Vec<_> =
            self.both(base, other).iter().map(|[base, other]| (base.time, other.time)).collect();
        Ratios::paired(&pairs, self.spec.seed)
    }

    /// Returns the runs of a base and of a cell in the rounds that have both.
    fn both(&self, base: &str, other: &str) -> Vec<[&Run; 2]> {
        let (base, other) = (self.runs.get(base), self.runs.get(other));
        let rounds = base.into_iter().flatten();
        rounds.filter_map(|(round, run)| Some([run, other?.get(round)?])).collect()
    }

    /// Returns the median over the rounds of a cell.
    fn median(&self, cell: &str, of: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.runs.get(cell)?.values().filter_map(of).collect();
        Some(Summary::of(&values)?.median)
    }

    fn leaves_nothing(&self, cell: &str) -> Option<bool> {
        self.runs.get(cell).and_then(leaves_nothing)
    }
}

impl<'d> Pass<'d> {
    fn new(data: &'d SessionData, dataset: usize, cache_state: usize, by: Metric) -> Self {
        let state = data.spec.cache_states[cache_state];
        Self { data, dataset, cache_state, state, by }
    }

    fn samples(&self) -> impl Iterator<Item = &'d Sample> {
        self.data.samples_in(self.dataset, self.cache_state)
    }

    /// Returns a ranking with nothing but what is ranked, and what disturbed it.
    fn empty_ranking(&self) -> Ranking {
        let (disturbed, samples) = disturbances(self.samples());
        Ranking {
            dataset: self.dataset,
            name: self.data.spec.datasets[self.dataset].name.clone(),
            cache_state: self.cache_state,
            state: self.state,
            by: self.by,
            disturbed,
            samples,
            harness: harness_share(self.samples()),
            ..Ranking::default()
        }
    }

    /// Returns the cells that did the expected work; the ranking names the others, and why.
    fn keep_what_ran(&self, ranking: &mut Ranking) -> Vec<Ran<'d>> {
        let spec = &self.data.spec;
        let samples = self.data.samples.iter().filter(|it| it.dataset == self.dataset);
        let samples: Vec<&Sample> = samples.collect();
        let mut ran = Vec::new();
        for cell in spec.cells_in(self.dataset) {
            let start = start_up(self.data, cell, self.cache_state);
            match runs_of(cell, &samples, self.cache_state, self.by, (spec, start)) {
                Ok(runs) => ran.push(Ran { cell, runs, start }),
                Err(reason) => {
                    ranking.unranked.push(Unranked { cell: cell.name.clone(), reason });
                }
            }
        }
        ran
    }

    /// Returns the cells whose times can be believed; the ranking lists the others, and names the cells with
    /// samples that did not prove their state.
    fn keep_what_is_plausible(&self, ran: Vec<Ran<'d>>, ranking: &mut Ranking) -> Rounds<'d> {
        let spec = &self.data.spec;
        let needs = Needs::of(spec, self.state, &ran);
        let mut rounds = Rounds { runs: BTreeMap::new(), spec };
        for one in ran {
            let objection = one.objection(spec).or_else(|| needs.objection_to(&one));
            if let Some(objection) = objection {
                let (cell, reason) = (one.cell.name.clone(), format!("implausible: {objection}"));
                ranking.unranked.push(Unranked { cell, reason });
                continue;
            }
            if !one.runs.values().all(|run| needs.is_proved(run, one.start)) {
                ranking.unproved.push(one.cell.name.clone());
            }
            rounds.runs.insert(one.cell.name.as_str(), one.runs);
        }
        // Without samples, nothing is unproved.
        ranking.proved = ranking.unproved.is_empty();
        if self.state == State::AsIs {
            ranking.unproved.clear();
        }
        rounds
    }

    /// Refuses other programs that claim to be faster than possible. A method of this program stays: there it is
    /// an error of the lab, and shown as one.
    fn refuse_the_impossible(&self, rounds: &mut Rounds<'d>, ranking: &mut Ranking) {
        let spec = &self.data.spec;
        let others =
            spec.cells.iter().filter(|cell| !spec.is_own(cell) && spec.is_method(&cell.name));
        for cell in others {
            let Some(objection) = self.impossible(cell, rounds) else { continue };
            rounds.runs.remove(cell.name.as_str());
            let reason = format!("impossible: {objection}");
            ranking.unranked.push(Unranked { cell: cell.name.clone(), reason });
        }
    }

    /// Returns why nothing can be as fast as a cell claims to be, if so.
    fn impossible(&self, cell: &Cell, rounds: &Rounds<'_>) -> Option<String> {
        let spec = &self.data.spec;
        let is_cpu = self.by == Metric::Processor;
        let claimed =
            rounds.median(&cell.name, |run| if is_cpu { run.cpu } else { Some(run.elapsed) })?;
        let floor = spec.floor.as_deref().filter(|_| spec.experiment() == Spec::Walk);
        let entries = spec.datasets[self.dataset].entries() as f64;
        let calls = self.accesses(&cell.name).map(|it| it.each(it.calls) * entries);
        let bounds = Bounds {
            calls: calls.zip(spec.environment.call_ns.map(|ns| ns as f64)),
            floor: floor.and_then(|floor| Some((rounds.median(floor, |run| run.cpu)?, floor))),
            to_floors: self.ratios_to_floors(cell, rounds),
            processors: if cell.parallel && !is_cpu { spec.environment.cores as f64 } else { 1.0 },
        };
        bounds.objection_to(claimed)
    }

    /// Returns the ratios of a cell to the floors that bind it. A parallel method has two, as starting threads may
    /// not pay on a small tree: the floor on several threads, which reads each directory on one, and that on one thread,
    /// divided by the processors. None with cold caches: it may have more threads waiting for the device.
    fn ratios_to_floors(&self, cell: &Cell, rounds: &Rounds<'_>) -> Vec<Ratios> {
        if self.state == State::Cold {
            return Vec::new();
        }
        let spec = &self.data.spec;
        let floors: Vec<&str> = match &cell.floors {
            Some(floors) => floors.iter().map(String::as_str).collect(),
            None => {
                let both = [spec.floor.as_deref(), spec.floor_of(cell, self.state)];
                both.into_iter().flatten().collect()
            }
        };
        let ratios = |floor: &str| {
            let ratios = rounds.ratios(floor, &cell.name)?;
            let is_divided = cell.parallel && Some(floor) == spec.floor.as_deref();
            let by = if is_divided { spec.environment.cores as f64 } else { 1.0 };
            let Ratios { low, median, high, .. } = ratios;
            Some(Ratios { low: low * by, median: median * by, high: high * by, ..ratios })
        };
        floors.into_iter().filter_map(ratios).collect()
    }

    fn accesses(&self, cell: &str) -> Option<Accesses> {
        let mut counted = self.data.counted.iter();
        counted.find(|it| it.dataset == self.dataset && it.cell == cell).map(|it| it.accesses)
    }

    fn measure_noise(&self, rounds: &Rounds<'_>, ranking: &mut Ranking) {
        let spec = &self.data.spec;
        ranking.noise = rounds.ratios(spec.repeated(), &spec.second_base);
        ranking.noisy = ranking.noise.is_some_and(|pair| !aa_check(&pair, DEFAULT_THRESHOLD));
    }

    /// Fills in the rows, those apart included, the fastest first.
    fn compare_rows(&self, rounds: &Rounds<'_>, ranking: &mut Ranking) {
        let spec = &self.data.spec;
        let base_leaves_output = rounds.leaves_nothing(&spec.base) == Some(false);
        for cell in &spec.cells {
            let Some(runs) = rounds.runs.get(cell.name.as_str()) else { continue };
            let Some(mut row) = Row::of(cell, runs) else { continue };
            self.add_separate_measurements(&mut row);
            let does_more = base_leaves_output && rounds.leaves_nothing(&cell.name) == Some(true);
            if does_more || self.lacks_digest(cell) {
                ranking.apart.push(row);
            } else {
                self.compare(&mut row, rounds);
                ranking.rows.push(row);
            }
        }
        sort_by_time(&mut ranking.rows);
        sort_by_time(&mut ranking.apart);
    }

    /// Returns whether only sums say that a contender did the work of the base. Third-party programs, which are timed
    /// from outside and do not know the protocol, are compared by sums.
    fn lacks_digest(&self, cell: &Cell) -> bool {
        let spec = &self.data.spec;
        let base = spec.cells.iter().find(|known| known.name == spec.base);
        let is_base_checked = base.is_some_and(|base| base.checked == Some(CheckedBy::Digest));
        is_base_checked && cell.checked == Some(CheckedBy::Sums) && !cell.is_process()
    }

    /// Fills in what was measured outside the rounds.
    fn add_separate_measurements(&self, row: &mut Row) {
        let Self { data, dataset, cache_state, .. } = *self;
        let name = row.cell.name.as_str();
        row.accesses = self.accesses(name);
        let start = start_up(data, &row.cell, cache_state).filter(|_| row.cell.is_process());
        row.start_up = start.map(|start| start.wall.median);
        row.without_start =
            row.start_up.filter(|_| self.by != Metric::Processor).map(|it| row.time.median - it);
        let here = (dataset, cache_state, name);
        let timed = data.timed.iter().find(|it| (it.dataset, it.cache_state, &*it.cell) == here);
        row.calls = row.calls.or(timed.map(|timed| timed.calls));
        let bytes = data.spec.datasets[dataset].bytes_of_one();
        row.ns_per_byte = bytes.map(|bytes| row.time.median / bytes as f64);
    }

    fn compare(&self, row: &mut Row, rounds: &Rounds<'_>) {
        let (spec, cell) = (&self.data.spec, &row.cell);
        let floor = spec.floor_of(cell, self.state);
        row.to_floor = floor.and_then(|floor| rounds.ratios(floor, &cell.name));
        let to_floors = self.ratios_to_floors(cell, rounds);
        let is_below = |ratios: &Ratios| ratios.n >= MIN_ROUNDS && ratios.high < 1.0;
        row.below_the_floor = !to_floors.is_empty() && to_floors.iter().all(is_below);
        let is_base = cell.name == spec.base || cell.name == spec.second_base;
        if !is_base && !cell.is_floor() {
            row.to_base = rounds.ratios(&spec.base, &cell.name);
        }
    }

    fn name_the_best(&self, rounds: &Rounds<'_>, ranking: &mut Ranking) {
        if ranking.noisy {
            return;
        }
        let methods = ranking.methods(&self.data.spec);
        (ranking.best, ranking.best_are_equal) =
            best_group(&methods, |base, other| rounds.ratios(base, other));
    }

    fn judge(&self, rounds: &Rounds<'_>, ranking: &mut Ranking) {
        let spec = &self.data.spec;
        let runs_here = |pair: &&Pair| {
            let is_here = |name: &str| spec.cells_in(self.dataset).any(|cell| cell.name == name);
            is_here(&pair.cell) && is_here(&pair.against)
        };
        let ranked = [&*ranking.rows, &*ranking.apart];
        let answer = |pair| PairAnswer::of(pair, ranked, |base, other| rounds.ratios(base, other));
        ranking.pairs = spec.pairs.iter().filter(runs_here).map(answer).collect();
        judge_together(&mut ranking.rows, &mut ranking.pairs, &spec.base, self.by);
        let compared: Vec<&mut PairAnswer> =
            ranking.pairs.iter_mut().filter(|pair| pair.ratios.is_some()).collect();
        let runs: Vec<_> =
            compared.iter().map(|pair| rounds.both(&pair.against, &pair.cell)).collect();
        for (pair, besides) in compared.into_iter().zip(Beside::of_pairs(&runs, spec.seed)) {
            pair.besides = besides;
        }
    }

    /// Fills in why the cells of pairs differ.
    fn explain(&self, ranking: &mut Ranking) {
        let why = |pair: &PairAnswer| ranking.why(&self.data.spec, &pair.cell, &pair.against);
        let of_pairs: Vec<_> = ranking.pairs.iter().map(why).collect();
        ranking.pairs.iter_mut().zip(of_pairs).for_each(|(pair, why)| pair.why = why);
    }
}

/// Sorts rows, the fastest first, and compares them with the slowest.
fn sort_by_time(rows: &mut [Row]) {
    rows.sort_by(|a, b| a.time.median.total_cmp(&b.time.median));
    let slowest = rows.last().map_or(1.0, |row| row.time.median);
    for row in rows {
        row.speedup_over_slowest = slowest / row.time.median;
    }
}

/// Returns the median of the lab's CPU time divided by the time of the run.
fn harness_share<'d>(samples: impl Iterator<Item = &'d Sample>) -> Option<f64> {
    let shares = samples.filter_map(|sample| {
        let Outcome::Right { beside: Some(beside), .. } = &sample.outcome else { return None };
        (beside.wall_ns > 0).then(|| beside.lab_ns as f64 / beside.wall_ns as f64)
    });
    Summary::of(&shares.collect::<Vec<_>>()).map(|summary| summary.median)
}

/// Returns the numbers of disturbed samples and of all samples with the right result.
fn disturbances<'d>(samples: impl Iterator<Item = &'d Sample>) -> (usize, usize) {
    let right: Vec<&Sample> =
        samples.filter(|sample| matches!(sample.outcome, Outcome::Right { .. })).collect();
    let disturbed = right.iter().filter(|sample| !sample.outcome.disturbed().is_empty());
    (disturbed.count(), right.len())
}

#[cfg(test)]
mod tests;
