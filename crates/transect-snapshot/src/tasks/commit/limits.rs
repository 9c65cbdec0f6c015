//! What a commit may use.

use std::io;
use std::path::PathBuf;

use crate::tasks::TaskError;
use crate::write;

/// What a reader of a part needs for its decoded pages, and a thread for those that it encodes, in bytes.
const READER_BYTES: usize = 4 << 20;
const THREAD_BYTES: usize = 8 << 20;

/// The maximum number of readers that keep decoded pages.
const MAX_OPEN_PARTS: usize = 16;

/// The memory that a commit may use, and its directory for temporary files.
#[derive(Clone, Debug)]
pub struct CommitLimits {
    /// The memory in bytes; at least [`CommitLimits::MIN_MEMORY`] is used. It does not depend on the number of entries.
    /// Each part of a million entries takes 0.4 MB more, for what its file says about its pages.
    pub memory: u64,
    /// The directory of temporary files, which have no names where the system allows it.
    pub folder: PathBuf,
}

impl CommitLimits {
    /// The least memory that a commit of some fifty parts needs.
    pub const MIN_MEMORY: u64 = 96 << 20;
    /// The default memory.
    pub const DEFAULT_MEMORY: u64 = 256 << 20;
}

/// How the memory is shared out.
#[derive(Debug)]
pub(super) struct Resources {
    pub(super) folder: PathBuf,
    /// The bytes of each of two sorters.
    pub(super) sort_memory: usize,
    /// The number of readers that keep decoded pages, twice.
    pub(super) open_parts: usize,
    /// The number of threads that encode.
    pub(super) threads: usize,
}

impl Resources {
    pub(super) fn within(limits: &CommitLimits) -> Self {
        let memory = limits.memory.max(CommitLimits::MIN_MEMORY);
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        Self {
            folder: limits.folder.clone(),
            sort_memory: memory / 8,
            open_parts: (memory / 4 / READER_BYTES / 2).clamp(1, MAX_OPEN_PARTS),
            threads: write::threads().min(memory / 4 / THREAD_BYTES).max(1),
        }
    }

    /// Returns the error of a temporary file.
    pub(super) fn failed(&self, error: io::Error) -> TaskError {
        TaskError::Write(self.folder.clone(), error)
    }
}
