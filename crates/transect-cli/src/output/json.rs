//! The objects that `--json` prints. Keys are the words of the glossary, sizes are bytes.

use std::collections::BTreeMap;

use serde::Serialize;
use transect::internal::{Order, StatOrder, WalkProfile, WalkSettings};
use transect::{
    AlternateStreams, Diagnostics, LargestEntry, Outcome, ReaderKind, ScanError, Totals,
};
use transect_program::json::PathKey;
pub(crate) use transect_program::json::{PathEntry, hex, line, write};
use transect_sys::DiskSpace;

use super::inherited::InheritedObject;
use super::not_found::{Deleted, NotFound};

/// The object of `scan --json`.
#[derive(Serialize)]
pub(crate) struct Scan<'a> {
    schema: &'static str,
    roots: Vec<PathKey<'a>>,
    complete: bool,
    interrupted: bool,
    files: u64,
    directories: u64,
    symlinks: u64,
    others: u64,
    apparent_size: u64,
    allocated_size: u64,
    directories_apparent_size: u64,
    directories_allocated_size: u64,
    hard_links: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    alternate_streams: Option<StreamsObject>,
    disk: Option<DiskObject>,
    not_found: Option<NotFoundObject<'a>>,
    errors: u64,
    errors_by: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    vanished: u64,
    skipped: BTreeMap<&'static str, u64>,
    elapsed_ns: u64,
    reader: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reader_reason: Option<&'a str>,
    order: &'static str,
    threads: usize,
    profile: Option<ProfileUsed<'a>>,
    inherited: Option<&'a InheritedObject>,
    largest_directories: Vec<LargestObject<'a>>,
    largest_files: Vec<LargestObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_list: Option<Vec<ErrorEntry<'a>>>,
}

/// Alternate streams of NTFS.
#[derive(Serialize)]
struct StreamsObject {
    count: u64,
    apparent_size: u64,
    allocated_size: u64,
}

impl From<AlternateStreams> for StreamsObject {
    fn from(streams: AlternateStreams) -> Self {
        let AlternateStreams { count, apparent, allocated, .. } = streams;
        Self { count, apparent_size: apparent, allocated_size: allocated }
    }
}

/// The space of a file system.
#[derive(Serialize)]
pub(crate) struct DiskObject {
    size: u64,
    free: u64,
    available: u64,
}

impl DiskObject {
    pub(crate) fn space(&self) -> DiskSpace {
        DiskSpace { size: self.size, free: self.free, available: self.available }
    }
}

impl From<DiskSpace> for DiskObject {
    fn from(disk: DiskSpace) -> Self {
        Self { size: disk.size, free: disk.free, available: disk.available }
    }
}

/// Space in use that a scan of the whole file system did not find.
#[derive(Serialize)]
struct NotFoundObject<'a> {
    size: u64,
    deleted_files: DeletedObject,
    covered_directories: Vec<CoveredObject<'a>>,
    mounted_directory: Option<PathKey<'a>>,
    reserved: u64,
}

/// Deleted files that are still open.
#[derive(Serialize)]
struct DeletedObject {
    files: u64,
    size: u64,
    unreadable_processes: u64,
}

/// A directory that something is mounted on.
#[derive(Serialize)]
struct CoveredObject<'a> {
    #[serde(flatten)]
    path: PathEntry<'a>,
    size: Option<u64>,
}

impl<'a> From<&'a NotFound> for NotFoundObject<'a> {
    fn from(found: &'a NotFound) -> Self {
        let Deleted { files, size, unreadable_processes, .. } = found.deleted;
        let covered = found.covered.iter();
        Self {
            size: found.size,
            deleted_files: DeletedObject { files, size, unreadable_processes },
            covered_directories: covered
                .map(|it| CoveredObject { path: it.path.as_path().into(), size: it.size })
                .collect(),
            mounted_directory: found.mounted_directory.as_deref().map(PathKey::from),
            reserved: found.reserved,
        }
    }
}

/// The profile that was used.
#[derive(Serialize)]
struct ProfileUsed<'a> {
    identity: &'a str,
    tuned: u64,
    settings: SettingsObject,
}

/// The settings of a walk. A missing key is the default.
#[derive(Serialize)]
struct SettingsObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    reader: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    busy_threads: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_threads: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    buffer_size: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stat_order: Option<&'static str>,
}

