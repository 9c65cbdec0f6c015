//! Long work without the interpreter lock, which Ctrl-C stops.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use transect::Cancel;

/// The time until the first look for signals, and the longest time between two of them.
const FIRST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(50);

/// Runs `job` on a thread of its own while this one waits without the interpreter lock, and calls
/// `tick` from time to time, with it.
///
/// # Errors
/// What a signal handler or `tick` raised, after the job has stopped; `RuntimeError` if no thread can be
/// started.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
    job: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (sender, mut receiver) = sync_channel(1);
        // Fails only if the receiver is gone, with nothing left to do.
        let spawned = Builder::new().spawn_scoped(scope, move || drop(sender.send(job())));
        let thread = spawned.map_err(|error| {
            PyRuntimeError::new_err(format!("cannot start a thread: {}", transect::reason(&error)))
        })?;
        let mut wait = FIRST;
        loop {
            let receiver = &mut receiver;
            match py.detach(move || receiver.recv_timeout(wait)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // The job panicked. PyO3 makes it a `PanicException`.
                    if let Err(panic) = py.detach(|| thread.join()) {
                        std::panic::resume_unwind(panic);
                    }
                    return Err(PyRuntimeError::new_err("BUG: a job without a result"));
                }
            }
            wait = LONGEST.min(wait * 2);
            if let Err(error) = py.check_signals().and_then(|()| tick(py)) {
                cancel.cancel();
                let _ = py.detach(|| thread.join());
                return Err(error);
            }
        }
    })
}
