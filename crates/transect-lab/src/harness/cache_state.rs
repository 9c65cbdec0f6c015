//! States of the caches: making them, and proving them.
//!
//! The proof is the amount that the whole machine reads from devices during a run (`pgpgin` in
//! `/proc/vmstat`, in KiB): a warm run reads nothing, a cold run does. A sample without proof is void.

use std::fs::File;
use std::io::Write;

use serde::{Deserialize, Serialize};

/// The state of the caches before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Everything that the run reads is in memory.
    Warm,
    /// Nothing that the run reads is in memory.
    Cold,
    /// Unchanged: neither made nor proved.
    AsIs,
}

/// The limit of device reads during a warm run, in KiB, which allows for other processes.
const NOISE: u64 = 256;

/// The maximum of attempts to prove the state of a run.
pub(crate) const VOID_RETRIES: usize = 3;

/// Measures the amount read from devices.
#[derive(Clone, Copy, Debug)]
pub struct Probe(Option<u64>);

impl State {
    /// Returns the name of the state in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
            Self::AsIs => "as_is",
        }
    }

    /// Returns the name of the state in reports.
    pub fn label(self) -> &'static str {
        match self {
            Self::AsIs => "as they are",
            other => other.as_str(),
        }
    }

    /// Returns why this state cannot be made on this machine, if it cannot.
    pub fn unavailable_reason(self) -> Option<&'static str> {
        match self {
            Self::Warm | Self::AsIs => None,
            Self::Cold if cfg!(not(target_os = "linux")) => {
                Some("caches can be dropped on Linux only")
            }
            Self::Cold => File::options()
                .write(true)
                .open(DROP_CACHES)
                .is_err()
                .then_some("dropping caches needs root"),
        }
    }

    /// Makes the cold state. The warm state needs a preceding run that does not count.
    ///
    /// # Errors
    /// The caches cannot be dropped.
    pub fn prepare(self) -> std::io::Result<()> {
        if self == Self::Cold {
            #[cfg(target_os = "linux")]
            rustix::fs::sync();
            // Pages, dentries and inodes (`proc_sys_vm(5)`).
            File::options().write(true).open(DROP_CACHES)?.write_all(b"3")?;
        }
        Ok(())
    }

    /// Returns whether the amount read from devices, in KiB, proves the state; `None` if the amount is
    /// unknown, or the state needs no proof.
    pub fn is_proved_by(self, read: Option<u64>) -> Option<bool> {
        match self {
            Self::Warm => read.map(|kib| kib <= NOISE),
            Self::Cold => read.map(|kib| kib > NOISE),
            Self::AsIs => None,
        }
    }

    /// Returns whether the amount of a file in memory just before a run proves the state; `None` if the
    /// state needs no proof.
    pub fn is_proved_by_residency(self, resident: u64, bytes: u64) -> Option<bool> {
        match self {
            Self::Warm => Some(resident >= bytes),
            Self::Cold => Some(resident == 0),
            Self::AsIs => None,
        }
    }
}

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

impl Probe {
    /// Reads the counter before a run.
    pub fn begin() -> Self {
        Self(read_so_far())
    }

    /// Returns the KiB read since; `None` if the system does not report them.
    pub fn end(self) -> Option<u64> {
        Some(read_so_far()?.saturating_sub(self.0?))
    }
}

fn read_so_far() -> Option<u64> {
    let vmstat = std::fs::read_to_string("/proc/vmstat").ok()?;
    vmstat.lines().find_map(|line| line.strip_prefix("pgpgin ")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_proved_by_device_reads_or_residency() {
        assert_eq!(State::Warm.is_proved_by(Some(0)), Some(true));
        assert_eq!(State::Warm.is_proved_by(Some(100_000)), Some(false));
        assert_eq!(State::Cold.is_proved_by(Some(0)), Some(false));
        assert_eq!(State::Cold.is_proved_by(Some(100_000)), Some(true));
        assert_eq!(State::Cold.is_proved_by(None), None);
        assert_eq!(State::AsIs.is_proved_by(Some(7)), None);
        for (resident, cold, warm) in [(0, true, false), (1, false, false), (8192, false, true)] {
            assert_eq!(State::Cold.is_proved_by_residency(resident, 8192), Some(cold));
            assert_eq!(State::Warm.is_proved_by_residency(resident, 8192), Some(warm));
            assert_eq!(State::AsIs.is_proved_by_residency(resident, 8192), None);
        }
    }
}
