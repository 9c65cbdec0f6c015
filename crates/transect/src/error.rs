//! What can go wrong: inside a tree, and before a walk begins.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::{FaultKind, ReaderSettings};

/// The operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Operation {
    /// Opening a directory.
    OpenDirectory,
    /// Listing an open directory.
    ReadDirectory,
    /// Asking for the attributes of an entry.
    Stat,
    /// Reading a file of filter rules.
    ReadRules,
}

impl Operation {
    /// Returns the word for the operation, as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenDirectory => "open_directory",
            Self::ReadDirectory => "read_directory",
            Self::Stat => "stat",
            Self::ReadRules => "read_rules",
        }
    }

    /// Returns what a message says could not be done.
    fn describe(self) -> &'static str {
        match self {
            Self::OpenDirectory => "open directory",
            Self::ReadDirectory => "read directory",
            Self::Stat => "access",
            Self::ReadRules => "read filter rules of",
        }
    }
}

/// An error inside a tree. The walk goes on; the result is partial.
#[derive(Debug)]
pub struct ScanError {
    operation: Operation,
    path: PathBuf,
    depth: u32,
    source: io::Error,
}

impl ScanError {
    /// Returns an error about `path`, `depth` steps below its root.
    pub fn new(operation: Operation, path: PathBuf, depth: u32, source: io::Error) -> Self {
        Self { operation, path, depth, source }
    }

    /// Returns what was being done.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns the path it was done to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the steps below the root; 0 means that the root itself is unreadable.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns what the system said.
    pub fn io_error(&self) -> &io::Error {
        &self.source
    }

    /// Returns the kind, in one word.
    pub fn kind(&self) -> FaultKind {
        FaultKind::of(&self.source)
    }
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, path, source, .. } = self;
        write!(f, "cannot {} '{}': {}", operation.describe(), path.display(), reason(source))
    }
}

/// Returns the system's words without the "(os error 13)" that the standard library appends.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
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

/// Why a walk could not begin, or had to end.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// No root was given.
    NoRoots,
    /// The reader cannot be used here, and why.
    ReaderUnavailable(&'static str, &'static str),
    /// A buffer size was given for a reader that takes none: its name.
    NoBuffer(&'static str),
    /// A buffer size that no reader takes, in bytes.
    BufferSize(usize),
    /// A filter pattern that does not parse: the pattern and the reason.
    Pattern(String, String),
    /// The minimum depth lies below the maximum.
    Depths {
        /// What was asked as minimum.
        min: u32,
        /// What was asked as maximum.
        max: u32,
    },
    /// What was named cannot be looked at.
    Root(ScanError),
    /// No thread could be started.
    Thread(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoots => write!(f, "no path was given"),
            Self::ReaderUnavailable(name, why) => {
                write!(f, "reader '{name}' cannot be used here: {why}")
            }
            Self::NoBuffer(name) => write!(f, "reader '{name}' takes no buffer size"),
            Self::BufferSize(size) => {
                let sizes = ReaderSettings::BUFFER_SIZES;
                write!(
                    f,
                    "buffer size {size} is not between {} and {} bytes",
                    sizes.start(),
                    sizes.end()
                )
            }
            Self::Pattern(pattern, why) => write!(f, "cannot parse pattern '{pattern}': {why}"),
            Self::Depths { min, max } => {
                write!(f, "minimum depth {min} is greater than maximum depth {max}")
            }
            Self::Root(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "cannot start a thread: {}", reason(error)),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            Self::Root(error) => Some(error),
            _ => None,
        }
    }
}
