//! The target of a new corpus: its paths, and the checks before anything is written.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::harness::error::cannot;

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

    #[expect(clippy::disallowed_methods, reason = "checks what exists at the target of a new tree")]
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { parent, target, .. } = self;
        std::fs::metadata(parent).map_err(cannot("access", parent))?;
        match std::fs::symlink_metadata(target) {
            Ok(_) => Err(unusable(target, "it already exists")),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(cannot("access", target)(error)),
        }
    }
}

pub(super) fn unusable(path: &Path, problem: &str) -> String {
    format!("cannot create a corpus in '{}': {problem}", path.display())
}
