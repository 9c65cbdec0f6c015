//! Errors: inside a tree, and those that prevent a walk.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::FaultKind;

transect_sys::words! {
    /// The operation that failed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
    #[non_exhaustive]
    pub enum Operation {
        /// Opening a directory.
        OpenDirectory = "open_directory",
        /// Listing an open directory.
        ReadDirectory = "read_directory",
        /// Querying the attributes of an entry.
        Stat = "stat",
        /// Reading a file of gitignore rules.
        ReadRules = "read_rules",
        /// Reading a file.
        ReadFile = "read_file",
    }
}

impl Operation {
    /// Returns the verb used in messages.
    fn describe(self) -> &'static str {
        match self {
            Self::OpenDirectory => "open directory",
            Self::ReadDirectory => "read directory",
            Self::Stat => "access",
            Self::ReadRules => "read filter rules of",
            Self::ReadFile => "read",
        }
    }
}

/// An error inside a tree. The walk continues; its result is partial.
#[derive(Debug)]
pub struct ScanError {
    operation: Operation,
    path: PathBuf,
    depth: u32,
    source: io::Error,
}

impl ScanError {
    /// Returns an error about `path`, which lies `depth` steps below its root.
    pub fn new(operation: Operation, path: PathBuf, depth: u32, source: io::Error) -> Self {
        Self { operation, path, depth, source }
    }

    /// Returns the operation that failed.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns the path of the operation.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of steps below the root; 0 means that the root itself failed.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the system's error.
    pub fn io_error(&self) -> &io::Error {
        &self.source
    }

    /// Returns the system's error with its number, without operation and path. `io::Error::from` keeps these, and has no
    /// number.
    pub fn into_io_error(self) -> io::Error {
        self.source
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> FaultKind {
        FaultKind::of(&self.source)
    }
}

impl Clone for ScanError {
    /// Keeps the system's error number, or the text if there is none.
    fn clone(&self) -> Self {
        let source = match self.source.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(self.source.kind(), self.source.to_string()),
        };
        Self { source, path: self.path.clone(), ..*self }
    }
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, path, source, .. } = self;
        write!(f, "cannot {} '{}': {}", operation.describe(), path.display(), reason(source))
    }
}

/// Returns the system's message in one line. The "(os error 13)" that the standard library appends
/// is kept only on Windows, where people search for the number.
pub fn reason(error: &io::Error) -> String {
    worded(&error.to_string(), cfg!(windows))
}

fn worded(text: &str, with_code: bool) -> String {
    match text.split_once(" (os error ") {
        Some((words, code)) if with_code => {
            // Windows ends its messages with a period, and breaks long ones into lines.
            let words: Vec<&str> = words.split_whitespace().collect();
            format!("{} (os error {code}", words.join(" ").trim_end_matches('.'))
        }
        Some((words, _)) => words.to_owned(),
        None => text.to_owned(),
    }
}

impl std::error::Error for ScanError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl From<ScanError> for io::Error {
    fn from(error: ScanError) -> Self {
        Self::new(error.source.kind(), error)
    }
}

/// Why a walk could not start or had to end, or an error inside a tree.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// No root was given.
    NoRoots,
    /// The reader is not available on this system: its name, and the reason.
    ReaderUnavailable(&'static str, &'static str),
    /// A setting that the reader does not have, or a value out of its range: what is wrong.
    #[doc(hidden)]
    InvalidSetting(String),
    /// An invalid filter pattern: the pattern and the reason.
    InvalidPattern(String, String),
    /// The minimum depth is greater than the maximum.
    InvalidDepths {
        /// The minimum.
        min: u32,
        /// The maximum.
        max: u32,
    },
    /// A filter that reads files, for a table of entries that were read before: its name.
    FilterReadsFiles(&'static str),
    /// A cache root or base that is not an absolute path.
    NotAbsolute(PathBuf),
    /// Change notifications are not available: the reason.
    NoNotifications(String),
    /// A path given by the caller cannot be accessed.
    Root(ScanError),
    /// An error inside a tree, of an iterator or a closure, which get the other entries. A root that cannot
    /// be read has depth 0.
    Entry(ScanError),
    /// A thread could not be started.
    ThreadStart(io::Error),
    /// More entries than a table can hold: four thousand million rows.
    TooManyEntries,
}

impl Error {
    /// Returns the path that could not be accessed or read; `None` if no path is to blame.
    pub fn path(&self) -> Option<&Path> {
        self.scan_error().map(ScanError::path)
    }

    /// Returns the number of steps from the root to the path; `None` if no path is to blame.
    pub fn depth(&self) -> Option<u32> {
        self.scan_error().map(ScanError::depth)
    }

