//! Cold or warm: asked for, and then proved.
//!
//! The proof is what the kernel read from devices while a run went on (`pgpgin` in `/proc/vmstat`,
//! in KiB, of the whole machine): a warm run reads nothing, a cold one does. A sample that cannot
//! show it is void.

use std::fs::File;
use std::io::Write;

use serde::{Deserialize, Serialize};

/// The state of the caches before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// All that will be read is in memory.
    Warm,
    /// Nothing of it is.
    Cold,
    /// As it happens to be: neither made nor proved.
    AsIs,
}

/// What a warm run may read, in KiB: others share the machine.
const NOISE: u64 = 256;

/// How often a run is repeated that could not prove its state.
pub(crate) const VOID_RETRIES: usize = 3;

/// What was read from devices while something went on.
#[derive(Clone, Copy, Debug)]
pub struct Probe(Option<u64>);

impl State {
    /// Returns the word for the state, as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
            Self::AsIs => "as_is",
        }
    }

    /// Returns the word for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::AsIs => "as they are",
            other => other.as_str(),
        }
    }

    /// Returns why this state cannot be had here, if it cannot.
    pub fn why_not(self) -> Option<&'static str> {
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

    /// Makes the state; warm is made by a run that does not count.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn prepare(self) -> std::io::Result<()> {
        if self == Self::Cold {
            #[cfg(target_os = "linux")]
            rustix::fs::sync();
            // Pages, dentries and inodes (`proc_sys_vm(5)`).
            File::options().write(true).open(DROP_CACHES)?.write_all(b"3")?;
        }
        Ok(())
    }

    /// Returns whether what was read proves the state; `None` if the system does not tell, or there
    /// is nothing to prove.
    pub fn is_proved_by(self, read: Option<u64>) -> Option<bool> {
        match self {
            Self::Warm => read.map(|kib| kib <= NOISE),
            Self::Cold => read.map(|kib| kib > NOISE),
            Self::AsIs => None,
        }
    }

    /// Returns whether what of a file was in memory just before a run proves the state; `None` if
    /// there is nothing to prove.
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
    /// Begins to look.
    pub fn begin() -> Self {
        Self(read_so_far())
    }

    /// Returns the KiB read since; `None` if the system does not tell.
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
    fn a_state_is_proved_by_what_was_read_or_not_at_all() {
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
