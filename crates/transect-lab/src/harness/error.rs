//! Messages of errors that prevent or end a session. Callers only print them.

use std::io;
use std::path::Path;

use crate::harness::cache_state::State;

/// Returns a function that adds an operation, such as `create file`, and its path to an error of the system.
pub fn cannot(operation: &str, path: &Path) -> impl FnOnce(io::Error) -> String {
    move |error| format!("cannot {operation} '{}': {}", path.display(), transect::reason(&error))
}

/// Returns a function that adds the state of the caches that could not be made to an error of the system.
pub(crate) fn cannot_make(state: State) -> impl FnOnce(io::Error) -> String {
    move |error| format!("cannot make caches {}: {}", state.as_str(), transect::reason(&error))
}
