//! Opens snapshots for all commands, and prints a hint about those without checksums.

use std::path::Path;

use transect_snapshot::{ReadError, Snapshot};

use crate::output;

/// Opens a snapshot that the user named.
pub(crate) fn open(path: &Path) -> Result<Snapshot, ReadError> {
    open_as(path, path, "is unverified")
}

/// Opens a snapshot in the directory of a series, which is what the hint names.
pub(crate) fn open_kept(path: &Path) -> Result<Snapshot, ReadError> {
    open_as(path, path.parent().unwrap_or(path), "has unverified snapshots")
}

fn open_as(path: &Path, named: &Path, what: &str) -> Result<Snapshot, ReadError> {
    let snapshot = Snapshot::open(path)?;
    if snapshot.metadata().unverified {
        let named = named.display();
        output::hint_once(&format!(
            "'{named}' {what}: files of earlier versions have no checksums"
        ));
    }
    Ok(snapshot)
}
