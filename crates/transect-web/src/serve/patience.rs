//! How long a connection may stay open.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The time for a first complete request that carries the token, counted from the connection.
const FOR_A_REQUEST: Duration = Duration::from_secs(10);

/// The time without a new request and without a byte of the response taken.
const FOR_PROGRESS: Duration = Duration::from_secs(60);

/// How long a connection may stay open.
#[derive(Debug)]
pub(super) struct Patience {
    /// The connection has sent a request that carries the token.
    trusted: Cell<bool>,
    /// `None` while the response is being made: that is not the client's delay.
    deadline: Cell<Option<Instant>>,
}

impl Patience {
    /// Returns the patience with a connection that was accepted just now.
    pub(super) fn new() -> Self {
        let deadline = Instant::now() + FOR_A_REQUEST;
        Self { trusted: Cell::new(false), deadline: Cell::new(Some(deadline)) }
    }

    /// Returns whether the connection has sent a request that carries the token.
    pub(super) fn is_trusted(&self) -> bool {
        self.trusted.get()
    }

    /// Returns whether the connection is to be closed.
    pub(super) fn has_ended(&self, now: Instant) -> bool {
        self.deadline.get().is_some_and(|deadline| deadline <= now)
    }

    /// A request with the token has come; its response is being made.
    pub(super) fn begin_response(&self) {
        self.trusted.set(true);
        self.deadline.set(None);
    }

    /// The response is ready to be sent.
    pub(super) fn finish_response(&self) {
        self.deadline.set(Some(Instant::now() + FOR_PROGRESS));
    }

    /// The client has taken a part of a response. That of a refusal does not count: a stranger gets
    /// no time beyond the first deadline.
    pub(super) fn note_progress(&self) {
        if self.trusted.get() && self.deadline.get().is_some() {
            self.finish_response();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_stranger_gets_no_time_beyond_the_first_deadline() {
        let patience = Patience::new();
        let end = Instant::now() + FOR_A_REQUEST;
        assert!(!patience.is_trusted() && !patience.has_ended(Instant::now()));
        patience.note_progress();
        assert!(patience.has_ended(end));
    }

    #[test]
    fn patience_with_the_token_waits_for_the_response_then_for_progress() {
        let patience = Patience::new();
        patience.begin_response();
        let far = Instant::now() + Duration::from_secs(100_000);
        assert!(patience.is_trusted() && !patience.has_ended(far), "a response is being made");
        patience.finish_response();
        assert!(!patience.has_ended(Instant::now()) && patience.has_ended(far));
    }
}
