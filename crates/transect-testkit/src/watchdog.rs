//! Waiting in tests: for conditions, not for fixed times. The only time limit is so long that only
//! a hang exceeds it, even on a slow and busy machine.

use std::fmt::Display;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// After this time a test counts as hanging.
pub const WATCHDOG: Duration = Duration::from_secs(20 * 60);

/// The time between the first two checks, and the longest one between later ones.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// Runs `body` on its own thread and returns its value; propagates a panic.
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
        // A panic drops the sender; joining returns the panic.
        Ok(()) | Err(RecvTimeoutError::Disconnected) => {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }
    }
}

/// Waits until a condition holds.
///
/// # Panics
/// If the condition never holds.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}

/// Waits until `look` returns a value, and returns it.
///
/// # Panics
/// If `look` never returns a value.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    wait_for_ok(what, || look().ok_or("nothing"))
}

/// Waits until `look` succeeds, and returns its value.
///
/// # Panics
/// If `look` never succeeds; the message contains the last error.
#[track_caller]
pub fn wait_for_ok<T, E: Display>(what: &str, mut look: impl FnMut() -> Result<T, E>) -> T {
    let (began, mut pause) = (Instant::now(), FIRST_PAUSE);
    loop {
        match look() {
            Ok(found) => return found,
            Err(instead) => assert!(began.elapsed() < WATCHDOG, "never {what}, but {instead}"),
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
