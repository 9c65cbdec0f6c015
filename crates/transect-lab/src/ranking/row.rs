//! A row of a ranking: one cell, and the metric by which it is compared.

use serde::{Deserialize, Serialize};

use crate::harness::accesses::Accesses;
use crate::harness::counters::Counters;
use crate::harness::protocol::{CallTimes, RunLine};
use crate::spec::Cell;
use transect_stats::{Judgement, Ratios, Summary};

/// The metric that is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Wall time, by each cell's own clock.
    #[default]
    Time,
    /// Wall time of the whole process, from its start to its exit.
    Process,
    /// CPU time of one run, or of the whole process in sessions of those: used if too many samples were
    /// disturbed, as wall time then depends on other processes.
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

    /// Returns whether it is wall time by each cell's own clock.
    pub fn is_time(&self) -> bool {
        *self == Self::Time
    }

    /// Returns a judgement of ratios by this metric.
    pub(crate) fn judgement(self, judgement: Judgement) -> Judgement {
        match self {
            Self::Processor => Judgement { verdict: judgement.verdict.on_cpu(), ..judgement },
            Self::Time | Self::Process => judgement,
        }
    }

    /// Returns what reports add to a title; empty for wall time by a cell's own clock.
    pub fn about(self) -> &'static str {
        match self {
            Self::Time => "",
            Self::Process => "; whole processes",
            Self::Processor => "; by CPU time",
        }
    }
}

/// A sample whose calls were timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedSample {
    /// Its time, in nanoseconds.
    pub time: f64,
    /// The time inside its calls.
    pub calls: CallTimes,
    /// The share of its time that it waited; `None` if its CPU time is unknown.
    pub waited: Option<f64>,
}

impl TimedSample {
    /// Returns the sample of a run, if its calls were timed, on a machine with so many cores.
    pub(super) fn of(run: &RunLine, cores: usize) -> Option<Self> {
        let calls = run.calls?;
        let time = run.elapsed_ns as f64;
        let used = calls.threads.clamp(1, cores.max(1) as u64) as f64;
        // Clocks of CPU time may be ahead by a tick.
        let waited = run.cpu_ns.map(|cpu| (1.0 - cpu as f64 / used / time).max(0.0));
        Some(Self { time, calls, waited })
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
    /// Median CPU time of one run, in nanoseconds; `None` if it is unknown.
    pub run_cpu_ns: Option<f64>,
    /// Median number of cores that it used: CPU time of one run, divided by the time of that run; `None` if the
    /// CPU time is unknown.
    pub cores: Option<f64>,
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
    /// Median ratio of CPU times: the unmeasured first run, divided by the measured run. Far above 1
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
    /// Why its own clock is implausible, if it is.
    pub implausible: Option<String>,
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
    /// What its processor counted, and the cores that it used over time, if counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// The sample that these calls belong to; `None` if they were timed in a run of its own.
    #[serde(skip)]
    pub timed_sample: Option<TimedSample>,
    /// Ratio to the base.
    pub to_base: Option<Ratios>,
    /// The verdict on that ratio.
    pub judgement: Option<Judgement>,
}
