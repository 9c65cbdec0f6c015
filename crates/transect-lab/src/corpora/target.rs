//! The target of a new corpus: its paths, and the checks before anything is written.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::{failed, unusable};

/// Why a partial corpus is in the way.
pub(super) const PARTIAL_EXISTS: &str = "it is left over from a run that was killed, or another run is at work; remove it if there is none";

/// The paths of a corpus.
pub(super) struct TargetPaths {
    pub(super) parent: PathBuf,
    pub(super) target: PathBuf,
    /// The path of the incomplete corpus.
    pub(super) partial: PathBuf,
}

impl TargetPaths {
    /// Splits a path, without system calls.
    pub(super) fn of(dir: &Path) -> Result<Self, String> {
        // "a/..", "/" and "." have no file name; "a/." has the name "a".
        let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) else {
            return Err(unusable(
                dir,
                "the path does not end in the name of a directory to create",
            ));
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let mut partial = OsString::from(name);
        partial.push(".partial");
        // Joined again, as the system follows a link with a trailing slash ("link/").
        Ok(Self {
            target: parent.join(name),
            partial: parent.join(partial),
            parent: parent.to_owned(),
        })
    }

    /// Checks that the corpus can be created.
    #[expect(clippy::disallowed_methods, reason = "checks what exists at the target of a new tree")]
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { parent, target, partial } = self;
        std::fs::metadata(parent).map_err(failed("access", parent))?;
        for (path, problem) in [(target, "it already exists"), (partial, PARTIAL_EXISTS)] {
            match std::fs::symlink_metadata(path) {
                Ok(_) => return Err(unusable(path, problem)),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(failed("access", path)(error)),
            }
        }
        check_writable(parent)
    }
}

#[cfg(unix)]
fn check_writable(dir: &Path) -> Result<(), String> {
    use rustix::fs::Access;
    rustix::fs::access(dir, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|errno| failed("write to", dir)(errno.into()))
}

/// Elsewhere, creating the first directory fails if the parent is not writable; nothing is written before
/// that.
#[cfg(not(unix))]
fn check_writable(_: &Path) -> Result<(), String> {
    Ok(())
}
