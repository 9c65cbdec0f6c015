//! Events that the processor and the kernel count during a run, and the cores that it uses over time: rows A38
//! and A76 of the seed contract.
//!
//! `perf stat` counts them in runs of their own, which are never timed. They are those of the whole process,
//! with its start and all its runs.

use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::harness::launch::{self, is_on_path};
use crate::harness::stopwatch::nanoseconds;

/// The events of one process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Its time, in nanoseconds.
    pub elapsed_ns: u64,
    /// Its CPU time, in nanoseconds.
    pub task_clock_ns: u64,
    /// Cycles of the processor; `None` where it does not count them, as in most virtual machines.
    pub cycles: Option<u64>,
    /// Instructions.
    pub instructions: Option<u64>,
    /// Context switches.
    pub switches: Option<u64>,
    /// The length of an interval, in nanoseconds; the last one may be shorter.
    pub interval_ns: u64,
    /// The cores used in each interval: CPU time divided by time.
    pub cores: Vec<f64>,
}

/// The events, as `perf stat` names them.
const EVENTS: &str = "task-clock,cycles,instructions,context-switches";

/// The shortest interval that `perf stat` supports without a warning about inaccuracy.
const SHORTEST: Duration = Duration::from_millis(10);

/// The number of intervals that a run is divided into, if they are not too short.
const INTERVALS: u32 = 40;

/// Returns why events cannot be counted on this machine, if they cannot.
pub fn unavailable_reason() -> Option<String> {
    if cfg!(not(target_os = "linux")) {
        return Some("perf is for Linux only".to_owned());
    }
    if !is_on_path("perf") {
        return Some("needs perf: apt-get install linux-perf".to_owned());
    }
    let reason = Counters::of(&Command::new("true"), SHORTEST, Duration::from_secs(60)).err()?;
    let paranoid = crate::harness::machine::read("/proc/sys/kernel/perf_event_paranoid");
    let paranoid = Some(paranoid.trim()).filter(|text| !text.is_empty()).unwrap_or("unknown");
    Some(format!("perf is not permitted here (kernel.perf_event_paranoid is {paranoid}): {reason}"))
}

impl Counters {
    /// Runs a command to its end, and counts its events. `expected` is the time that it takes.
    ///
    /// # Errors
    /// The error message of `perf`, or a description of its output.
    pub fn of(command: &Command, expected: Duration, limit: Duration) -> Result<Self, String> {
        let folder = transect_sys::private_dir::PrivateTempDir::new("counters")
            .map_err(|error| transect::reason(&error))?;
        let table = folder.path().join("table");
        let interval = (expected / INTERVALS).max(SHORTEST);
        let mut perf = Command::new("perf");
        perf.args(["stat", "-x", ",", "-e", EVENTS, "-I", &interval.as_millis().to_string(), "-o"]);
        perf.arg(&table).arg("--");
        perf.arg(command.get_program()).args(command.get_args());
        if let Some(folder) = command.get_current_dir() {
            perf.current_dir(folder);
        }
        perf.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        // Numbers with a decimal point.
        perf.env("LC_NUMERIC", "C");
        launch::time(perf, limit).map_err(|failure| failure.to_string())?;
        let text = std::fs::read_to_string(&table).map_err(|error| transect::reason(&error))?;
        Self::parse(&text, interval).ok_or_else(|| "perf counted nothing".to_owned())
    }

    /// Returns the cores used over the whole time.
    pub fn mean_cores(&self) -> f64 {
        self.task_clock_ns as f64 / self.elapsed_ns.max(1) as f64
    }

    /// Parses the lines of `perf stat -I`: time, value, unit, event, and further fields.
    fn parse(text: &str, interval: Duration) -> Option<Self> {
        let mut sum = Self { interval_ns: nanoseconds(interval), ..Self::default() };
        let mut has_clock = false;
        for line in text.lines() {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let [seconds, value, _, event, ..] = fields[..] else { continue };
            let Ok(seconds) = seconds.parse::<f64>() else { continue };
            let end = (seconds * 1e9) as u64;
            let add = |sum: &mut Option<u64>| {
                if let Ok(number) = value.parse::<u64>() {
                    *sum = Some(sum.unwrap_or(0) + number);
                }
            };
            match event.split(':').next() {
                Some("task-clock") => {
                    let Ok(milliseconds) = value.parse::<f64>() else { continue };
                    // The fifth field has the exact value; the second is rounded to 10 µs.
                    let exact = fields.get(4).and_then(|field| field.parse().ok());
                    let cpu = exact.unwrap_or((milliseconds * 1e6) as u64);
                    let length = end.saturating_sub(sum.elapsed_ns).max(1);
                    sum.cores.push(cpu as f64 / length as f64);
                    sum.task_clock_ns += cpu;
                    sum.elapsed_ns = end;
                    has_clock = true;
                }
                Some("cycles") => add(&mut sum.cycles),
                Some("instructions") => add(&mut sum.instructions),
                Some("context-switches") => add(&mut sum.switches),
                _ => {}
            }
        }
        has_clock.then_some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_perf_added_up() {
        let text = "# started on Sun Nov 22 21:45:15 2026\n\n\
            \x20    0.010000000,20.00,msec,task-clock,20000000,100.00,2.000,CPUs utilized\n\
            \x20    0.010000000,<not supported>,,cycles,0,100.00,,\n\
            \x20    0.010000000,300,,instructions:u,20000000,100.00,,\n\
            \x20    0.010000000,1,,context-switches,20000000,100.00,413.288,/sec\n\
            \x20    0.014000000,1.00,msec,task-clock,1000000,100.00,0.100,CPUs utilized\n\
            \x20    0.014000000,<not supported>,,cycles,0,100.00,,\n\
            \x20    0.014000000,500,,instructions:u,1000000,100.00,,\n\
            \x20    0.014000000,47,,context-switches,1000000,100.00,24.381,K/sec\n";
        let counted = Counters::parse(text, Duration::from_millis(10)).unwrap();
        let expected = Counters {
            elapsed_ns: 14_000_000,
            task_clock_ns: 21_000_000,
            cycles: None,
            instructions: Some(800),
            switches: Some(48),
            interval_ns: 10_000_000,
            cores: vec![2.0, 0.25],
        };
        assert_eq!(counted, expected);
        assert_eq!(counted.mean_cores(), 1.5);
        assert_eq!(Counters::parse("perf: no permission\n", SHORTEST), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn busy_process_uses_one_core_or_reason_is_given() {
        if let Some(reason) = unavailable_reason() {
            assert!(
                reason.starts_with("needs perf: ") || reason.contains("perf_event_paranoid is ")
            );
            return;
        }
        let mut command = Command::new("sh");
        command.args(["-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"]);
        let counted = Counters::of(&command, Duration::ZERO, transect_testkit::WATCHDOG).unwrap();
        assert!(counted.task_clock_ns > 1_000_000 && !counted.cores.is_empty(), "{counted:?}");
        // A shell has one thread; ticks and intervals do not match exactly.
        assert!(counted.mean_cores() < 1.5, "{counted:?}");
    }
}
