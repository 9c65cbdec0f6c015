//! Tables of followed trees, stored as snapshots: a service that starts again follows from them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use transect::{Cancel, FieldMask};
use transect_live::{COLUMNS, Cursor, LiveTree, SharedTree};
use transect_snapshot::{Metadata, ReadError, Snapshot};
use transect_sys::dir_handle::DirHandle;
use transect_sys::host::{file_system_identity, host_name, now};
use transect_sys::private_dir::{self, OtherUsers};
use transect_transform::publish::{is_temporary, put_private_with, remove_abandoned};

/// Follows a tree from its stored table. Returns `None` if none is stored.
///
/// # Errors
/// The file cannot be read, or is of another tree: the reason.
pub(crate) fn resume(
    file: &Path,
    root: &Path,
    end: &Cancel,
) -> Result<Option<(LiveTree, Option<Cursor>)>, String> {
    let cannot = |why: &dyn std::fmt::Display| format!("cannot use '{}': {why}", file.display());
    let is_private = |folder| private_dir::exists(folder, OtherUsers::NoAccess);
    file.parent().map_or(Ok(true), is_private).map_err(|error| transect::reason(&error))?;
    let snapshot = match Snapshot::open(file) {
        Ok(snapshot) => snapshot,
        Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot(&error)),
    };
    let metadata = snapshot.metadata();
    let stored = current_at(metadata, root).map_err(|why| cannot(&why))?;
    let cursor = metadata.cursor.as_ref().and_then(|cursor| cursor.parse().ok());
    let table = snapshot.table(COLUMNS).map_err(|error| cannot(&error))?;
    let live = LiveTree::resume(root, Arc::new(table), UNIX_EPOCH + stored, end);
    match live.map_err(|error| error.to_string())? {
        Some(live) => Ok(Some((live, cursor))),
        None => Err(cannot(&"the root is another directory by now")),
    }
}

/// Returns when the table of a snapshot of this root was current, since 1970 UTC.
///
/// # Errors
/// The snapshot cannot prove what did not change since: the reason.
fn current_at(metadata: &Metadata, root: &Path) -> Result<Duration, &'static str> {
    let needed = COLUMNS | FieldMask::NLINK;
    if !metadata.fields().contains(needed) {
        return Err("its fields are not sufficient");
    }
    if !metadata.scope.is_some_and(|scope| !scope.filtered && !scope.follow) {
        return Err("`transect live` did not store it");
    }
    let identity = file_system_identity(root);
    let is_there = metadata.file_systems.iter().any(|it| Some(&it.identity) == identity.as_ref());
    if metadata.host != host_name() || !is_there {
        return Err("the tree was on another machine or file system");
    }
    let stored = metadata.started.filter(|&stored| stored <= now());
    let stored = stored.and_then(|stored| u64::try_from(stored).ok());
    stored.map(Duration::from_nanos).ok_or("the clock was set back")
}

/// Returns the files of processes that were killed, or that are storing.
fn temporary_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    // Whatever the reason is why it cannot be listed: files that are left do no harm.
    let _ = DirHandle::open(folder).and_then(|opened| {
        opened
            .for_each_name(&mut |name| files.extend(is_temporary(name).then(|| folder.join(name))))
    });
    files
}

/// Stores the table of a tree in a file of its own.
#[derive(Debug)]
pub(crate) struct Storing<'t> {
    pub(crate) tree: &'t SharedTree,
    pub(crate) file: PathBuf,
    /// The cursor of what the file has.
    pub(crate) last: Option<Cursor>,
}

impl Storing<'_> {
    /// Stores what changed since the last time. The file has its old content until all of the new one is written.
    ///
    /// # Errors
    /// The table cannot be stored: the reason.
    pub(crate) fn store(&mut self) -> Result<(), String> {
        let started = now();
        let storable = self.tree.storable().map_err(|error| error.to_string())?;
        let Some((table, cursor)) = storable.filter(|&(_, cursor)| self.last != Some(cursor))
        else {
            return Ok(());
        };
        let mut metadata = Metadata::of_followed(&table, started, cursor.to_string());
        (metadata.host, metadata.ended) = (host_name(), Some(now()));
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        private_dir::create_all(folder, OtherUsers::NoAccess)
            .map_err(|error| transect::reason(&error))?;
        if self.last.is_none() {
            remove_abandoned(&temporary_files(folder));
        }
        let written = put_private_with(&self.file, |out| {
            transect_snapshot::write(&table, &metadata, &Cancel::new(), out).map(drop)
        });
        written.map_err(|error| error.to_string())?;
        self.last = Some(cursor);
        Ok(())
    }
}
