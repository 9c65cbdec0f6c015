//! A test that may hang ends all the same.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Runs `body` on a thread of its own and returns its value; a panic in it goes on here.
///
/// The time is not a measurement: it is so long that only what hangs exceeds it.
///
/// # Panics
/// If `body` does not end in time. Its thread is left behind.
pub fn within<T: Send + 'static>(
    seconds: u64,
    what: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (send, receive) = channel();
    let thread = std::thread::spawn(move || {
        let value = body();
        let _ = send.send(());
        value
    });
    match receive.recv_timeout(Duration::from_secs(seconds)) {
        Err(RecvTimeoutError::Timeout) => panic!("{what} hangs: no end after {seconds} s"),
        // A panic drops the sender; joining says which.
        Ok(()) | Err(RecvTimeoutError::Disconnected) => {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }
    }
}
