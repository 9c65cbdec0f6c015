//! How long changes are collected before they are applied.

use std::time::{Duration, Instant};

use transect::Cancel;

use crate::inbox::Inbox;

/// The shortest and the longest time for which changes are collected while they continue.
const MIN_PAUSE: Duration = Duration::from_millis(1);
const MAX_PAUSE: Duration = Duration::from_millis(50);

/// Waits for changes: for a single one only until it is there, and longer and longer while they continue.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Zero unless the waits before were short.
    pause: Duration,
}

impl Pace {
    /// Waits until something may have changed, and while changes continue, for a pause. Returns false if `end` is cancelled
    /// and the inbox is [woken](Inbox::wake).
    pub(crate) fn wait(&mut self, inbox: &Inbox, end: &Cancel) -> bool {
        let called = Instant::now();
        if !inbox.wait(end, called + self.pause) {
            return false;
        }
        let continues = called.elapsed() < 2 * self.pause.max(MIN_PAUSE);
        self.pause = match continues {
            true => (2 * self.pause).clamp(MIN_PAUSE, MAX_PAUSE),
            false => Duration::ZERO,
        };
        true
    }
}
