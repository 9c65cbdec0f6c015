//! Ctrl-C: the first stops the walk and shows what there is, the second ends the program at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use transect::Cancel;

/// The exit code of a program that was interrupted, as shells count: 128 and the signal's number.
pub(crate) const INTERRUPTED: u8 = 130;

/// Returns a request to stop that Ctrl-C makes; on Unix also `SIGTERM`, on Windows Ctrl-Break.
///
/// # Errors
/// The system does not let signals be handled.
pub(crate) fn cancel_on_signal() -> io::Result<Cancel> {
    let stop = Arc::new(AtomicBool::new(false));
    set_on_signal(&stop)?;
    Ok(Cancel::from(stop))
}

#[cfg(unix)]
fn set_on_signal(stop: &Arc<AtomicBool>) -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;

    for signal in [SIGINT, SIGTERM] {
        // In this order: the second signal finds the flag that the first one set.
        flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(stop))?;
        flag::register(signal, Arc::clone(stop))?;
    }
    Ok(())
}

#[cfg(windows)]
fn set_on_signal(stop: &Arc<AtomicBool>) -> io::Result<()> {
    use std::sync::atomic::Ordering;

    let stop = Arc::clone(stop);
    #[expect(clippy::exit, reason = "the second Ctrl-C waits for nobody")]
    let handler = move || {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    };
    ctrlc::set_handler(handler).map_err(io::Error::other)
}

#[cfg(not(any(unix, windows)))]
fn set_on_signal(_: &Arc<AtomicBool>) -> io::Result<()> {
    Ok(())
}
