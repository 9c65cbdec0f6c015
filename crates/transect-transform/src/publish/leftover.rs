//! Temporary files that killed processes left behind: recognised by name, and removed when it is
//! certain that no process writes to them.
//!
//! ```text
//! .NAME.PID-BOOT-NAMESPACE.N.transect
//! ```
//!
//! A process ID alone is not enough: IDs are reused, each PID namespace has its own, and on a
//! shared file system the process may run on another machine. The name therefore also contains a
//! hash of the boot ID and the number of the PID namespace, both in hexadecimal. A file is
//! abandoned if its file system is local, so that only processes of this machine write to it, and
//!
//! * it was created before the last boot; or
//! * it was created in this PID namespace, and no process has its ID. A new process with the same
//!   ID only delays the removal.
//!
//! All other files are kept: those of other users, on shared file systems, of other PID namespaces,
//! and of other versions. No lock is needed, so a complete file can be closed while it waits in a
//! batch.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::target::parent_dir;
use crate::error::{Error, Operation};
use crate::system::{self, ProcessSpace};

/// The suffix of temporary files.
pub(super) const SUFFIX: &str = ".transect";

/// The process that created a temporary file, as recorded in its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CreatorProcess {
    process: u32,
    /// `None` on systems that do not report it, and in names of earlier versions.
    space: Option<ProcessSpace>,
}

impl CreatorProcess {
    pub(super) fn current() -> Self {
        Self { process: std::process::id(), space: system::process_space().cloned() }
    }

    /// Parses the name of a temporary file; returns `None` for other names.
    fn parse(name: &OsStr) -> Option<Self> {
        let mut parts = name.to_str()?.strip_suffix(SUFFIX)?.strip_prefix('.')?.rsplit('.');
        let (_number, creator) = (decimal(parts.next()?)?, parts.next()?);
        // The name of the target comes before.
        parts.next()?;
        let mut parts = creator.split('-');
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

    /// Returns why the process may still be running. `own` is the process space of this process.
    fn keep_reason(&self, own: Option<&ProcessSpace>) -> Option<KeepReason> {
        let (Some(space), Some(own)) = (&self.space, own) else {
            return Some(KeepReason::UnknownCreator);
        };
        if space.boot != own.boot {
            return None;
        }
        if space.namespace != own.namespace {
            return Some(KeepReason::OtherNamespace);
        }
        system::is_running(self.process).then_some(KeepReason::Running(self.process))
    }
}

impl fmt::Display for CreatorProcess {
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

/// Returns whether a file has the name of a temporary file.
pub fn is_temporary(name: &OsStr) -> bool {
    CreatorProcess::parse(name).is_some()
}

/// Why a temporary file is not removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepReason {
    /// It is not a regular file, or belongs to another user.
    NotOwned,
    /// Processes of other machines may write to its file system.
    SharedFileSystem,
    /// Its name does not identify its process: another system or an earlier version created it.
    UnknownCreator,
    /// It was created in another PID namespace, such as that of a container.
    OtherNamespace,
    /// A process with this ID is running.
    Running(u32),
}

impl fmt::Display for KeepReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOwned => f.write_str("it is not a regular file of this user"),
            Self::SharedFileSystem => f.write_str("other machines may use its file system"),
            Self::UnknownCreator => f.write_str("its name does not say where its process runs"),
            Self::OtherNamespace => f.write_str("its process runs in another process namespace"),
            Self::Running(process) => write!(f, "process {process} is running"),
        }
    }
}

/// Returns why a temporary file must be kept; `None` if it is abandoned.
///
/// # Errors
/// The system reports an error; `NotFound` if the file has vanished.
pub fn keep_reason(leftover: &Path) -> io::Result<Option<KeepReason>> {
    let Some(creator) = leftover.file_name().and_then(CreatorProcess::parse) else {
        return Ok(Some(KeepReason::UnknownCreator));
    };
    if let Some(kept) = creator.keep_reason(system::process_space()) {
        return Ok(Some(kept));
    }
    if !system::is_own_file(leftover)? {
        return Ok(Some(KeepReason::NotOwned));
    }
    Ok((!system::is_local(parent_dir(leftover))).then_some(KeepReason::SharedFileSystem))
}

/// The result of removing temporary files.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct CleanupReport {
    /// Number of files removed.
    pub removed: usize,
    /// Files that were kept, and why.
    pub kept: Vec<(PathBuf, KeepReason)>,
    /// Files that could not be checked or removed.
    pub errors: Vec<Error>,
}

/// Removes those of `leftovers` that are abandoned. Ignores files that have vanished.
pub fn remove_abandoned(leftovers: &[PathBuf]) -> CleanupReport {
    let mut swept = CleanupReport::default();
    for leftover in leftovers {
        let removed = match keep_reason(leftover) {
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
    fn creator_process_parsed_from_name() {
        for (space, text) in [(None, "17"), (Some(OWN), "17-00000007-f0000001")] {
            let creator = CreatorProcess { process: 17, space };
            assert_eq!(creator.to_string(), text);
            let name = format!(".some.file.{creator}.3{SUFFIX}");
            assert_eq!(CreatorProcess::parse(name.as_ref()), Some(creator));
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
            assert_eq!(CreatorProcess::parse(name.as_ref()), None, "{name}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn leftover_kept_if_creator_runs_or_is_unknown() {
        let own = std::process::id();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let ended = child.id();
        child.wait().unwrap();
        let other_boot = ProcessSpace { boot: 8, ..OWN };
        let other_namespace = ProcessSpace { namespace: 1, ..OWN };
        for (process, space, expected) in [
            (own, Some(OWN), Some(KeepReason::Running(own))),
            (ended, Some(OWN), None),
            (own, Some(other_boot), None),
            (ended, Some(other_namespace), Some(KeepReason::OtherNamespace)),
            (ended, None, Some(KeepReason::UnknownCreator)),
        ] {
            let creator = CreatorProcess { process, space };
            assert_eq!(creator.keep_reason(Some(&OWN)), expected, "{creator}");
            assert_eq!(creator.keep_reason(None), Some(KeepReason::UnknownCreator));
        }
    }
}
