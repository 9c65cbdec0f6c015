//! A session: rounds in which every cell runs on every dataset, in a new order each time.

use std::collections::HashSet;
use std::ops::Range;
use std::time::{Duration, Instant};

use transect::Cancel;
use transect_sys::private_dir::PrivateTempDir;

use crate::harness::accesses::{Accesses, paths_of_single_file};
use crate::harness::cache_state::{self, State};
use crate::harness::error::{cannot, cannot_make};
use crate::harness::experiment::{CountPart, Experiment, Job, Measure};
use crate::harness::launch::{Usage, launch};
use crate::harness::log::{
    Counted, End, Ended, Outcome, Record, Sample, Session, SessionData, Started, Timed,
};
use crate::harness::protocol::RunLine;
use crate::harness::stopwatch::nanoseconds;
use crate::spec::Cell;
use transect_stats::SplitMix64;

/// Number of measured starts of a program.
const STARTS: usize = 5;

/// The same with cold caches, where each start reads the program from its device.
const COLD_STARTS: usize = 3;

/// The maximum of repetitions of a disturbed sample.
const MAX_REPEATS: usize = 3;

/// Receives the name of each cell, its result, and the number of remaining cells.
pub type OfEach<'p> = dyn FnMut(&str, Result<(), String>, usize) + 'p;

/// Returns why a session ends after this number of complete rounds, if it does; its time limit is the last
/// argument. The ranking of its samples decides that, of which the harness knows nothing.
pub type EndRule<'r> = dyn Fn(&SessionData, usize, Duration) -> Option<End> + 'r;

impl Session {
    /// Returns the number of remaining processes in the rounds that are certain.
    pub fn left(&self) -> usize {
        self.rest_of(0..self.data().rounds()).len()
    }

    /// Returns the cells excluded from further rounds, with their datasets. One wrong result is enough, and
    /// a method that hangs would do so in every round.
    fn out(&self) -> HashSet<(usize, &str)> {
        let samples = self.data().samples.iter().filter(|sample| is_failed(sample));
        samples.map(|sample| (sample.dataset, sample.cell.as_str())).collect()
    }

    /// Returns the remaining runs of some rounds, in order: dataset, cell, cache state.
    fn rest_of(&self, rounds: Range<usize>) -> Vec<(usize, usize, usize)> {
        let SessionData { spec, samples, .. } = self.data();
        let done = samples.iter().map(|s| (s.round, s.dataset, s.cache_state, s.cell.as_str()));
        let (out, done) = (self.out(), done.collect::<HashSet<_>>());
        let mut rest = Vec::new();
        for round in rounds {
            let mut order = self.order(round);
            order.retain(|&(dataset, cell, cache_state)| {
                let cell = spec.cells[cell].name.as_str();
                !out.contains(&(dataset, cell))
                    && !done.contains(&(round, dataset, cache_state, cell))
            });
            rest.append(&mut order);
        }
        rest
    }

    /// Runs the remaining processes, and reports every sample to `progress`, with the number of remaining
    /// processes. `end` is asked after the certain rounds of a session with a time limit.
    ///
    /// # Errors
    /// A state cannot be made, or the file cannot be written. A failure of a method is a sample, not an
    /// error.
    pub fn run(
        &mut self,
        measure: &mut impl Measure,
        end: &EndRule<'_>,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&Sample, usize),
    ) -> Result<(), String> {
        for round in 0.. {
            if self.is_over(round, end)? {
                break;
            }
            let mut left = self.left();
            for (dataset, cell, cache_state) in self.rest_of(round..round + 1) {
                if cancel.is_cancelled() {
                    return Ok(());
                }
                let spec = &self.data().spec;
                let cell = &spec.cells[cell];
                if self.out().contains(&(dataset, &*cell.name)) {
                    continue;
                }
                let began = Instant::now();
                let job = Job::new(spec, cell, dataset, cache_state);
                let mut outcome = measure.measure(&job)?;
                let mut repeated = 0;
                while repeated < self.max_repeats(job.state) && !outcome.disturbed().is_empty() {
                    if cancel.is_cancelled() {
                        return Ok(());
                    }
                    outcome = measure.measure(&job)?;
                    repeated += 1;
                }
                let (cell, took_ns) = (cell.name.clone(), Some(nanoseconds(began.elapsed())));
                // Ctrl-C may have ended the run, so its outcome means nothing.
                if cancel.is_cancelled() {
                    return Ok(());
                }
                let sample =
                    Sample { round, dataset, cache_state, cell, took_ns, repeated, outcome };
                self.add(Record::Sample(sample.clone()))?;
                left = if is_failed(&sample) { self.left() } else { left.saturating_sub(1) };
                progress(&sample, left);
            }
        }
        Ok(())
    }

