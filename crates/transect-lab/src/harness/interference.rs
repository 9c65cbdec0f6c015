//! Interference with a run: other processes that used processors, a hypervisor that took processor time,
//! a processor that was throttled.
//!
//! The kernel counts processor time in ticks of ten milliseconds; the limits allow for some ticks of rounding. For
//! runs that are too short for ticks, the number of runnable threads just before the run decides: as many as there are
//! processors leave none for the run. Interrupt time does not count, as the run itself causes most of it.

use serde::{Deserialize, Serialize};
use transect_sys::host::{ProcessUsage, usage_of_self};

use crate::harness::launch::Usage;
use crate::harness::stopwatch::nanoseconds;

/// The limit of processor time used by other processes, as a share of all processor time.
const MOST_FOREIGN: f64 = 0.05;

/// The limit of time stolen by a hypervisor, as a share of all processor time.
const MOST_STOLEN: f64 = 0.02;

/// One tick, in nanoseconds: `USER_HZ` is 100 wherever Linux runs.
pub(crate) const TICK: u64 = 10_000_000;

/// The rounding error of foreign processor time: one tick for each of the three numbers in the sum.
const ROUNDING: u64 = 3 * TICK;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// From the start of the run to its end, in nanoseconds.
    pub wall_ns: u64,
    pub processors: u64,
    /// Processor time of neither the run nor the lab, in nanoseconds.
    pub foreign_ns: u64,
    /// Time stolen by a hypervisor, summed over the processors, in nanoseconds.
    pub stolen_ns: u64,
    /// Processor time of the lab itself, in nanoseconds.
    pub lab_ns: u64,
    /// Runnable threads just before the run, except the lab's own.
    pub running: u64,
    /// How often a processor was throttled because of heat, if the system reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<Disturbance>,
}

transect_sys::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Disturbance {
        Foreign = "foreign" => "other processes used more than 5 % of the processors",
        Stolen = "stolen" => "a host took more than 2 % of the processors",
        /// Just before a run that is too short for a share.
        Crowded = "crowded" => "other processes were waiting for all processors",
        Throttled = "throttled" => "a processor was throttled because of heat",
    }
}

impl Beside {
    fn judge(&self) -> Vec<Disturbance> {
        let all = self.wall_ns.saturating_mul(self.processors) as f64;
        let foreign = self.foreign_ns as f64 > MOST_FOREIGN * all + ROUNDING as f64;
        let stolen = self.stolen_ns as f64 > MOST_STOLEN * all + TICK as f64;
        // Of a longer run the kernel's counters show what others really took.
        let short = MOST_FOREIGN * all < ROUNDING as f64;
        [
            (foreign, Disturbance::Foreign),
            (stolen, Disturbance::Stolen),
            (short && self.running >= self.processors, Disturbance::Crowded),
            (self.throttled.is_some_and(|times| times > 0), Disturbance::Throttled),
        ]
        .into_iter()
        .filter_map(|(is_so, disturbance)| is_so.then_some(disturbance))
        .collect()
    }
}

/// Observes the rest of the machine from the start of a run to its end.
#[derive(Debug)]
pub struct Watch {
    began: std::time::Instant,
    before: Option<Counters>,
    lab: Option<ProcessUsage>,
}

impl Watch {
    pub fn begin() -> Self {
        let before = Counters::read();
        Self { lab: usage_of_self(), began: std::time::Instant::now(), before }
    }

    /// Returns the activity during a run with this usage; `None` if the system does not report it.
    pub fn end(self, usage: &Usage) -> Option<Beside> {
        let wall_ns = nanoseconds(self.began.elapsed());
        let lab = usage_of_self()?.cpu_time.saturating_sub(self.lab?.cpu_time);
        let (before, after) = (self.before?, Counters::read()?);
        let ticks = |now: u64, then: u64| now.saturating_sub(then).saturating_mul(TICK);
        let lab_ns = nanoseconds(lab);
        let ours = usage.user_ns.saturating_add(usage.system_ns).saturating_add(lab_ns);
        let mut beside = Beside {
            wall_ns,
            processors: after.processors,
            foreign_ns: ticks(after.busy, before.busy).saturating_sub(ours),
            stolen_ns: ticks(after.stolen, before.stolen),
            lab_ns,
            // The thread that reads the counter is running, too.
            running: before.running.saturating_sub(1),
            throttled: after.throttled.zip(before.throttled).map(|(now, then)| now - then.min(now)),
            disturbed: Vec::new(),
        };
        beside.disturbed = beside.judge();
        Some(beside)
    }
}

