//! The objects that `--json` prints. Keys are the words of the glossary, sizes are bytes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Serialize, Serializer};
use transect::internal::{Order, StatOrder, WalkProfile, WalkSettings};
use transect::{Diagnostics, LargestEntry, Outcome, ReaderKind, ScanError, Totals};
use transect_program::json::PathKey;
pub(crate) use transect_program::json::{PathEntry, hex, line, write};
use transect_remove::KeptEntry;
use transect_sys::DiskSpace;
pub(crate) use transect_text::json_object as object;

use super::not_found::NotFound;
use super::summary::Shown;

pub(crate) fn scan<'a>(
    roots: &'a [PathBuf],
    outcome: &'a Outcome<Totals>,
    shown: &'a Shown,
    list_errors: bool,
) -> impl Serialize {
    let totals = &outcome.sink;
    let diagnostics = &totals.diagnostics;
    let streams = outcome.alternate_streams.map(|streams| {
        object! {
            count: streams.count,
            apparent_size: streams.apparent,
            allocated_size: streams.allocated,
        }
    });
    let directory = |of: &'a LargestEntry| {
        object! {
            ..file: largest(of),
            directories_allocated_size: of.sizes.directories_allocated,
            complete: of.errors == 0,
        }
    };
    object! {
        schema: "transect.scan/1",
        roots: roots.iter().map(|root| PathKey::from(root.as_path())).collect::<Vec<_>>(),
        complete: diagnostics.is_complete() && !outcome.interrupted,
        interrupted: outcome.interrupted,
        files: totals.files,
        directories: totals.directories,
        symlinks: totals.symlinks,
        others: totals.others,
        apparent_size: totals.sizes.apparent,
        allocated_size: totals.sizes.allocated,
        directories_apparent_size: totals.sizes.directories_apparent,
        directories_allocated_size: totals.sizes.directories_allocated,
        hard_links: totals.hard_links,
        alternate_streams?: streams,
        disk: transect::internal::disk_space_of(roots).map(disk),
        not_found: shown.not_found.as_ref().map(space_not_found),
        errors: diagnostics.errors,
        errors_by: errors_by([diagnostics]),
        vanished: diagnostics.vanished,
        skipped: skipped(diagnostics),
        elapsed_ns: u64::try_from(outcome.elapsed.as_nanos()).unwrap_or(u64::MAX),
        reader: outcome.reader.as_str(),
        reader_reason?: outcome.reader_reason.as_deref(),
        order: outcome.order.as_str(),
        threads: outcome.threads,
        profile: shown.profile.as_ref().map(profile_used),
        inherited: &shown.inherited,
        largest_directories: totals.largest_directories().iter().map(directory).collect::<Vec<_>>(),
        largest_files: totals.largest_files().iter().map(largest).collect::<Vec<_>>(),
        error_list?: list_errors.then(|| error_list(&diagnostics.kept_errors)),
    }
}

pub(crate) fn disk(disk: DiskSpace) -> impl Serialize {
    object! { size: disk.size, free: disk.free, available: disk.available }
}

/// Returns the space in use that a scan of the whole file system did not find.
fn space_not_found(found: &NotFound) -> impl Serialize {
    let covered = found.covered.iter().map(|it| {
        object! { ..path: PathEntry::from(it.path.as_path()), size: it.size }
    });
    object! {
        size: found.size,
        deleted_files: object! {
            files: found.deleted.files,
            size: found.deleted.size,
            unreadable_processes: found.deleted.unreadable_processes,
        },
        covered_directories: covered.collect::<Vec<_>>(),
        mounted_directory: found.mounted_directory.as_deref().map(PathKey::from),
        reserved: found.reserved,
    }
}

/// Returns the profile that was used. A setting without a key has the default.
fn profile_used(profile: &WalkProfile) -> impl Serialize {
    let WalkSettings { reader, order, busy_threads, waiting_threads, buffer_size, stat_order } =
        profile.settings;
    object! {
        identity: &profile.identity,
        tuned: profile.tuned,
        settings: object! {
            reader?: reader.map(ReaderKind::as_str),
            order?: order.map(Order::as_str),
            busy_threads?: busy_threads,
            waiting_threads?: waiting_threads,
            buffer_size?: buffer_size,
            stat_order?: stat_order.map(StatOrder::as_str),
        },
    }
}

fn largest(entry: &LargestEntry) -> impl Serialize {
    object! {
        ..path: PathEntry::from(entry.path.as_path()),
        apparent_size: entry.sizes.apparent,
        allocated_size: entry.sizes.allocated,
    }
}

/// A path that is made for its object.
pub(crate) struct OwnedPath(pub(crate) PathBuf);

impl Serialize for OwnedPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        PathEntry::from(self.0.as_path()).serialize(serializer)
    }
}

pub(crate) fn error_list<'a>(
    errors: impl IntoIterator<Item = &'a ScanError>,
) -> Vec<impl Serialize> {
    let object = |error: &'a ScanError| {
        object! {
            operation: error.operation().as_str(),
            ..path: PathEntry::from(error.path()),
            kind: error.kind().as_str(),
            os_error: error.io_error().raw_os_error(),
        }
    };
    errors.into_iter().map(object).collect()
}

/// Returns what a removal kept.
pub(crate) fn kept_list<'a>(kept: &'a [KeptEntry]) -> Vec<impl Serialize> {
    let object = |kept: &'a KeptEntry| {
        object! {
            ..path: PathEntry::from(kept.path.as_path()),
            reason: kept.reason.as_str(),
            os_error: kept.error.as_ref().and_then(std::io::Error::raw_os_error),
        }
    };
    kept.iter().map(object).collect()
}

pub(crate) fn errors_by<'a>(
    diagnostics: impl IntoIterator<Item = &'a Diagnostics>,
) -> BTreeMap<&'static str, BTreeMap<&'static str, u64>> {
    let mut by: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for ((operation, kind), count) in diagnostics.into_iter().flat_map(|it| &it.errors_by) {
        *by.entry(operation.as_str()).or_default().entry(kind.as_str()).or_default() += count;
    }
    by
}

pub(crate) fn skipped(diagnostics: &Diagnostics) -> BTreeMap<&'static str, u64> {
    diagnostics.skipped.iter().map(|(reason, number)| (reason.as_str(), *number)).collect()
}