    /// Returns the maximum of repetitions of a disturbed sample: none if the last sample stayed disturbed
    /// after its repetitions. Otherwise a session on a busy machine would never end. Where states follow each
    /// other, a sample as it is depends on the one before, which a repetition would not find any more.
    fn max_repeats(&self, state: State) -> usize {
        if state == State::AsIs && self.data().spec.cache_states.len() > 1 {
            return 0;
        }
        let last = self.data().samples.last();
        if last.is_some_and(|last| !last.outcome.disturbed().is_empty()) { 0 } else { MAX_REPEATS }
    }

    /// Returns whether the session ends before a round. With a time limit, it logs the reason.
    fn is_over(&mut self, round: usize, end: &EndRule<'_>) -> Result<bool, String> {
        let data = self.data();
        // Finish a round that was begun before an interruption.
        if round < data.rounds() {
            return Ok(false);
        }
        let Some(seconds) = data.spec.max_time.filter(|_| data.ended.is_none()) else {
            return Ok(true);
        };
        let max_time = Duration::from_secs(seconds);
        let end = end(data, round, max_time);
        if let Some(by) = end {
            self.add(Record::End(Ended { rounds: round, by }))?;
        }
        Ok(end.is_some())
    }

    /// Returns the runs of a round in order. Datasets follow each other, the cells of each are shuffled
    /// anew in every round, and the cache states of a cell stay together, as one run prepares the state of
    /// the next. A resumed session has the same order.
    fn order(&self, round: usize) -> Vec<(usize, usize, usize)> {
        let spec = &self.data().spec;
        let mut random = SplitMix64::new(spec.seed ^ round as u64);
        let mut shuffled = |length: usize| {
            let mut order: Vec<usize> = (0..length).collect();
            random.shuffle(&mut order);
            order
        };
        let mut order = Vec::new();
        for dataset in shuffled(spec.datasets.len()) {
            let cells = shuffled(spec.cells.len()).into_iter();
            for cell in cells.filter(|&cell| spec.runs_in(&spec.cells[cell], dataset)) {
                order.extend(
                    (0..spec.cache_states.len()).map(|cache_state| (dataset, cell, cache_state)),
                );
            }
        }
        order
    }

