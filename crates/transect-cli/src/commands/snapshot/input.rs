//! Snapshots where other commands take a path.

use std::path::Path;

use transect::FieldMask;
use transect::table::Table;
use transect_snapshot::{ReadError, Snapshot};

use crate::args::WalkArgs;
use crate::exit::CliError;

/// A tree that was stored.
pub(crate) struct StoredTree {
    pub(crate) table: Table,
    /// When it was read, in nanoseconds since 1970 UTC.
    #[cfg_attr(not(feature = "map"), expect(dead_code, reason = "only the map shows it"))]
    pub(crate) read_at: Option<i64>,
    /// Reading was stopped.
    pub(crate) interrupted: bool,
}

/// Returns the snapshot that is the only path of the arguments; `None` if they name something else.
///
/// # Errors
/// The snapshot cannot be read, or options are given that apply only to directories.
pub(crate) fn stored_tree(
    walk: &WalkArgs,
    fields: FieldMask,
) -> Result<Option<StoredTree>, CliError> {
    let [path] = walk.paths.as_slice() else { return Ok(None) };
    let Some(snapshot) = open(path)? else { return Ok(None) };
    if !walk.filter.is_default() {
        let path = path.display();
        return Err(CliError::Usage(format!(
            "'{path}' is a snapshot; filters apply only to directories: give them when it is stored"
        )));
    }
    let table = snapshot.table(fields).map_err(|error| cannot_read(path, &error))?;
    let metadata = snapshot.metadata();
    Ok(Some(StoredTree { table, read_at: metadata.ended, interrupted: metadata.interrupted }))
}

/// Opens a snapshot; returns `None` for any other file.
///
/// # Errors
/// The snapshot is damaged, or of a later version.
pub(crate) fn open(path: &Path) -> Result<Option<Snapshot>, CliError> {
    if !Snapshot::is_likely(path) {
        return Ok(None);
    }
    match Snapshot::open(path) {
        Ok(snapshot) => Ok(Some(snapshot)),
        // Another Parquet file is a file like any other.
        Err(ReadError::NotSnapshot(_)) => Ok(None),
        Err(error) => Err(cannot_read(path, &error)),
    }
}

pub(crate) fn cannot_read(path: &Path, error: &ReadError) -> CliError {
    CliError::Usage(format!("cannot read '{}': {error}", path.display()))
}
