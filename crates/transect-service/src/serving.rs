//! How a service serves, what happens there, and why it ends.

use std::time::Duration;

/// How a service serves.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Ends when nobody has asked anything for so long; by default never.
    pub idle: Option<Duration>,
    /// The most programs that are answered at once.
    pub connections: usize,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self { idle: None, connections: 256 }
    }
}

/// Why a service ended, in good order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Somebody asked for it.
    Cancelled,
    /// Nobody asked anything any more.
    Idle,
}

/// What happens at a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A program connected.
    Connected {
        /// Its process.
        process: u32,
    },
    /// A program of another user was sent away.
    Refused {
        /// The number of that user.
        user: u32,
    },
    /// A program was sent away because there are too many.
    Busy {
        /// Its process.
        process: u32,
    },
    /// A program hung up.
    Disconnected {
        /// Its process.
        process: u32,
        /// How many questions it asked.
        questions: u64,
    },
    /// A program was sent away for what it asked, or was gone before it was answered.
    Broken {
        /// Its process.
        process: u32,
        /// What was wrong.
        why: String,
    },
    /// A connection could not be taken.
    Failed {
        /// Why.
        why: String,
    },
}
