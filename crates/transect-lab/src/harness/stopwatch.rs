//! Measures one run: by the clock, and in CPU time.

use std::time::{Duration, Instant};

use transect_sys::host::usage_of_self;

/// Measures from its start until it is stopped.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    cpu: Option<Duration>,
    start: Instant,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunTime {
    pub elapsed: Duration,
    /// CPU time of all threads of this process; `None` if the system does not report it.
    pub cpu: Option<Duration>,
}

impl Stopwatch {
    /// Starts. The clock is read last, so that it does not count the call for CPU time.
    pub fn start() -> Self {
        let cpu = usage_of_self().map(|usage| usage.cpu_time);
        Self { cpu, start: Instant::now() }
    }

    pub fn stop(self) -> RunTime {
        let elapsed = self.start.elapsed();
        let cpu = usage_of_self().map(|usage| usage.cpu_time);
        RunTime { elapsed, cpu: cpu.zip(self.cpu).map(|(now, then)| now.saturating_sub(then)) }
    }
}

impl std::ops::AddAssign for RunTime {
    /// Adds a part of the same run. CPU time is known only if it is known of all parts.
    fn add_assign(&mut self, part: Self) {
        self.elapsed += part.elapsed;
        self.cpu = self.cpu.zip(part.cpu).map(|(sum, cpu)| sum + cpu);
    }
}

/// Returns a time in nanoseconds, as samples store it.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_time_of_parts_is_their_sum() {
        let part = |cpu| RunTime { elapsed: Duration::from_millis(3), cpu };
        let known = Some(Duration::from_millis(2));
        let mut sum = part(known);
        sum += part(known);
        let expected = (Duration::from_millis(6), Some(Duration::from_millis(4)));
        assert_eq!((sum.elapsed, sum.cpu), expected);
        sum += part(None);
        assert_eq!(sum.cpu, None, "CPU time of a part is unknown");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn stopwatch_counts_cpu_of_all_threads() {
        let watch = Stopwatch::start();
        let least = Duration::from_millis(20);
        let begin = usage_of_self().unwrap().cpu_time;
        let busy = move || while usage_of_self().unwrap().cpu_time < begin + least {};
        std::thread::spawn(busy).join().unwrap();
        assert!(watch.stop().cpu.unwrap() >= least);
    }
}
