//! What a snapshot says about itself: the key-value metadata of the file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use transect::table::Table;
use transect::{Diagnostics, FieldMask, Outcome};

use crate::attribute_columns::ATTRIBUTES;
use crate::part::Part;
use crate::schema::{COLUMNS, Column};
use crate::stored_error::{self, StoredError};

/// The key of the version of the format.
pub(crate) const VERSION_KEY: &str = "transect.schema_version";
/// The key of everything else, as JSON.
pub(crate) const METADATA_KEY: &str = "transect.metadata";

/// The circumstances of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Metadata {
    /// The version of the program that wrote it.
    pub tool_version: String,
    /// The roots, as paths; what is not UTF-8 is replaced.
    pub roots: Vec<String>,
    /// The name of the machine.
    pub host: Option<String>,
    /// The file systems of the roots, each once.
    pub file_systems: Vec<FileSystem>,
    /// The arguments of the command that wrote it.
    pub options: Vec<String>,
    /// Which entries the walk looked for; unknown in files of earlier versions of the program.
    pub scope: Option<Scope>,
    /// What was not queried, but taken from another snapshot.
    pub inherited: Option<Inherited>,
    /// When reading began, in nanoseconds since 1970 UTC.
    pub started: Option<i64>,
    /// When reading ended, in nanoseconds since 1970 UTC.
    pub ended: Option<i64>,
    /// The reader used.
    pub reader: Option<String>,
    /// Whether everything was read.
    pub complete: bool,
    /// Whether the walk was stopped early.
    pub interrupted: bool,
    /// The number of errors.
    pub errors: u64,
    /// Errors by operation and kind.
    pub errors_by: BTreeMap<String, BTreeMap<String, u64>>,
    /// The first errors by path: up to 1,000, with up to 1 MiB of text.
    #[serde(deserialize_with = "stored_error::deserialize")]
    pub error_list: Vec<StoredError>,
    /// Entries left out on purpose, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Entries deleted between listing and reading.
    pub vanished: u64,
    /// The attributes that are stored; the values of others are null.
    pub columns: Vec<String>,
    /// Of a snapshot of a series: its place there; unknown in those of earlier versions of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesPlace>,
    /// Of a tree that `transect live` followed: the cursor of its changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Of a part of a scan: its task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Of a snapshot that was read: whether its file has no checksums, because an earlier version of the program wrote it.
    /// Damage in it can change what is read without an error.
    #[serde(skip)]
    pub unverified: bool,
}

/// The place of a snapshot among those of its series. It does not depend on the time that the clock showed alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SeriesPlace {
    /// The number of the snapshot, in the order in which they were stored.
    pub number: i64,
    /// The nanoseconds from the first snapshot to this one: from each to the one stored after it the difference of their
    /// times, but at most a day, ahead or back. So one wrong time of the clock makes nothing older than a day.
    pub elapsed: i64,
}

impl SeriesPlace {
    /// Returns a place.
    pub fn new(number: i64, elapsed: i64) -> Self {
        Self { number, elapsed }
    }
}

/// Which entries a walk looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Scope {
    /// Only those on the file system of each root.
    pub one_file_system: bool,
    /// Also those of pseudo file systems.
    pub pseudo: bool,
    /// Also those below targets of symbolic links.
    pub follow: bool,
    /// Only those that match a filter.
    pub filtered: bool,
}

/// What a walk took from a snapshot instead of querying it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Inherited {
    /// What was queried of the entries of directories that did not change: `names` (nothing) or
    /// `attributes`.
    pub level: String,
    /// When the snapshot was taken, in nanoseconds since 1970 UTC.
    pub taken: i64,
    /// When inherited attributes were queried, at the earliest: the snapshot may have inherited them, too.
    pub oldest: i64,
    /// Directories that were not listed, because they did not change.
    pub directories: u64,
    /// Entries whose attributes were not queried.
    pub entries: u64,
    /// The generation of the file system since which it was asked what changed, instead of comparing times: what was
    /// inherited is current.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_generation: Option<u64>,
}

impl Inherited {
    /// Returns the number of entries whose attributes may be older than the walk.
    pub fn older_entries(&self) -> u64 {
        if self.since_generation.is_some() { 0 } else { self.entries }
    }
}

