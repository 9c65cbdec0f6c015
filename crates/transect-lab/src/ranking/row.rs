//! A row of a ranking: one cell, summarized and compared.

use serde::Serialize;

use crate::harness::accesses::Accesses;
use crate::harness::account::Account;
use crate::harness::launch::Usage;
use crate::harness::protocol::{CallTimes, Held};
use crate::ranking::runs::{Run, Runs, timed_calls};
use crate::spec::Cell;
use transect_stats::{Judgement, Ratios, Summary, Verdict};

#[derive(Debug, Default, Serialize)]
pub struct Row {
    pub cell: Cell,
    /// Its times in nanoseconds, by the metric of the ranking.
    pub time: Summary,
    /// The same, one for each round it ran, in order.
    pub samples: Vec<f64>,
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
    /// Median CPU time of one run, in nanoseconds; `None` if it is unknown.
    pub run_cpu_ns: Option<f64>,
    /// Median number of cores that it used: CPU time of one run, divided by the time of that run; `None` if the
    /// CPU time is unknown.
    pub cores: Option<f64>,
    /// Median peak memory of its process, in bytes; `None` if the system does not report it.
    pub peak_memory: Option<f64>,
    pub faults: Option<f64>,
    /// Median number of context switches, voluntary and involuntary.
    pub switches: Option<f64>,
    /// Median number of output bytes not yet on the device when it ends. A method that leaves less did
    /// more work.
    pub unwritten: Option<f64>,
    pub device_read: Option<f64>,
    /// Median number of bytes it gave devices to write, at once or later.
    pub device_written: Option<f64>,
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
    /// Whether it is faster than all floors that bind it, which is impossible: an error of the lab.
    pub below_the_floor: bool,
    pub accesses: Option<Accesses>,
    /// Median time of its process with no work, in nanoseconds, if it has no clock of its own. Its times
    /// include it.
    pub start_up: Option<f64>,
    /// Median time minus start-up. No verdict uses it.
    pub without_start: Option<f64>,
    /// Time inside the system calls of its walk, if they were timed.
    pub calls: Option<CallTimes>,
    pub to_base: Option<Ratios>,
    pub judgement: Option<Judgement>,
    /// The verdict if nothing else were compared with the base.
    pub alone: Option<Judgement>,
}

impl Row {
    /// Summarizes a cell; comparisons with other cells are filled in later.
    pub(super) fn of(cell: &Cell, runs: &Runs) -> Option<Self> {
        let median = |of: &dyn Fn(&Run) -> Option<f64>| {
            Summary::of(&runs.values().filter_map(of).collect::<Vec<_>>()).map(|it| it.median)
        };
        let of_usage = |of: fn(&Usage) -> u64| median(&|run| Some(of(&run.usage) as f64));
        let of_account =
            |of: fn(Account) -> u64| median(&|run| run.usage.account.map(|it| of(it) as f64));
        let samples: Vec<f64> = runs.values().map(|run| run.time).collect();
        let time = Summary::of(&samples)?;
        let disturbed = runs.values().enumerate().filter(|(_, run)| run.claim.is_disturbed);
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
            cache_bytes_per_name: median(&|run| run.held.map(cache_bytes_per_name)),
            speedup_over_slowest: 1.0,
            calls: timed_calls(runs),
            ..Self::default()
        })
    }

    /// Returns the verdict if the row is undecided among all cells, and differs from the base if nothing else were
    /// compared.
    pub fn differs_alone(&self) -> Option<Verdict> {
        let verdict = self.alone?.verdict;
        let is_lost = self.judgement?.verdict == Verdict::Undecided && verdict.is_difference();
        is_lost.then_some(verdict)
    }
}

fn cache_bytes_per_name(held: Held) -> f64 {
    held.memory as f64 / held.names.max(1) as f64
}