/// One of the largest entries.
#[derive(Serialize)]
struct LargestObject<'a> {
    #[serde(flatten)]
    path: PathEntry<'a>,
    apparent_size: u64,
    allocated_size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    directories_allocated_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
}

/// One error.
#[derive(Serialize)]
pub(crate) struct ErrorEntry<'a> {
    operation: &'static str,
    #[serde(flatten)]
    path: PathEntry<'a>,
    kind: &'static str,
    os_error: Option<i32>,
}

impl<'a> From<&'a ScanError> for ErrorEntry<'a> {
    fn from(error: &'a ScanError) -> Self {
        Self {
            operation: error.operation().as_str(),
            path: error.path().into(),
            kind: error.kind().as_str(),
            os_error: error.io_error().raw_os_error(),
        }
    }
}

impl<'a> ProfileUsed<'a> {
    fn of(profile: &'a WalkProfile) -> Self {
        let WalkProfile { identity, tuned, settings, .. } = profile;
        Self { identity, tuned: *tuned, settings: settings.into() }
    }
}

impl From<&WalkSettings> for SettingsObject {
    fn from(settings: &WalkSettings) -> Self {
        Self {
            reader: settings.reader.map(ReaderKind::as_str),
            order: settings.order.map(Order::as_str),
            busy_threads: settings.busy_threads,
            waiting_threads: settings.waiting_threads,
            buffer_size: settings.buffer_size,
            stat_order: settings.stat_order.map(StatOrder::as_str),
        }
    }
}

impl<'a> LargestObject<'a> {
    fn file(largest: &'a LargestEntry) -> Self {
        Self {
            path: largest.path.as_path().into(),
            apparent_size: largest.sizes.apparent,
            allocated_size: largest.sizes.allocated,
            directories_allocated_size: None,
            complete: None,
        }
    }

    fn directory(largest: &'a LargestEntry) -> Self {
        Self {
            directories_allocated_size: Some(largest.sizes.directories_allocated),
            complete: Some(largest.errors == 0),
            ..Self::file(largest)
        }
    }
}

impl<'a> Scan<'a> {
    pub(crate) fn new(
        roots: &'a [std::path::PathBuf],
        outcome: &'a Outcome<Totals>,
        profile: Option<&'a WalkProfile>,
        not_found: Option<&'a NotFound>,
        list_errors: bool,
    ) -> Self {
        let totals = &outcome.sink;
        let diagnostics = &totals.diagnostics;
        Self {
            schema: "transect.scan/1",
            roots: roots.iter().map(|root| root.as_path().into()).collect(),
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
            alternate_streams: outcome.alternate_streams.map(Into::into),
            disk: transect::internal::disk_space_of(roots).map(DiskObject::from),
            not_found: not_found.map(NotFoundObject::from),
            errors: diagnostics.errors,
            errors_by: errors_by([diagnostics]),
            vanished: diagnostics.vanished,
            skipped: diagnostics.skipped.iter().map(|(reason, n)| (reason.as_str(), *n)).collect(),
            elapsed_ns: u64::try_from(outcome.elapsed.as_nanos()).unwrap_or(u64::MAX),
            reader: outcome.reader.as_str(),
            reader_reason: outcome.reader_reason.as_deref(),
            order: outcome.order.as_str(),
            threads: outcome.threads,
            profile: profile.map(ProfileUsed::of),
            inherited: None,
            largest_directories: totals
                .largest_directories()
                .iter()
                .map(LargestObject::directory)
                .collect(),
            largest_files: totals.largest_files().iter().map(LargestObject::file).collect(),
            error_list: list_errors
                .then(|| diagnostics.kept_errors.iter().map(Into::into).collect()),
        }
    }

    /// Sets what the walk took from a snapshot.
    pub(crate) fn set_inherited(&mut self, inherited: Option<&'a InheritedObject>) {
        self.inherited = inherited;
    }
}

/// Returns the numbers of errors by operation and kind.
pub(crate) fn errors_by<'a>(
    diagnostics: impl IntoIterator<Item = &'a Diagnostics>,
) -> BTreeMap<&'static str, BTreeMap<&'static str, u64>> {
    let mut by: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for ((operation, kind), count) in diagnostics.into_iter().flat_map(|it| &it.errors_by) {
        *by.entry(operation.as_str()).or_default().entry(kind.as_str()).or_default() += count;
    }
    by
}
