//! Options of a running service, its events, and why it stops.

use std::path::PathBuf;
use std::time::Duration;
use transect_live::Counts;

/// The options of a running service.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Stop after this time without a request; never by default.
    pub idle: Option<Duration>,
    /// The largest number of clients at a time.
    pub connections: usize,
    /// How often the tables of followed trees are stored, if something changed. They are also stored at the end.
    pub store_every: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self { idle: None, connections: 256, store_every: Duration::from_secs(600) }
    }
}

/// Why a service stopped without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The service was cancelled.
    Cancelled,
    /// No request arrived for the idle time.
    Idle,
}

/// An event of a running service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A client connected.
    Connected {
        /// Its process id; 0 if the system does not report it, because the client is gone already.
        process: u32,
    },
    /// A client of another user was rejected. On Windows, the system rejects it without an event.
    Refused {
        /// The id of that user.
        user: u32,
    },
    /// A client was rejected because there are too many.
    Busy {
        /// The process id of the client.
        process: u32,
    },
    /// A client disconnected.
    Disconnected {
        /// The process id of the client.
        process: u32,
        /// The number of paths and names in its requests.
        questions: u64,
    },
    /// A client was disconnected because of its request, or was gone before it was answered.
    Broken {
        /// The process id of the client.
        process: u32,
        /// The reason.
        why: String,
    },
    /// A tree was read, and is followed from now on.
    Followed {
        /// Its root.
        root: PathBuf,
        /// What it has.
        counts: Counts,
        /// The tree was not read, but its stored table is compared with it.
        is_stored: bool,
    },
    /// The table of a tree cannot be stored, or a stored one not be used.
    NotStored {
        /// The root of the tree.
        root: PathBuf,
        /// The reason.
        why: String,
    },
    /// A tree is not followed, or not any more.
    NotFollowed {
        /// Its root.
        root: PathBuf,
        /// The reason.
        why: String,
    },
    /// A connection could not be accepted.
    Failed {
        /// The reason.
        why: String,
    },
}
