//! `--digests`: digests kept in a file.

use std::io;
use std::path::Path;

use transect_duplicates::{DigestStore, DigestStoreError};
use transect_sys::check_output_path;
use transect_sys::file::attributes_at;
use transect_sys::host::now;
use transect_sys::input::open_regular;

use super::found::Found;
use crate::output;
use transect_program::CliError;

/// Reads the digests of the last run, before the walk begins; none if the file is missing.
pub(super) fn read(path: &Path) -> Result<DigestStore, CliError> {
    let walk_began = now();
    if path.as_os_str() == "-" {
        return Err(CliError::failed("--digests needs a file, not '-'"));
    }
    if !cfg!(target_os = "linux") {
        return Err(CliError::failed("--digests is not supported on this system yet"));
    }
    // It is replaced in the end: what can be seen now is an error before hours of reading.
    check_output_path(path).map_err(CliError::cannot("write", path))?;
    let read = match open_regular(path) {
        Ok(file) => DigestStore::read(file, walk_began),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let above = path.parent().filter(|above| !above.as_os_str().is_empty());
            let there = attributes_at(above.unwrap_or(Path::new(".")));
            let _ = there.map_err(CliError::cannot("write", path))?;
            return Ok(DigestStore::new(walk_began));
        }
        Err(error) => Err(DigestStoreError::Read(error)),
    };
    read.map_err(|error| {
        let what = match error {
            DigestStoreError::Read(_) => "",
            _ => "; remove it, or use another name",
        };
        CliError::Failed(format!("cannot read digests from '{}': {error}{what}", path.display()))
    })
}

/// Writes the digests of a run. Returns whether they are stored; prints an error if they are not.
pub(super) fn write(path: &Path, found: &Found) -> bool {
    for top in &found.duplicates.unproven {
        let top = top.display();
        output::note(&format!(
            "files on the file system of '{top}' are always read: it does not prove that a file is unchanged"
        ));
    }
    let Some(digests) = &found.duplicates.digests else { return true };
    // A file that has them already is not written and synced again.
    if !digests.is_empty() && found.known.as_deref() == Some(digests) {
        return true;
    }
    let written = output::file::write(path, |out| digests.write(out));
    written.inspect_err(output::error).is_ok()
}
