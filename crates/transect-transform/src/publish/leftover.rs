//! Temporary files that killed runs left behind: recognised by their names, and removed when it is
//! certain that no process writes them.
//!
//! ```text
//! .NAME.PID-BOOT-NAMESPACE.N.transect
//! ```
//!
//! A process number alone says little: numbers are used again, every namespace of processes counts
//! for itself, and on a shared file system the process may run on another machine. So the name also
//! has a digest of the boot and the number of the process namespace, in hexadecimal. A file is
//! abandoned if its file system is local, so that only processes of this machine write to it, and
//!
//! * it was made before the last boot; or
//! * it was made in our own process namespace, and no process has its number. A new process with the
//!   old number only keeps the file longer.
//!
//! Everything else stays: of other users, on shared file systems, of other process namespaces, of other
//! versions. No lock is needed, so a finished file may wait closed for its batch.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::target::folder_of;
use crate::error::{Error, Operation};
use crate::system::{self, ProcessSpace};

/// What the name of a temporary file ends with.
pub(super) const SUFFIX: &str = ".transect";

/// The process that made a temporary file, as the name of the file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Maker {
    process: u32,
    /// Not known on systems that do not tell, and in names of earlier versions.
    space: Option<ProcessSpace>,
}

impl Maker {
    /// Returns this process.
    pub(super) fn this() -> Self {
        Self { process: std::process::id(), space: system::process_space().cloned() }
    }

    /// Returns the maker that the name of a temporary file has; `None` for other names.
    fn of(name: &OsStr) -> Option<Self> {
        let mut parts = name.to_str()?.strip_suffix(SUFFIX)?.strip_prefix('.')?.rsplit('.');
        let (_number, maker) = (decimal(parts.next()?)?, parts.next()?);
        // There is a name before.
        parts.next()?;
        let mut parts = maker.split('-');
        let process = u32::try_from(decimal(parts.next()?)?).ok()?;
        let space = match (parts.next(), parts.next(), parts.next()) {
            (None, ..) => None,
            (Some(boot), Some(namespace), None) => {
                Some(ProcessSpace { boot: hexadecimal(boot)?, namespace: hexadecimal(namespace)? })
            }
            _ => return None,
        };
        Some(Self { process, space })
    }

    /// Returns why the process may still be at work. `own` is the space of this process.
    fn may_work(&self, own: Option<&ProcessSpace>) -> Option<Kept> {
        let (Some(space), Some(own)) = (&self.space, own) else {
            return Some(Kept::UnknownMaker);
        };
        if space.boot != own.boot {
            return None;
        }
        if space.namespace != own.namespace {
            return Some(Kept::OtherNamespace);
        }
        system::is_running(self.process).then_some(Kept::Running(self.process))
    }
}

impl fmt::Display for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.space {
            Some(ProcessSpace { boot, namespace }) => {
                write!(f, "{}-{boot:08x}-{namespace:08x}", self.process)
            }
            None => write!(f, "{}", self.process),
        }
    }
}

fn decimal(digits: &str) -> Option<u64> {
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

fn hexadecimal(digits: &str) -> Option<u32> {
    let is_number = digits.len() == 8 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_number.then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Returns whether a file has the name of one that results are written to.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    Maker::of(name).is_some()
}

/// Why a temporary file is not removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kept {
    /// It is not a regular file, or belongs to another user.
    NotOurs,
    /// Processes of other machines may write to its file system.
    SharedFileSystem,
    /// Its name does not say where its process runs: it is of another system or an earlier version.
    UnknownMaker,
    /// It was made in another process namespace, such as that of a container.
    OtherNamespace,
    /// A process has the number of the one that made it.
    Running(u32),
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOurs => f.write_str("it is not a regular file of this user"),
            Self::SharedFileSystem => f.write_str("other machines may use its file system"),
            Self::UnknownMaker => f.write_str("its name does not say where its process runs"),
            Self::OtherNamespace => f.write_str("its process runs in another process namespace"),
            Self::Running(process) => write!(f, "process {process} is running"),
        }
    }
}

/// Returns why a temporary file that a walk has found is to stay; `None` if it is abandoned.
///
/// # Errors
/// Whatever the system says, also that there is nothing any more.
pub fn kept(leftover: &Path) -> io::Result<Option<Kept>> {
    let Some(maker) = leftover.file_name().and_then(Maker::of) else {
        return Ok(Some(Kept::UnknownMaker));
    };
    if let Some(kept) = maker.may_work(system::process_space()) {
        return Ok(Some(kept));
    }
    if !system::is_own(leftover)? {
        return Ok(Some(Kept::NotOurs));
    }
    Ok((!system::is_local(folder_of(leftover))).then_some(Kept::SharedFileSystem))
}

/// What became of temporary files that a walk has found.
#[derive(Debug, Default)]
pub struct CleanupReport {
    /// How many were removed.
    pub removed: usize,
    /// Those that stay, and why.
    pub kept: Vec<(PathBuf, Kept)>,
    /// What went wrong.
    pub errors: Vec<Error>,
}

/// Removes those of `leftovers` that are abandoned. What is gone meanwhile counts for nothing.
pub fn sweep(leftovers: &[PathBuf]) -> CleanupReport {
    let mut swept = CleanupReport::default();
    for leftover in leftovers {
        let removed = match kept(leftover) {
            Ok(Some(kept)) => {
                swept.kept.push((leftover.clone(), kept));
                continue;
            }
            Ok(None) => std::fs::remove_file(leftover),
            Err(error) => Err(error),
        };
        match removed {
            Ok(()) => swept.removed += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => swept.errors.push(Error::system(Operation::Remove, leftover)(error)),
        }
    }
    swept
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: ProcessSpace = ProcessSpace { boot: 7, namespace: 0xf000_0001 };

    #[test]
    fn maker_written_into_a_name_read_from_it() {
        for (space, text) in [(None, "17"), (Some(OWN), "17-00000007-f0000001")] {
            let maker = Maker { process: 17, space };
            assert_eq!(maker.to_string(), text);
            let name = format!(".some.file.{maker}.3{SUFFIX}");
            assert_eq!(Maker::of(name.as_ref()), Some(maker));
        }
        for name in [
            ".a.17-00000007.3.transect",
            ".a.17-7-f0000001.3.transect",
            ".a.17-00000007-f0000001-1.3.transect",
            ".a.-00000007-f0000001.3.transect",
            ".a.+17.3.transect",
            ".a.17..transect",
            ".17.3.transect",
        ] {
            assert_eq!(Maker::of(name.as_ref()), None, "{name}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn maker_that_may_work_is_one_that_runs_here_or_cannot_be_seen() {
        let own = std::process::id();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let ended = child.id();
        child.wait().unwrap();
        let other_boot = ProcessSpace { boot: 8, ..OWN };
        let other_namespace = ProcessSpace { namespace: 1, ..OWN };
        for (process, space, expected) in [
            (own, Some(OWN), Some(Kept::Running(own))),
            (ended, Some(OWN), None),
            (own, Some(other_boot), None),
            (ended, Some(other_namespace), Some(Kept::OtherNamespace)),
            (ended, None, Some(Kept::UnknownMaker)),
        ] {
            let maker = Maker { process, space };
            assert_eq!(maker.may_work(Some(&OWN)), expected, "{maker}");
            assert_eq!(maker.may_work(None), Some(Kept::UnknownMaker));
        }
    }
}
