//! Resource usage of processes: `getrusage(2)` on Linux, unknown elsewhere.

use std::time::Duration;

/// Resources that processes used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// CPU time in user and kernel mode.
    pub cpu_time: Duration,
    /// Number of times that a thread waited for something.
    pub voluntary_switches: u64,
    /// Number of times that a thread was preempted.
    pub involuntary_switches: u64,
    /// The most memory that one process held, in bytes.
    pub peak_memory: u64,
}

/// Returns the usage of all threads of this process so far; `None` if there is no such call.
pub fn usage_of_self() -> Option<ProcessUsage> {
    #[cfg(target_os = "linux")]
    return Some(usage(libc::RUSAGE_SELF));
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns the usage of all children that were waited for so far, including the children that they
/// waited for; `None` if there is no such call.
pub fn usage_of_children() -> Option<ProcessUsage> {
    #[cfg(target_os = "linux")]
    return Some(usage(libc::RUSAGE_CHILDREN));
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(target_os = "linux")]
fn usage(whose: libc::c_int) -> ProcessUsage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure is the kernel's own and lives through the call. It consists of numbers,
    // so it is valid whatever is written. The call cannot fail for either value of `whose`
    // (`getrusage(2)`).
    let usage = unsafe {
        libc::getrusage(whose, usage.as_mut_ptr());
        usage.assume_init()
    };
    let time = |it: libc::timeval| {
        Duration::from_secs(it.tv_sec as u64) + Duration::from_micros(it.tv_usec as u64)
    };
    ProcessUsage {
        cpu_time: time(usage.ru_utime) + time(usage.ru_stime),
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
        peak_memory: usage.ru_maxrss as u64 * 1024,
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn usage_of_self_cpu_time_and_voluntary_switches() {
        let before = usage_of_self().unwrap();
        let goal = before.cpu_time + Duration::from_millis(20);
        transect_testkit::wait_until("counted time", || {
            (0..1000).any(|_| usage_of_self().unwrap().cpu_time >= goal)
        });
        std::thread::spawn(|| std::thread::sleep(Duration::from_millis(1))).join().unwrap();
        assert!(
            usage_of_self().unwrap().voluntary_switches > before.voluntary_switches,
            "the other thread is one of ours"
        );
        assert!((1 << 16..1 << 40).contains(&before.peak_memory), "{before:?}");
    }

    #[test]
    fn usage_of_children_counts_waited_child() {
        let before = usage_of_children().unwrap();
        let mut child = std::process::Command::new("sleep").arg("0.01").spawn().unwrap();
        assert!(child.wait().unwrap().success());
        assert!(usage_of_children().unwrap().voluntary_switches > before.voluntary_switches);
    }
}
