//! What the process of a method prints: one line of JSON for each run.

use serde::{Deserialize, Serialize};

use crate::harness::work::Work;

/// What the process of a method says of one run: the protocol of `contenders/README.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLine {
    /// What it found.
    #[serde(flatten)]
    pub work: Work,
    /// How long it took by its own clock, in nanoseconds.
    pub elapsed_ns: u64,
    /// What of that passed in the calls of its reader: of this program's own methods only, and
    /// only if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallTimes>,
    /// The BLAKE3 digest of what it read, in hexadecimal, if finding it was its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The sum of the last write times of all that it found, in nanoseconds since 1970, as far as it
    /// fits into 64 bits, if asking for them was its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<u64>,
    /// What its cache holds at the end, if it has one and reports that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
}

impl RunLine {
    /// Returns the line of a run that reports only its work and its time.
    pub fn new(work: Work, elapsed_ns: u64) -> Self {
        Self { work, elapsed_ns, calls: None, digest: None, changed: None, held: None }
    }
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The memory that it takes, in bytes.
    pub memory: u64,
    /// The names of which it knows something.
    pub names: u64,
}

/// How long the threads of a walk were inside the calls of its reader, and how often.
///
/// Times are thread time: what passed on the clock from a call to its return, summed over all
/// threads. Waiting for a device, a lock or a core counts, as it does in the third seed article,
/// so that several threads can spend more than the walk took. What the reader does with an answer
/// (parsing records) counts with the call; closing a directory counts nowhere, nor does what the
/// walker and the sink do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTimes {
    /// Opening directories, in nanoseconds. For the readers of Windows that go by path this is
    /// `FindFirstFile`, with the question before it whether the path is still a directory.
    pub opening_ns: u64,
    /// Directories opened, or tried.
    pub opening_calls: u64,
    /// Listing open directories, in nanoseconds: `getdents64`, `NtQueryDirectoryFile`,
    /// `FindNextFile`.
    pub listing_ns: u64,
    /// Batches listed, those that only say "no more" included.
    pub listing_calls: u64,
    /// Asking for attributes, in nanoseconds, of roots, of open directories and of entries. Little
    /// where they come with the listing.
    pub attributes_ns: u64,
    /// Questions for attributes. All that is asked about the entries of one batch counts as one,
    /// also if it is nothing.
    pub attributes_calls: u64,
    /// The threads over which the times are summed.
    pub threads: u64,
}
