//! What commands ask the system about itself.

use std::path::{Path, PathBuf};

/// Returns the file of this program, which a session starts.
///
/// # Errors
/// The system does not report it, as without `/proc`.
pub(super) fn own_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| {
        format!("cannot find the executable of transect-lab: {}", transect::reason(&error))
    })
}

/// Returns what identifies the file system of a path, for its profile.
pub(super) fn identity_of(path: &Path) -> Result<String, String> {
    let unknown = || format!("the file system of '{}' has no identifier", path.display());
    transect_sys::host::file_system_identity(path).ok_or_else(unknown)
}
