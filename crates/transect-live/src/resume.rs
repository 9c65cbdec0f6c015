//! Follows a tree again that was followed before: with the table of then, instead of a walk.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use transect::table::{DirectoryId, Table};
use transect::{Cancel, FileId};
use transect_sys::dir_handle::DirHandle;
use transect_sys::watch::{WatchId, Watcher};

use crate::mirror::names_above;
use crate::places::Places;

/// The number of directories that a thread takes at a time.
const BATCH: usize = 256;

/// The maximum number of threads that watch.
const MAX_THREADS: usize = 8;

/// A directory that is where the table has it.
struct Found {
    directory: DirectoryId,
    watch: WatchId,
    /// Its ctime after it was watched.
    ctime: Option<i64>,
}

/// Watches the directories of a table that are where it has them, below the open root. Returns their places, and of which
/// directories it is proved that they have the same names as in the table, which was current at `stored`.
pub(crate) fn watch_again(
    table: &Table,
    top: &DirHandle,
    watcher: &Watcher,
    stored: SystemTime,
    end: &Cancel,
) -> (Places, Vec<DirectoryId>) {
    let mut places = Places::with_room(table);
    let mut directories: Vec<(DirectoryId, FileId)> = Vec::new();
    for row in table.iter() {
        if let Some(directory) = table.directory_id(row)
            && let attributes = table.attributes(row)
            && let Some(id) = attributes.file_id()
        {
            places.insert(directory, id, None);
            if table.unread_reason(row).is_none() {
                places.list(directory, attributes.ctime(), stored);
                directories.push((directory, id));
            }
        }
    }
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(directories.len())));
    let work = || {
        while !end.is_cancelled() {
            let from = next.fetch_add(BATCH, Ordering::Relaxed);
            let Some(rest) = directories.get(from..).filter(|rest| !rest.is_empty()) else { break };
            let batch = &rest[..rest.len().min(BATCH)];
            let found = batch.iter().filter_map(|&(id, file)| find(table, top, watcher, id, file));
            let mut found: Vec<Found> = found.collect();
            all.lock().expect("BUG: a thread panicked while it watched").append(&mut found);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    std::thread::scope(|scope| {
        for _ in 1..threads.min(MAX_THREADS) {
            // Without them, this thread does all.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let all = all.into_inner().expect("BUG: a thread panicked while it watched");
    let mut proved = Vec::new();
    for Found { directory, watch, ctime } in all {
        places.set_watch(directory, watch);
        if places.is_proved(directory, ctime) {
            proved.push(directory);
        }
    }
    (places, proved)
}

/// Watches a directory, if it is where the table has it.
fn find(
    table: &Table,
    top: &DirHandle,
    watcher: &Watcher,
    directory: DirectoryId,
    id: FileId,
) -> Option<Found> {
    let handle = top.open_below(&names_above(table, directory)?).ok()?;
    if handle.attributes().ok()?.file_id() != Some(id) {
        return None;
    }
    let watch = handle.watch(watcher).ok()?;
    // Of what changes from now on, there are notifications.
    let ctime = handle.attributes().ok()?.ctime();
    Some(Found { directory, watch, ctime })
}
