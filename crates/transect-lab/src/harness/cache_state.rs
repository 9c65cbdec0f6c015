//! States of the caches: making them, and proving them by what devices read for the processes of a run
//! (`read_bytes` in `/proc/PID/io`). How much a cold run of a tree has to read is known only when its session is
//! ranked. Reads of the whole machine (`pgpgin` in `/proc/vmstat`) prove less: if there were none, the run was warm.

#[cfg(not(windows))]
use std::fs::File;
#[cfg(not(windows))]
use std::io::Write;

pub use transect_program::profile::CacheState as State;

/// The maximum of attempts to prove the state of a run.
pub(crate) const VOID_RETRIES: usize = 3;

/// Returns why caches cannot be dropped on this machine, if they cannot.
pub fn unavailable_reason() -> Option<&'static str> {
    #[cfg(windows)]
    return transect_sys::windows::standby::unavailable_reason();
    #[cfg(not(any(target_os = "linux", windows)))]
    return Some("caches can be dropped on Linux and Windows only");
    #[cfg(target_os = "linux")]
    {
        let opened = File::options().write(true).open(DROP_CACHES);
        opened.is_err().then_some("dropping caches needs root")
    }
}

/// Returns why single files cannot be dropped on this machine, if they cannot.
pub fn unavailable_reason_for_files() -> Option<&'static str> {
    let is_wine = transect_sys::host::wine_version().is_some();
    is_wine.then_some("Wine does not drop files that are opened without buffering")
}

/// Makes the cold state. The warm state needs a preceding run that does not count.
pub fn prepare(state: State) -> std::io::Result<()> {
    if state != State::Cold {
        return Ok(());
    }
    #[cfg(windows)]
    return transect_sys::windows::standby::purge();
    #[cfg(not(windows))]
    {
        #[cfg(target_os = "linux")]
        rustix::fs::sync();
        // Pages, dentries and inodes (`proc_sys_vm(5)`).
        File::options().write(true).open(DROP_CACHES)?.write_all(b"3")
    }
}

/// Returns whether the reads of devices during a run prove a state: the bytes for its processes, and
/// the KiB for the whole machine. `None` if they neither prove nor disprove it, or the state needs no
/// proof.
pub fn is_proved_by(state: State, process: Option<u64>, machine_kib: Option<u64>) -> Option<bool> {
    match (state, process) {
        (State::Warm, Some(bytes)) => Some(bytes == 0),
        (State::Cold, Some(bytes)) => Some(bytes > 0),
        // Others may have read.
        (State::Warm, None) => machine_kib.filter(|&kib| kib == 0).map(|_| true),
        (State::Cold, None) => machine_kib.filter(|&kib| kib == 0).map(|_| false),
        (State::AsIs, _) => None,
    }
}

/// Returns whether the amount of a file in memory just before a run proves a state; `None` if the
/// state needs no proof.
pub fn is_proved_by_residency(state: State, resident: u64, bytes: u64) -> Option<bool> {
    match state {
        State::Warm => Some(resident >= bytes),
        State::Cold => Some(resident == 0),
        State::AsIs => None,
    }
}

#[cfg(not(windows))]
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Returns the KiB that the whole machine has read from devices; `None` if the system does not report them.
pub(crate) fn read_so_far() -> Option<u64> {
    // Wine shows the files of the host.
    if cfg!(windows) {
        return None;
    }
    let vmstat = std::fs::read_to_string("/proc/vmstat").ok()?;
    vmstat.lines().find_map(|line| line.strip_prefix("pgpgin ")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_proved_by_reads_of_its_own_processes_or_residency() {
        use State::{AsIs, Cold, Warm};
        for (state, process, machine_kib, expected) in [
            (Warm, Some(0), Some(0), Some(true)),
            // Others read meanwhile.
            (Warm, Some(0), Some(100_000), Some(true)),
            (Cold, Some(0), Some(100_000), Some(false)),
            (Warm, Some(4096), Some(4), Some(false)),
            (Cold, Some(4096), Some(4), Some(true)),
            // Who read is unknown.
            (Warm, None, Some(0), Some(true)),
            (Cold, None, Some(0), Some(false)),
            (Warm, None, Some(4), None),
            (Cold, None, Some(100_000), None),
            (Warm, None, None, None),
            (AsIs, Some(7), Some(7), None),
        ] {
            let is = is_proved_by(state, process, machine_kib);
            assert_eq!(is, expected, "{state:?} {process:?} {machine_kib:?}");
        }
        for (resident, cold, warm) in [(0, true, false), (1, false, false), (8192, false, true)] {
            assert_eq!(is_proved_by_residency(State::Cold, resident, 8192), Some(cold));
            assert_eq!(is_proved_by_residency(State::Warm, resident, 8192), Some(warm));
            assert_eq!(is_proved_by_residency(State::AsIs, resident, 8192), None);
        }
    }
}
