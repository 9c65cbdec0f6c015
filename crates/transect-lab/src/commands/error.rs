//! Errors of `transect lab`.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use transect_program::exit::CliError;
use transect_text::quote;

pub(super) fn lab(error: impl Display) -> CliError {
    CliError::Failed(error.to_string())
}

/// Returns the file of this program, which a session starts.
///
/// # Errors
/// The system does not report it, as without `/proc`.
pub(super) fn own_program() -> Result<PathBuf, CliError> {
    std::env::current_exe().map_err(|error| {
        CliError::Failed(format!(
            "cannot find the executable of transect-lab: {}",
            transect::reason(&error)
        ))
    })
}

/// Returns what identifies the file system of a path, for its profile.
pub(super) fn identity_of(path: &Path) -> Result<String, CliError> {
    transect_sys::host::file_system_identity(path).ok_or_else(|| {
        let path = path.display();
        CliError::Failed(format!("the file system of '{path}' has no identifier"))
    })
}

/// Returns a function that adds an operation and a path to an error.
pub(super) fn cannot<'p>(
    operation: &'p str,
    path: &'p Path,
) -> impl FnOnce(io::Error) -> CliError + use<'p> {
    move |error| {
        let (path, reason) = (quote::for_terminal(path.as_os_str()), transect::reason(&error));
        CliError::Failed(format!("cannot {operation} '{path}': {reason}"))
    }
}
