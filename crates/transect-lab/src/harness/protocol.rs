//! The protocol of methods: a process prints one line of JSON for each run.

use serde::{Deserialize, Serialize};

use crate::harness::stopwatch::{RunTime, nanoseconds};
use crate::harness::work::Work;

/// The report of one run, as `contenders/README.md` defines it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLine {
    #[serde(flatten)]
    pub work: Work,
    /// Its duration by the method's own clock, in nanoseconds.
    pub elapsed_ns: u64,
    /// CPU time of all threads of its process during the run, in nanoseconds, if the method reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// The time inside the calls of its reader. Only the engine's methods report it, on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallTimes>,
    /// The digest of what it read, in hexadecimal, if the work is to calculate it: BLAKE3 of the content of
    /// a file, or the [`TreeDigest`](crate::harness::tree_digest::TreeDigest) of a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The sum of the last write times of all files found, in nanoseconds since 1970, modulo 2^64, if the
    /// work is to query them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<u64>,
    /// The content of its cache at the end, if it has one and reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
}

impl RunLine {
    /// Returns the line of a run that reports only its work and its time.
    pub fn new(work: Work, elapsed_ns: u64) -> Self {
        Self { work, elapsed_ns, ..Self::default() }
    }

    /// Returns the line of a run that this program measured.
    pub fn measured(work: Work, time: RunTime) -> Self {
        let cpu_ns = time.cpu.map(nanoseconds);
        Self { cpu_ns, ..Self::new(work, nanoseconds(time.elapsed)) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Its memory, in bytes.
    pub memory: u64,
    pub names: u64,
}

/// The time that the threads of a walk spend inside the calls of its reader, and the number of calls.
///
/// Each time is wall time from call to return, summed over all threads. Waiting for a device, a lock
/// or a core counts, as in the third seed article, so the sum over several threads can exceed the
/// duration of the walk. Parsing records in the reader counts as part of the call. Closing a
/// directory and the work of walker and sink do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTimes {
    /// Opening directories, in nanoseconds. For the readers of Windows that use paths this is
    /// `FindFirstFile`, and the preceding check whether the path is still a directory.
    pub opening_ns: u64,
    /// Attempts to open a directory.
    pub opening_calls: u64,
    /// Listing open directories, in nanoseconds: `getdents64`, `NtQueryDirectoryFile`,
    /// `FindNextFile`.
    pub listing_ns: u64,
    /// Batches listed, including the empty ones that end a listing.
    pub listing_calls: u64,
    /// Querying attributes of roots, open directories and entries, in nanoseconds. Short where the
    /// listing includes attributes.
    pub attributes_ns: u64,
    /// Attribute queries. All queries for the entries of one batch count as one, even if there are none.
    pub attributes_calls: u64,
    /// The threads over which the times are summed.
    pub threads: u64,
}
