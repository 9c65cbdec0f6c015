//! How long a connection may stay open.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The time for a first complete request that carries the token, counted from the connection.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The time without a new request and without a byte of the response taken.
const PROGRESS_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a connection may stay open.
#[derive(Debug)]
pub(super) struct Deadline {
    /// The connection has sent a request that carries the token.
    trusted: Cell<bool>,
    /// `None` while the response is being made: that is not the client's delay.
    expires: Cell<Option<Instant>>,
}

impl Deadline {
    /// Returns the deadline with a connection that was accepted just now.
    pub(super) fn new() -> Self {
        let expires = Instant::now() + REQUEST_TIMEOUT;
        Self { trusted: Cell::new(false), expires: Cell::new(Some(expires)) }
    }

    /// Returns whether the connection has sent a request that carries the token.
    pub(super) fn is_trusted(&self) -> bool {
        self.trusted.get()
    }

    /// Returns whether the connection is to be closed.
    pub(super) fn has_expired(&self, now: Instant) -> bool {
        self.expires.get().is_some_and(|deadline| deadline <= now)
    }

    /// A request with the token has come; its response is being made.
    pub(super) fn begin_response(&self) {
        self.trusted.set(true);
        self.expires.set(None);
    }

    /// The response is ready to be sent.
    pub(super) fn finish_response(&self) {
        self.expires.set(Some(Instant::now() + PROGRESS_TIMEOUT));
    }

    /// The client has taken a part of a response. That of a refusal does not count: a stranger gets
    /// no time beyond the first deadline.
    pub(super) fn note_progress(&self) {
        if self.trusted.get() && self.expires.get().is_some() {
            self.finish_response();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadline_stranger_gets_no_time_beyond_the_first_deadline() {
        let deadline = Deadline::new();
        let end = Instant::now() + REQUEST_TIMEOUT;
        assert!(!deadline.is_trusted() && !deadline.has_expired(Instant::now()));
        deadline.note_progress();
        assert!(deadline.has_expired(end));
    }

    #[test]
    fn deadline_with_the_token_waits_for_the_response_then_for_progress() {
        let deadline = Deadline::new();
        deadline.begin_response();
        let far = Instant::now() + Duration::from_secs(100_000);
        assert!(deadline.is_trusted() && !deadline.has_expired(far), "a response is being made");
        deadline.finish_response();
        assert!(!deadline.has_expired(Instant::now()) && deadline.has_expired(far));
    }
}