/// The file system of a root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct FileSystem {
    /// Its device number, which may change when the machine starts again.
    pub device: u64,
    /// Its identity, which does not.
    pub identity: String,
    /// Its generation when reading began: the file system knows what changed since then (Btrfs).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
}

impl FileSystem {
    /// Returns a file system.
    pub fn new(device: u64, identity: String) -> Self {
        Self { device, identity, generation: None }
    }
}

impl Metadata {
    /// Returns what a table and the outcome of its walk tell. What only the caller knows is empty: the
    /// machine, the options, the scope, the time when the walk began and ended.
    pub fn of_walk(table: &Table, outcome: &Outcome<()>) -> Self {
        let roots: Vec<PathBuf> = table.roots().map(|root| table.path(root)).collect();
        let names = roots.iter().map(|root| root.to_string_lossy().into_owned());
        let mut metadata = Self::of_table(table, names.collect());
        metadata.reader = Some(outcome.reader.as_str().to_owned());
        metadata.interrupted = outcome.interrupted;
        metadata.complete &= !outcome.interrupted;
        metadata.set_file_systems(table, &roots);
        metadata
    }

    /// Returns what the table of a followed tree tells, which was current at `started`. What only the caller knows is empty:
    /// the machine, the options.
    pub fn of_followed(table: &Table, started: i64, cursor: String) -> Self {
        let roots: Vec<PathBuf> = table.roots().map(|root| table.path(root)).collect();
        let names = roots.iter().map(|root| root.to_string_lossy().into_owned());
        let mut metadata = Self::of_table(table, names.collect());
        metadata.set_fields(table.columns() | FieldMask::NLINK);
        metadata.scope = Some(Scope { one_file_system: true, ..Scope::default() });
        (metadata.started, metadata.cursor) = (Some(started), Some(cursor));
        metadata.set_file_systems(table, &roots);
        metadata
    }

    fn set_file_systems(&mut self, table: &Table, roots: &[PathBuf]) {
        for (row, path) in table.roots().zip(roots) {
            let device = table.attributes(row).device();
            // A part can have thousands of roots on one file system.
            let is_known = |known: &FileSystem| Some(known.device) == device;
            if self.file_systems.iter().any(is_known) {
                continue;
            }
            let identity = transect_sys::host::file_system_identity(path);
            if let Some((device, identity)) = device.zip(identity) {
                self.file_systems.push(FileSystem::new(device, identity));
            }
        }
    }

    /// Returns what a table with these roots tells.
    pub(crate) fn of_table(table: &Table, roots: Vec<String>) -> Self {
        let mut metadata = Self {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            roots,
            complete: table.diagnostics().is_complete(),
            ..Self::default()
        };
        metadata.set_fields(table.columns());
        metadata.set_diagnostics(table.diagnostics());
        metadata
    }

    /// Copies what a walk left out or could not read.
    pub fn set_diagnostics(&mut self, diagnostics: &Diagnostics) {
        self.errors = diagnostics.errors;
        self.vanished = diagnostics.vanished;
        self.error_list = stored_error::first_by_path(&diagnostics.kept_errors);
        self.errors_by = BTreeMap::new();
        for ((operation, kind), count) in &diagnostics.errors_by {
            let by_kind = self.errors_by.entry(operation.as_str().to_owned()).or_default();
            *by_kind.entry(kind.as_str().to_owned()).or_default() += count;
        }
        let skipped = diagnostics.skipped.iter();
        self.skipped =
            skipped.map(|(reason, &count)| (reason.as_str().to_owned(), count)).collect();
    }

    /// Sets [`Metadata::columns`].
    pub fn set_fields(&mut self, fields: FieldMask) {
        let stored = ATTRIBUTES.iter().filter(|(field, ..)| fields.contains(*field));
        self.columns = stored.map(|(_, column, _)| name(*column).to_owned()).collect();
    }

    /// Returns the attributes that are stored.
    pub fn fields(&self) -> FieldMask {
        let is_stored = |column| self.columns.iter().any(|stored| stored == name(column));
        let stored = ATTRIBUTES.iter().filter(|(_, column, _)| is_stored(*column));
        stored.map(|(field, ..)| *field).collect()
    }
}

fn name(column: Column) -> &'static str {
    COLUMNS[column as usize].name
}
