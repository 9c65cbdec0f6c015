//! CPU time of one run, for machines that are too busy for wall times.
//!
//! A process does more than its measured runs: it starts, it may fill a cache first, it walks eleven times
//! where a peer walks once, it lets a server work. So CPU times of whole processes compare unlike work.
//! Here a CPU time belongs to the same interval as the wall time that it replaces:
//!
//! 1. in sessions of whole processes, the process, from start to exit;
//! 2. otherwise the CPU time that the cell reports for its run (`cpu_ns`), reduced like the wall time;
//! 3. otherwise, if the process ran once, its CPU time minus that of its start with nothing to do.
//!
//! A cell for which none of these is known is not compared. CPU time shows how much work a method makes,
//! not how soon it ends: a verdict on it is "less CPU" or "more CPU", never "faster".

use crate::harness::launch::Usage;
use crate::harness::protocol::RunLine;
use transect_stats::Summary;
use transect_stats::summary::mean_without_the_first;

/// The usage of a process without work, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartUp {
    pub(super) wall: Summary,
    /// CPU time; `None` in sessions of older versions.
    pub(super) cpu: Option<Summary>,
    /// Bytes that devices read for it; `None` if unknown, and in sessions of older versions.
    pub(super) read_bytes: Option<Summary>,
}

/// Returns one time for the runs of a process: its only one, or the mean without the first of several,
/// which warms the cache and does not count.
pub(super) fn one_of_runs(times: &[f64]) -> Result<f64, String> {
    match times {
        [only] => Ok(*only),
        times => mean_without_the_first(times).ok_or_else(|| "no samples".to_owned()),
    }
}

/// Returns the CPU time of one run, in nanoseconds, or why it is unknown.
pub(super) fn cpu_of_one_run(
    runs: &[RunLine],
    usage: &Usage,
    whole_processes: bool,
    start: Option<StartUp>,
) -> Result<f64, String> {
    let process = usage.cpu_ns() as f64;
    if whole_processes {
        return Ok(process);
    }
    let reported: Option<Vec<f64>> =
        runs.iter().map(|run| run.cpu_ns.map(|cpu| cpu as f64)).collect();
    if let Some(reported) = reported {
        return one_of_runs(&reported);
    }
    if runs.len() > 1 {
        return Err("it ran several times in a process and reports no CPU time".to_owned());
    }
    let Some(start) = start.and_then(|start| start.cpu) else {
        return Err("it reports no CPU time, and that of its start is unknown".to_owned());
    };
    let run = process - start.median;
    if run > start.max - start.min {
        Ok(run)
    } else {
        Err("it uses barely more CPU time than its start".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::work::Work;

    fn runs(cpu: &[Option<u64>]) -> Vec<RunLine> {
        let line = |&cpu_ns| RunLine { cpu_ns, ..RunLine::new(Work::default(), 1) };
        cpu.iter().map(line).collect()
    }

    fn cpu(runs: &[RunLine], whole: bool, start: Option<&[f64]>) -> Result<f64, String> {
        let usage = Usage { user_ns: 600, system_ns: 400, ..Usage::default() };
        let start = start.map(|times| {
            let times = Summary::of(times).unwrap();
            StartUp { wall: times, cpu: Some(times), read_bytes: None }
        });
        cpu_of_one_run(runs, &usage, whole, start)
    }

    #[test]
    fn reported_cpu_reduced_like_the_wall_time() {
        assert_eq!(cpu(&runs(&[Some(70)]), false, None), Ok(70.0));
        assert_eq!(cpu(&runs(&[Some(500), Some(10), Some(30)]), false, None), Ok(20.0));
    }

    #[test]
    fn process_cpu_of_one_run_without_start() {
        let start: &[f64] = &[300.0, 310.0, 290.0];
        assert_eq!(cpu(&runs(&[None]), false, Some(start)), Ok(700.0));
        assert_eq!(cpu(&runs(&[Some(70)]), true, Some(start)), Ok(1000.0), "whole processes");
        let noisy: &[f64] = &[300.0, 900.0, 100.0];
        assert!(cpu(&runs(&[None]), false, Some(noisy)).is_err(), "starts differ by more");
    }

    #[test]
    fn cpu_of_unknown_runs_refused() {
        let start: &[f64] = &[300.0; 3];
        assert!(cpu(&runs(&[None]), false, None).is_err());
        assert!(cpu(&runs(&[None; 11]), false, Some(start)).is_err());
        assert!(cpu(&runs(&[Some(10), None]), false, Some(start)).is_err());
    }
}
