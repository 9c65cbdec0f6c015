//! Waiting in tests: for a condition, never for a time. The one limit is so long that only what
//! hangs exceeds it, on a slow and busy machine, too.

use std::fmt::Display;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Whatever has not happened by then never will.
pub const WATCHDOG: Duration = Duration::from_secs(20 * 60);

/// How long to sleep between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// Runs `body` on a thread of its own and returns its value; a panic in it goes on here.
///
/// # Panics
/// If `body` hangs. Its thread is left behind.
pub fn within<T: Send + 'static>(what: &str, body: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = channel();
    let thread = std::thread::spawn(move || {
        let value = body();
        let _ = send.send(());
        value
    });
    match receive.recv_timeout(WATCHDOG) {
        Err(RecvTimeoutError::Timeout) => panic!("{what} hangs: no end after {WATCHDOG:?}"),
        // A panic drops the sender; joining says which.
        Ok(()) | Err(RecvTimeoutError::Disconnected) => {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }
    }
}

/// Waits until a condition holds.
///
/// # Panics
/// If it never does.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}

/// Waits until there is something, and returns it.
///
/// # Panics
/// If there never is.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    wait_for_ok(what, || look().ok_or("nothing"))
}

/// Waits until a look succeeds, and returns what it found.
///
/// # Panics
/// If it never does: with what it found instead.
#[track_caller]
pub fn wait_for_ok<T, E: Display>(what: &str, mut look: impl FnMut() -> Result<T, E>) -> T {
    let began = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(instead) => assert!(began.elapsed() < WATCHDOG, "never {what}, but {instead}"),
        }
        std::thread::sleep(PAUSE);
    }
}