/// Describes the interference that cannot be observed on this system, if there is any.
pub fn unobservable() -> Option<&'static str> {
    match Counters::read() {
        None => Some("the activity of other processes"),
        Some(counters) => counters.throttled.is_none().then_some("heat"),
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Counters {
    processors: u64,
    /// Ticks spent in programs and in the kernel, without interrupts.
    busy: u64,
    /// Ticks stolen by a hypervisor.
    stolen: u64,
    running: u64,
    throttled: Option<u64>,
}

impl Counters {
    fn read() -> Option<Self> {
        let mut counters = Self::parse(&std::fs::read_to_string("/proc/stat").ok()?)?;
        let throttled = |at: u64| -> Option<u64> {
            let folder = format!("/sys/devices/system/cpu/cpu{at}/thermal_throttle");
            std::fs::read_to_string(folder + "/core_throttle_count").ok()?.trim().parse().ok()
        };
        counters.throttled = (0..counters.processors).map(throttled).sum();
        Some(counters)
    }

    /// Parses `/proc/stat` (`proc_stat(5)`).
    fn parse(stat: &str) -> Option<Self> {
        let line = |key: &str| stat.lines().find_map(|line| line.strip_prefix(key));
        let ticks: Vec<u64> = line("cpu ")?
            .split_whitespace()
            .map(|word| word.parse().ok())
            .collect::<Option<_>>()?;
        let is_processor = |line: &&str| {
            line.strip_prefix("cpu")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        Some(Self {
            processors: stat.lines().filter(is_processor).count().max(1) as u64,
            // user, nice, system
            busy: ticks.get(..3)?.iter().sum(),
            stolen: ticks.get(7).copied().unwrap_or(0),
            running: line("procs_running ").and_then(|it| it.trim().parse().ok()).unwrap_or(0),
            throttled: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_counters_parsed() {
        let stat = "cpu  10 20 30 400 50 60 70 80 0 0\ncpu0 5 10 15 200 25 30 35 40 0 0\n\
                    cpu1 5 10 15 200 25 30 35 40 0 0\nintr 7 0\nctxt 9\nprocs_running 3\n";
        let counters = Counters::parse(stat).unwrap();
        let Counters { processors, busy, stolen, running, .. } = counters;
        assert_eq!((processors, busy, stolen, running), (2, 60, 80, 3));
        assert_eq!(Counters::parse("intr 7\n"), None);
    }

    #[test]
    fn run_disturbed_beyond_share_and_rounding_of_ticks() {
        let second = 1_000_000_000;
        let calm = Beside { wall_ns: second, processors: 2, ..Beside::default() };
        for (beside, expected) in [
            (calm.clone(), vec![]),
            (Beside { foreign_ns: 130_000_000, ..calm.clone() }, vec![]),
            (Beside { foreign_ns: 131_000_000, ..calm.clone() }, vec![Disturbance::Foreign]),
            (Beside { stolen_ns: 50_000_000, ..calm.clone() }, vec![]),
            (Beside { stolen_ns: 60_000_000, ..calm.clone() }, vec![Disturbance::Stolen]),
            (Beside { wall_ns: 1_000_000, running: 1, ..calm.clone() }, vec![]),
            (Beside { wall_ns: 1_000_000, running: 2, ..calm.clone() }, vec![Disturbance::Crowded]),
            // What waited just before a long run may have ended during it.
            (Beside { running: 2, ..calm.clone() }, vec![]),
            (Beside { throttled: Some(1), ..calm.clone() }, vec![Disturbance::Throttled]),
            // Three ticks may be rounding errors in a short run.
            (Beside { wall_ns: 1_000_000, foreign_ns: 30_000_000, ..calm }, vec![]),
        ] {
            assert_eq!(beside.judge(), expected, "{beside:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn other_processes_disturb_a_run_and_the_lab_itself_does_not() {
        let work = |time: std::time::Duration| {
            let before = usage_of_self().unwrap().cpu_time;
            while usage_of_self().unwrap().cpu_time < before + time {}
        };
        let watch = Watch::begin();
        // One process for each processor: fewer could stay below the limit.
        let processors = std::thread::available_parallelism().unwrap().get();
        let mut others: Vec<_> = (0..processors)
            .map(|_| {
                let mut other = std::process::Command::new("sh");
                other.args(["-c", "while :; do :; done"]).spawn().unwrap()
            })
            .collect();
        work(std::time::Duration::from_millis(500));
        for other in &mut others {
            other.kill().unwrap();
            other.wait().unwrap();
        }
        let beside = watch.end(&Usage::default()).unwrap();
        // The bound is low because on a busy machine these processes get less than a full processor.
        assert!(beside.foreign_ns > 100_000_000, "{beside:?}");
        assert!(beside.lab_ns >= 500_000_000, "{beside:?}");
        assert!(beside.disturbed.contains(&Disturbance::Foreign), "{beside:?}");
    }
}
