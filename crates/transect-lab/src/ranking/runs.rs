//! The runs of a cell, as the samples of a session have them.

use std::collections::BTreeMap;

use crate::harness::launch::Usage;
use crate::harness::log::{FileEvidence, Outcome, Sample, SessionData, Started};
use crate::harness::protocol::{CallTimes, Held};
use crate::ranking::metric::Metric;
use crate::ranking::minimum_cost::Cost;
use crate::ranking::plausibility::{self, Claim};
use crate::ranking::run_cpu::{StartUp, cpu_of_one_run, one_of_runs};
use crate::spec::{Cell, SessionSpec};
use transect_stats::Summary;

const PAGE: u64 = 4096;

#[derive(Clone, Copy)]
pub(super) struct Run {
    /// By the metric of the ranking, in nanoseconds.
    pub(super) time: f64,
    /// CPU time of one run, in nanoseconds, if known, and the wall time of the same interval.
    pub(super) cpu: Option<f64>,
    pub(super) elapsed: f64,
    /// The time it reported, and the usage of its process.
    pub(super) claim: Claim,
    pub(super) usage: Usage,
    pub(super) files: Option<FileEvidence>,
    pub(super) held: Option<Held>,
    pub(super) calls: Option<CallTimes>,
    /// Whether it proved its state by itself.
    pub(super) is_proved: Option<bool>,
}

pub(super) type Runs = BTreeMap<usize, Run>;

/// A cell that did the expected work in every round it ran.
pub(super) struct Ran<'d> {
    pub(super) cell: &'d Cell,
    pub(super) runs: Runs,
    pub(super) start: Option<StartUp>,
}

impl Ran<'_> {
    fn cost(&self, of: fn(&Usage) -> Option<f64>, start: Option<Summary>) -> Option<Cost> {
        let costs: Option<Vec<f64>> = self.runs.values().map(|run| of(&run.usage)).collect();
        Some(Cost { process: Summary::of(&costs?)?.median, start: start?, runs: 1 })
    }

    pub(super) fn reads(&self) -> Option<Cost> {
        self.cost(read_bytes, self.start?.read_bytes)
    }

    pub(super) fn cpu(&self) -> Option<Cost> {
        let cost = self.cost(|usage| Some(usage.cpu_ns() as f64), self.start?.cpu)?;
        let runs = self.runs.values().map(|run| run.claim.number).max()?;
        Some(Cost { runs, ..cost })
    }

    pub(super) fn objection(&self, spec: &SessionSpec) -> Option<String> {
        // Their time is not one that they report.
        if spec.is_own(self.cell) || self.cell.is_process() || spec.whole_processes {
            return None;
        }
        let claims: Vec<Claim> = self.runs.values().map(|run| run.claim).collect();
        plausibility::objection(&claims, self.start?, spec.environment.cores)
    }
}

pub(super) fn read_bytes(usage: &Usage) -> Option<f64> {
    usage.read_bytes().map(|bytes| bytes as f64)
}

/// Returns whether the output of a cell is on the device when it ends; `None` if unknown. A last partial
/// page, or 1 % of the output, does not count.
pub(super) fn leaves_nothing(runs: &Runs) -> Option<bool> {
    let is_nothing = |run: &Run| {
        let (written, unwritten) = (run.files?.written?, run.files?.unwritten?);
        (written > 0).then(|| unwritten <= (written / 100).max(PAGE))
    };
    let known: Vec<bool> = runs.values().filter_map(is_nothing).collect();
    let nothing = known.iter().filter(|&&nothing| nothing).count();
    // The majority of runs: in one run a device may keep up by chance.
    (!known.is_empty()).then(|| nothing * 2 > known.len())
}

/// Returns the usage of the start of a cell in a cache state; both cells of the base start alike. Sessions of
/// older versions have one start for all states.
pub(super) fn start_up(data: &SessionData, cell: &Cell, cache_state: usize) -> Option<StartUp> {
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

/// Returns the times inside the calls of the sample with the median time, the faster of two, of those whose calls were
/// timed. They stay together: medians of each would be of different runs.
pub(super) fn timed_calls(runs: &Runs) -> Option<CallTimes> {
    let mut timed: Vec<(f64, CallTimes)> =
        runs.values().filter_map(|run| Some((run.elapsed, run.calls?))).collect();
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    timed.get(timed.len().checked_sub(1)? / 2).map(|(_, calls)| *calls)
}

/// Returns the runs of a cell in one cache state by round, or why it has none. A wrong result in any
/// cache state excludes the cell from all.
pub(super) fn runs_of(
    cell: &Cell,
    samples: &[&Sample],
    cache_state: usize,
    by: Metric,
    (spec, start): (&SessionSpec, Option<StartUp>),
) -> Result<Runs, String> {
    let mut runs = Runs::new();
    let mut unproved = None;
    for sample in samples.iter().filter(|sample| sample.cell == cell.name) {
        match (&sample.outcome, sample.outcome.problem()) {
            (Outcome::Wrong { .. } | Outcome::Failed(_), Some(problem)) => return Err(problem),
            _ if sample.cache_state != cache_state => {}
            (Outcome::Right { runs: lines, usage, files, .. }, _) => {
                let is_disturbed = !sample.outcome.disturbed().is_empty();
                let cpu = cpu_of_one_run(lines, usage, spec.whole_processes, start);
                let walls: Vec<f64> = lines.iter().map(|line| line.elapsed_ns as f64).collect();
                let wall = one_of_runs(&walls)?;
                let process = usage.wall_ns as f64;
                let run = Run {
                    time: match by {
                        Metric::Time => wall,
                        Metric::Process => process,
                        Metric::Processor => cpu
                            .clone()
                            .map_err(|why| format!("CPU time of a run unknown: {why}"))?,
                    },
                    cpu: cpu.ok(),
                    elapsed: if spec.whole_processes { process } else { wall },
                    claim: Claim::of(lines, usage, is_disturbed),
                    usage: *usage,
                    files: files.as_deref().copied(),
                    held: lines.iter().find_map(|line| line.held),
                    calls: lines.first().and_then(|line| line.calls),
                    is_proved: sample.outcome.is_proved(spec.cache_states[cache_state]),
                };
                runs.insert(sample.round, run);
            }
            (_, problem) => unproved = problem,
        }
    }
    let missing = || unproved.unwrap_or_else(|| "did not run yet".to_owned());
    if runs.is_empty() { Err(missing()) } else { Ok(runs) }
}
