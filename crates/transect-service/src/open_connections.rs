//! The open connections, and which of them is closed to make room for another.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::transport::Stream;

/// How long a client may leave a frame unfinished, or an answer unread, when another client needs
/// the place.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);

/// Stands for no time.
const NEVER: u64 = u64::MAX;

/// A connection as all threads see it.
#[derive(Debug)]
pub(crate) struct OpenConnection {
    pub(crate) stream: Stream,
    began: Instant,
    /// A whole request has arrived.
    has_asked: AtomicBool,
    /// Milliseconds after `began` when the service began to wait for the rest of a frame, or for
    /// room for an answer; or [`NEVER`]. Between two requests the service does not wait.
    waiting_since: AtomicU64,
}

impl OpenConnection {
    fn new(stream: Stream) -> Self {
        let (has_asked, waiting_since) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { stream, began: Instant::now(), has_asked, waiting_since }
    }

    /// Sends bytes to the client, and waits until it has room for them.
    pub(crate) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        self.begin_wait();
        (&self.stream).write_all(bytes)?;
        self.end_wait();
        Ok(())
    }

    /// Begins to wait for this client, unless the service waits already.
    pub(crate) fn begin_wait(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(NEVER - 1);
        let _ =
            self.waiting_since.compare_exchange(NEVER, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The client has sent a whole request, or received a whole answer.
    pub(crate) fn end_wait(&self) {
        self.has_asked.store(true, Ordering::Relaxed);
        self.waiting_since.store(NEVER, Ordering::Relaxed);
    }

    /// Returns whether a whole request has arrived.
    fn has_asked(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }

    /// Returns since when the service has waited for the client, if another client may take its
    /// place: at once if no request has arrived, otherwise after [`CLIENT_TIMEOUT`].
    fn replaceable_since(&self, now: Instant) -> Option<Instant> {
        let since = self.waiting_since.load(Ordering::Relaxed);
        let since = (since != NEVER).then(|| self.began + Duration::from_millis(since))?;
        let timeout = if self.has_asked() { CLIENT_TIMEOUT } else { Duration::ZERO };
        (since + timeout <= now).then_some(since)
    }
}

/// The open connections by number.
#[derive(Debug, Default)]
pub(crate) struct OpenConnections(Mutex<HashMap<u64, Arc<OpenConnection>>>);

impl OpenConnections {
    pub(crate) fn len(&self) -> usize {
        self.all().len()
    }

    pub(crate) fn add(&self, number: u64, stream: Stream) -> Arc<OpenConnection> {
        let open = Arc::new(OpenConnection::new(stream));
        self.all().insert(number, Arc::clone(&open));
        open
    }

    pub(crate) fn remove(&self, number: u64) {
        self.all().remove(&number);
    }

    /// Closes the connection that has kept the service waiting longest, those without a request
    /// first. Returns false if there is none.
    pub(crate) fn close_one(&self) -> bool {
        let now = Instant::now();
        let mut all = self.all();
        let replaceable = all.iter().filter_map(|(&number, open)| {
            open.replaceable_since(now).map(|since| (open.has_asked(), since, number))
        });
        let Some((_, _, number)) = replaceable.min() else { return false };
        // Its thread reads the end of the stream, and ends.
        let Some(open) = all.remove(&number) else { return false };
        open.stream.close();
        true
    }

    pub(crate) fn close_all(&self) {
        self.all().values().for_each(|open| open.stream.close());
    }

    fn all(&self) -> MutexGuard<'_, HashMap<u64, Arc<OpenConnection>>> {
        self.0.lock().expect("BUG: a thread panicked while it counted connections")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::pair;

    #[test]
    fn connection_without_request_replaceable_at_once_others_after_timeout() {
        let (one, _other) = pair();
        let open = OpenConnection::new(one);
        let now = || Instant::now() + Duration::from_millis(1);
        assert!(open.replaceable_since(now()).is_some());
        open.end_wait();
        assert_eq!(
            open.replaceable_since(now() + 2 * CLIENT_TIMEOUT),
            None,
            "between two requests"
        );
        open.begin_wait();
        let began = open.waiting_since.load(Ordering::Relaxed);
        assert_eq!(open.replaceable_since(open.began), None);
        open.begin_wait();
        assert_eq!(open.waiting_since.load(Ordering::Relaxed), began, "the first time counts");
        assert!(open.replaceable_since(now() + CLIENT_TIMEOUT).is_some());
    }

    #[test]
    fn open_connections_longest_waiting_closed_first() {
        let connections = OpenConnections::default();
        let mut others = Vec::new();
        let mut add = |number| {
            let (one, other) = pair();
            others.push(other);
            std::thread::sleep(Duration::from_millis(2));
            connections.add(number, one)
        };
        let idle = add(1);
        idle.end_wait();
        let (_two, _three) = (add(2), add(3));
        assert!(connections.close_one() && connections.close_one() && !connections.close_one());
        assert!(connections.all().contains_key(&1) && connections.len() == 1);
    }
}
