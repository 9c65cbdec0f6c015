//! Deadlines of connections.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The time for a first complete request with the token.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The time without a new request and without progress of a response.
const PROGRESS_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Deadline {
    /// A request with the token has arrived.
    trusted: Cell<bool>,
    /// `None` while the response is prepared: the client is not to blame for that delay.
    expires: Cell<Option<Instant>>,
}

impl Deadline {
    /// Returns the deadline of a new connection.
    pub(super) fn new() -> Self {
        let expires = Instant::now() + REQUEST_TIMEOUT;
        Self { trusted: Cell::new(false), expires: Cell::new(Some(expires)) }
    }

    /// Returns whether a request with the token has arrived.
    pub(super) fn is_trusted(&self) -> bool {
        self.trusted.get()
    }

    /// Returns whether the connection must be closed.
    pub(super) fn has_expired(&self, now: Instant) -> bool {
        self.expires.get().is_some_and(|deadline| deadline <= now)
    }

    /// Suspends the deadline: a request with the token has arrived, and its response is being
    /// prepared.
    pub(super) fn begin_response(&self) {
        self.trusted.set(true);
        self.expires.set(None);
    }

    /// Restarts the deadline: the response is ready.
    pub(super) fn finish_response(&self) {
        self.expires.set(Some(Instant::now() + PROGRESS_TIMEOUT));
    }

    /// Extends the deadline after the client has received some bytes of a response. Rejections do not
    /// count, so a client without the token has only the first deadline.
    pub(super) fn note_progress(&self, bytes: usize) {
        if bytes > 0 && self.trusted.get() && self.expires.get().is_some() {
            self.finish_response();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadline_without_token_not_extended() {
        let deadline = Deadline::new();
        let end = Instant::now() + REQUEST_TIMEOUT;
        assert!(!deadline.is_trusted() && !deadline.has_expired(Instant::now()));
        deadline.note_progress(1);
        assert!(deadline.has_expired(end));
    }

    #[test]
    fn deadline_with_token_waits_for_response_then_progress() {
        let deadline = Deadline::new();
        deadline.begin_response();
        let far = Instant::now() + Duration::from_secs(100_000);
        assert!(deadline.is_trusted() && !deadline.has_expired(far), "a response is being made");
        deadline.finish_response();
        assert!(!deadline.has_expired(Instant::now()) && deadline.has_expired(far));
    }
}
