//! Resource usage of processes: `getrusage(2)`.

use std::time::Duration;

use crate::host::ProcessUsage;

/// Returns what all threads of this process used so far.
pub fn usage_of_self() -> ProcessUsage {
    usage(libc::RUSAGE_SELF)
}

/// Returns what all children used that were waited for so far, including the children that they
/// waited for.
pub fn usage_of_children() -> ProcessUsage {
    usage(libc::RUSAGE_CHILDREN)
}

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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_of_self_cpu_time_and_voluntary_switches() {
        let before = usage_of_self();
        let goal = before.cpu_time + Duration::from_millis(20);
        transect_testkit::wait_until("counted time", || {
            (0..1000).any(|_| usage_of_self().cpu_time >= goal)
        });
        std::thread::spawn(|| std::thread::sleep(Duration::from_millis(1))).join().unwrap();
        assert!(
            usage_of_self().voluntary_switches > before.voluntary_switches,
            "the other thread is one of ours"
        );
    }

    #[test]
    fn usage_of_children_counts_waited_child() {
        let before = usage_of_children();
        let mut child = std::process::Command::new("sleep").arg("0.01").spawn().unwrap();
        assert!(child.wait().unwrap().success());
        assert!(usage_of_children().voluntary_switches > before.voluntary_switches);
    }
}