    /// Measures cells outside the rounds, one after the other: stores what `measure` returns, and reports each cell
    /// to `progress`. A subject is a dataset, a cache state and a cell; `measure` returns `None` for one that does
    /// not apply.
    fn of_each(
        &mut self,
        subjects: Vec<(usize, usize, Cell)>,
        cancel: &Cancel,
        progress: &mut OfEach<'_>,
        mut measure: impl FnMut(&Job<'_>, usize) -> Result<Option<Result<Record, String>>, String>,
    ) -> Result<(), String> {
        let cells = subjects.len();
        for (at, (dataset, cache_state, cell)) in subjects.into_iter().enumerate() {
            if cancel.is_cancelled() {
                return Ok(());
            }
            let job = Job::new(&self.data().spec, &cell, dataset, cache_state);
            let Some(measured) = measure(&job, cache_state)? else { continue };
            let result = match measured {
                Ok(record) => Ok(self.add(record)?),
                Err(reason) => Err(reason),
            };
            progress(&cell.name, result, cells - at - 1);
        }
        Ok(())
    }

    /// Counts the calls of every cell that did the expected work, in separate runs, and reports every cell
    /// to `progress`. The calls of a run without work are subtracted: they belong to the program's start.
    ///
    /// # Errors
    /// A file cannot be written. Cells that cannot be counted are reported and
    /// skipped.
    pub fn count_calls(
        &mut self,
        experiment: &mut impl Experiment,
        cancel: &Cancel,
        progress: &mut OfEach<'_>,
    ) -> Result<(), String> {
        experiment.begin_counting(&self.data().spec);
        let folder = PrivateTempDir::new("strace");
        let folder = folder.map_err(cannot("create", &std::env::temp_dir()))?;
        let counted = self.data().counted.iter().map(|it| (it.dataset, 0, it.cell.as_str()));
        let uncounted = self.missing(0..1, &counted.collect());
        self.of_each(uncounted, cancel, progress, |job, _| {
            let mut count = |part| -> Result<Accesses, String> {
                let (command, entries) = experiment.count_command(job, part)?;
                let paths = paths_of_single_file(job.dataset);
                Ok(Accesses {
                    entries,
                    ..Accesses::of(&command, &paths, folder.path(), job.limit())?
                })
            };
            let counted =
                count(CountPart::StartUp).and_then(|start| Ok((start, count(CountPart::Work)?)));
            let repeats = experiment.counted_repeats(job);
            Ok(Some(counted.map(|(start, work)| {
                let accesses = work.of_one_walk(start, repeats);
                let (dataset, cell) = (job.index, job.cell.name.clone());
                Record::Accesses(Counted { dataset, cell, accesses })
            })))
        })
    }

    /// Returns the subjects in these cache states that are neither known nor failed.
    fn missing(
        &self,
        states: impl IntoIterator<Item = usize>,
        known: &HashSet<(usize, usize, &str)>,
    ) -> Vec<(usize, usize, Cell)> {
        let (spec, out) = (&self.data().spec, self.out());
        let mut missing = Vec::new();
        for (state, dataset) in
            states.into_iter().flat_map(|state| (0..spec.datasets.len()).map(move |it| (state, it)))
        {
            let cells = spec.cells_in(dataset).filter(|cell| cell.name != spec.second_base);
            let cells = cells.filter(|cell| !out.contains(&(dataset, &*cell.name)));
            let cells = cells.filter(|cell| !known.contains(&(dataset, state, &*cell.name)));
            missing.extend(cells.map(|cell| (dataset, state, cell.clone())));
        }
        missing
    }

    /// Measures the start of every cell that runs another program, once in each cache state, and of every
    /// cell with cold caches; reports every cell to `progress`.
    ///
    /// # Errors
    /// The file cannot be written. Cells that cannot be measured are reported and skipped.
    pub fn time_starts(
        &mut self,
        experiment: &mut impl Experiment,
        cancel: &Cancel,
        progress: &mut OfEach<'_>,
    ) -> Result<(), String> {
        self.of_each(self.unstarted(), cancel, progress, |job, cache_state| {
            // Skip the first start: the program may no longer be in memory. A cold start never finds it there.
            let is_cold = job.state == State::Cold && job.spec.has_cold_programs();
            let (discarded, kept) = if is_cold { (0, COLD_STARTS) } else { (1, STARTS) };
            let starts: Result<Vec<Usage>, String> =
                (0..discarded + kept).map(|_| experiment.start_up(job)).collect();
            Ok(Some(starts.map(|starts| {
                let starts = &starts[discarded..];
                let read_bytes: Option<_> = starts.iter().map(Usage::read_bytes).collect();
                Record::Start(Started {
                    cell: job.cell.name.clone(),
                    cache_state,
                    times_ns: starts.iter().map(|usage| usage.wall_ns).collect(),
                    cpu_ns: starts.iter().map(Usage::cpu_ns).collect(),
                    read_bytes: read_bytes.unwrap_or_default(),
                })
            })))
        })
    }

    /// Returns the cells whose start is not measured yet, each with a dataset that it runs on, for the first
    /// cache state of each kind. The base's second cell starts like the first.
    fn unstarted(&self) -> Vec<(usize, usize, Cell)> {
        let spec = &self.data().spec;
        let mut known: HashSet<(usize, String)> =
            self.data().started.iter().map(|it| (it.cache_state, it.cell.clone())).collect();
        let states = &spec.cache_states;
        let is_first = |&at: &usize| match spec.has_cold_programs() {
            true => states.iter().position(|state| *state == states[at]) == Some(at),
            false => at == 0,
        };
        // Cold, a start reads the program, which proves nothing about the tree.
        let is_wanted = |cell: &Cell, state: usize| {
            !spec.is_own(cell) || (spec.has_cold_programs() && states[state] == State::Cold)
        };
        let mut missing = self.missing((0..states.len()).filter(is_first), &HashSet::new());
        missing.retain(|(_, state, cell)| {
            is_wanted(cell, *state) && known.insert((*state, cell.name.clone()))
        });
        missing
    }

    /// Times the calls of the engine's cells in separate runs, and reports every cell to `progress`. Cells
    /// that cannot be timed are reported and skipped.
    pub fn time_calls(
        &mut self,
        experiment: &mut impl Experiment,
        cancel: &Cancel,
        progress: &mut OfEach<'_>,
    ) -> Result<(), String> {
        let timed = self.data().timed.iter();
        let timed = timed.map(|it| (it.dataset, it.cache_state, it.cell.as_str())).collect();
        let untimed = self.missing(0..self.data().spec.cache_states.len(), &timed);
        self.of_each(untimed, cancel, progress, |job, cache_state| {
            let Some(command) = experiment.timing_command(job) else { return Ok(None) };
            cache_state::prepare(job.state).map_err(cannot_make(job.state))?;
            let lines = launch(command, 1, job.limit()).map_err(String::from);
            Ok(Some(lines.and_then(|(lines, _)| match lines.as_slice() {
                &[RunLine { work, calls: Some(calls), .. }] if work == job.dataset.expected => {
                    let (dataset, cell) = (job.index, job.cell.name.clone());
                    Ok(Record::Calls(Timed { dataset, cache_state, cell, calls }))
                }
                _ => Err("found something else".to_owned()),
            })))
        })
    }
}

/// Returns whether a cell failed or did other work, which excludes it from further rounds.
fn is_failed(sample: &Sample) -> bool {
    matches!(sample.outcome, Outcome::Wrong { .. } | Outcome::Failed(_))
}
