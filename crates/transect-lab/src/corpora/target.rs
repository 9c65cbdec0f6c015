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

    /// Checks that the corpus can be created; returns whether it replaces an empty directory.
    #[expect(clippy::disallowed_methods, reason = "checks what exists at the target of a new tree")]
    pub(super) fn check(&self) -> Result<bool, String> {
        let Self { parent, target, partial } = self;
        let above = std::fs::metadata(parent).map_err(failed("access", parent))?;
        let replaces = match std::fs::symlink_metadata(target) {
            Ok(there) if !there.is_dir() => {
                return Err(unusable(target, "it exists and is not a directory"));
            }
            Ok(there) => {
                let mut entries =
                    std::fs::read_dir(target).map_err(failed("read directory", target))?;
                if entries.next().is_some() {
                    return Err(unusable(target, "the directory is not empty"));
                }
                check_writable(target)?;
                if is_mount_point(&above, &there) {
                    return Err(unusable(
                        target,
                        "a file system is mounted there; name a directory in it",
                    ));
                }
                true
            }
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) => return Err(failed("access", target)(error)),
        };
        match std::fs::symlink_metadata(partial) {
            Ok(_) => return Err(unusable(partial, PARTIAL_EXISTS)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed("access", partial)(error)),
        }
        check_writable(parent)?;
        Ok(replaces)
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

#[cfg(unix)]
fn is_mount_point(above: &std::fs::Metadata, there: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    above.dev() != there.dev()
}

/// Windows reports a mounted volume as a link, not a directory.
#[cfg(not(unix))]
fn is_mount_point(_: &std::fs::Metadata, _: &std::fs::Metadata) -> bool {
    false
}
