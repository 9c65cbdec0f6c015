//! What a walk returns: entries and errors.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use transect_sys::FileType;

use crate::{Operation, ScanError};

/// The result of one step.
pub type Result<T> = std::result::Result<T, Error>;

/// An entry with its path.
#[derive(Clone, Debug)]
pub struct DirEntry {
    pub(crate) path: PathBuf,
    pub(crate) depth: usize,
    pub(crate) file_type: FileType,
    /// A link, and `file_type` is that of its target.
    pub(crate) is_followed: bool,
    pub(crate) inode: Option<u64>,
}

impl DirEntry {
    /// Returns the path: that of the root as given, then the names below it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Converts the entry into its path.
    pub fn into_path(self) -> PathBuf {
        self.path
    }

    /// Returns the name; of a root without one, such as `/` and `..`, its path.
    pub fn file_name(&self) -> &OsStr {
        self.path.file_name().unwrap_or(self.path.as_os_str())
    }

    /// Returns the number of steps below the root.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the type; that of the target if links are followed.
    pub fn file_type(&self) -> FileType {
        self.file_type
    }

    /// Returns whether the path is a symbolic link, followed or not.
    pub fn path_is_symlink(&self) -> bool {
        self.is_followed || self.file_type.is_symlink()
    }

    /// Returns the inode number, if the system lists it.
    pub fn ino(&self) -> Option<u64> {
        self.inode
    }

    /// Queries the attributes; those of the target if links are followed.
    ///
    /// # Errors
    /// The error that the system reports.
    #[expect(clippy::disallowed_methods, reason = "the type that the caller needs is std's")]
    pub fn metadata(&self) -> Result<Metadata> {
        let found = match self.is_followed {
            true => std::fs::metadata(&self.path),
            false => std::fs::symlink_metadata(&self.path),
        };
        found.map_err(|error| Error::new(Operation::Stat, &self.path, self.depth, error))
    }
}

/// An error at a path. The walk goes on.
#[derive(Debug)]
pub struct Error {
    error: ScanError,
    loop_ancestor: Option<PathBuf>,
}

impl Error {
    pub(super) fn new(
        operation: Operation,
        path: &Path,
        depth: usize,
        error: impl Into<io::Error>,
    ) -> Self {
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        let error = ScanError::new(operation, path.to_owned(), depth, error.into());
        Self { error, loop_ancestor: None }
    }

    /// Returns the error of a link to a directory above it.
    pub(crate) fn of_loop(path: &Path, depth: usize, ancestor: PathBuf) -> Self {
        let text = format!("the link leads back to '{}'", ancestor.display());
        let error = Self::new(Operation::OpenDirectory, path, depth, io::Error::other(text));
        Self { loop_ancestor: Some(ancestor), ..error }
    }

    /// Converts it into the error of the library; of a loop, one with the same text.
    #[cfg(feature = "filters")]
    pub(crate) fn into_scan_error(self) -> ScanError {
        self.error
    }

    /// Returns the path that could not be read.
    pub fn path(&self) -> Option<&Path> {
        Some(self.error.path())
    }

    /// Returns the number of steps below the root.
    pub fn depth(&self) -> usize {
        self.error.depth() as usize
    }

    /// Returns the directory that a link leads back to; `None` for other errors.
    pub fn loop_ancestor(&self) -> Option<&Path> {
        self.loop_ancestor.as_deref()
    }

    /// Returns the error that the system reported; `None` for a loop.
    pub fn io_error(&self) -> Option<&io::Error> {
        self.loop_ancestor.is_none().then(|| self.error.io_error())
    }

    /// Converts it into the error that the system reported; `None` for a loop.
    pub fn into_io_error(self) -> Option<io::Error> {
        self.loop_ancestor.is_none().then(|| self.error.into_io_error())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.error.io_error().kind(), error)
    }
}
