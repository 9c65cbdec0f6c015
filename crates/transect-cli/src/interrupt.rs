//! Ctrl-C: the first stops the walk and shows what there is, the second ends the program at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use transect::Cancel;

/// Returns a request to stop that Ctrl-C and `SIGTERM` make.
///
/// # Errors
/// The system does not let signals be handled.
pub(crate) fn cancel_on_signal() -> io::Result<Cancel> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the second signal finds the flag that the first one set.
        flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(Cancel::from(stop))
}