    /// Returns the system's error; `None` if a wrong option is to blame.
    pub fn io_error(&self) -> Option<&io::Error> {
        match self {
            Self::Root(error) | Self::Entry(error) => Some(&error.source),
            Self::ThreadStart(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the system's error, with its number ([`io::Error::raw_os_error`]), and without the path. An
    /// option that is wrong is [`io::ErrorKind::InvalidInput`]. To keep the path in the message instead,
    /// convert with `io::Error::from`.
    pub fn into_io_error(self) -> io::Error {
        match self {
            Self::Root(error) | Self::Entry(error) => error.source,
            Self::ThreadStart(error) => error,
            error => error.into(),
        }
    }

    /// Returns the error for a pattern: of several lines of a message, as those of regular expressions, the last
    /// one is the reason, and those above it point into the pattern.
    pub fn invalid_pattern(pattern: &str, message: &dyn fmt::Display) -> Self {
        let text = message.to_string();
        let last = text.lines().next_back().unwrap_or_default();
        let reason = last.strip_prefix("error: ").unwrap_or(last);
        Self::InvalidPattern(pattern.to_owned(), reason.to_owned())
    }

    fn scan_error(&self) -> Option<&ScanError> {
        match self {
            Self::Root(error) | Self::Entry(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the error for a pattern in a build without the feature `filters`.
    #[cfg(not(feature = "filters"))]
    pub(crate) fn without_filters(pattern: &str) -> Self {
        let why = "this program was built without the feature 'filters'";
        Self::InvalidPattern(pattern.to_owned(), why.to_owned())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoots => write!(f, "no path was given"),
            Self::ReaderUnavailable(name, why) => {
                write!(f, "reader '{name}' cannot be used here: {why}")
            }
            Self::InvalidSetting(why) => f.write_str(why),
            Self::InvalidPattern(pattern, why) => {
                write!(f, "cannot parse pattern '{pattern}': {why}")
            }
            Self::InvalidDepths { min, max } => {
                write!(f, "minimum depth {min} is greater than maximum depth {max}")
            }
            Self::FilterReadsFiles(name) => {
                write!(f, "filter '{name}' reads files; it cannot be applied to a table")
            }
            Self::NotAbsolute(path) => write!(f, "'{}' is not an absolute path", path.display()),
            Self::NoNotifications(why) => write!(f, "cannot watch for changes: {why}"),
            Self::Root(error) | Self::Entry(error) => error.fmt(f),
            Self::ThreadStart(error) => write!(f, "cannot start a thread: {}", reason(error)),
            Self::TooManyEntries => write!(f, "there are more entries than a table can hold"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::ThreadStart(error) => Some(error),
            Self::Root(error) | Self::Entry(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ScanError> for Error {
    fn from(error: ScanError) -> Self {
        Self::Entry(error)
    }
}

impl From<Error> for io::Error {
    /// Keeps the kind of the system's error. Options that are wrong are
    /// [`io::ErrorKind::InvalidInput`].
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Root(error) | Error::Entry(error) => error.source.kind(),
            Error::ThreadStart(error) => error.kind(),
            Error::ReaderUnavailable(..) | Error::NoNotifications(_) => io::ErrorKind::Unsupported,
            Error::TooManyEntries => io::ErrorKind::OutOfMemory,
            Error::NoRoots
            | Error::InvalidSetting(_)
            | Error::InvalidPattern(..)
            | Error::InvalidDepths { .. }
            | Error::FilterReadsFiles(_)
            | Error::NotAbsolute(_) => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_error_number_kept_on_windows_only() {
        for (text, without, with) in [
            (
                "No such file or directory (os error 2)",
                "No such file or directory",
                "No such file or directory (os error 2)",
            ),
            ("Path not found. (os error 3)", "Path not found.", "Path not found (os error 3)"),
            ("corrupt record", "corrupt record", "corrupt record"),
        ] {
            assert_eq!(worded(text, false), without);
            assert_eq!(worded(text, true), with);
        }
    }

    #[test]
    fn reason_windows_message_joined_to_one_line() {
        let text = "The volume is damaged.\r\nRun chkdsk.\r\n (os error 1392)";
        assert_eq!(worded(text, true), "The volume is damaged. Run chkdsk (os error 1392)");
    }

    #[test]
    fn system_error_keeps_its_number() {
        let error = ScanError::new(Operation::Stat, "x".into(), 1, io::Error::from_raw_os_error(5));
        assert_eq!(error.into_io_error().raw_os_error(), Some(5));
    }

    #[test]
    fn error_as_io_error_keeps_kind_and_text() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let root = ScanError::new(Operation::Stat, "x".into(), 0, denied());
        for (error, kind) in [
            (Error::NoRoots, io::ErrorKind::InvalidInput),
            (Error::Root(root), io::ErrorKind::PermissionDenied),
            (Error::ThreadStart(denied()), io::ErrorKind::PermissionDenied),
        ] {
            let text = error.to_string();
            let error = io::Error::from(error);
            assert_eq!((error.kind(), error.to_string()), (kind, text));
        }
    }

    #[test]
    fn into_io_error_keeps_number_of_the_system() {
        let missing = || io::Error::from_raw_os_error(2);
        let error = ScanError::new(Operation::Stat, "nowhere".into(), 3, missing());
        let entry = Error::from(error);
        assert_eq!((entry.path(), entry.depth()), (Some(Path::new("nowhere")), Some(3)));
        assert_eq!(entry.io_error().and_then(io::Error::raw_os_error), Some(2));
        assert_eq!(entry.into_io_error().raw_os_error(), Some(2));
        assert_eq!(Error::ThreadStart(missing()).into_io_error().raw_os_error(), Some(2));
        assert_eq!((Error::NoRoots.path(), Error::NoRoots.depth()), (None, None));
        assert_eq!(Error::NoRoots.into_io_error().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn scan_error_message_names_operation_path_and_reason() {
        let missing = io::Error::from_raw_os_error(2);
        let reason = reason(&missing);
        let error = ScanError::new(Operation::Stat, "nowhere".into(), 0, missing);
        assert_eq!(error.to_string(), format!("cannot access 'nowhere': {reason}"));
        assert_eq!(reason.ends_with("(os error 2)"), cfg!(windows), "{reason}");
    }
}
