//! Puts the parts of a scan together, in memory that does not grow with the number of entries.
//!
//! ```text
//! parts ─► graft: rows in tree order ─┬─► outline: totals and digests of the spine, names of files with several ─┐
//!                                     └─► stream: pages of rows ◄────────────────────────────────────────────────┘
//!                                                   └─► write
//! ```
//!
//! The rows of a part are in tree order, and so are those of all parts: no row is sorted.

mod graft;
mod limits;
mod linked_rows;
mod links;
mod outline;
mod part_set;
mod parts;
mod places;
mod spine;
mod stream;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use transect::{Cancel, Diagnostics, SkipReason};
use transect_sys::ReadAt;

use super::{TaskError, file_name, read_error};
use crate::metadata::{FileSystem, Metadata};
use crate::write::{self, PageColumns, PageSource};

pub use limits::CommitLimits;
pub use parts::remove_unfinished;
pub(super) use parts::{not_regular, part_files};

use limits::Resources;
use outline::Outline;
use part_set::PartSet;
use parts::OpenPart;
use stream::RowStream;

const MANIFEST_SCHEMA: &str = "transect.manifest/1";

/// All parts of a scan, to be put together.
pub struct Commit {
    parts: PartSet,
}

/// What a finished scan consists of.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Manifest {
    schema: &'static str,
    /// The id of the first task.
    pub first: String,
    /// The parts, each before those that follow from it.
    pub parts: Vec<ManifestPart>,
    /// The number of entries of the tree.
    pub entries: u64,
    /// The number of errors inside the trees.
    pub errors: u64,
    /// Whether everything was read.
    pub complete: bool,
}

/// A part, as the manifest lists it.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ManifestPart {
    /// The id of its task.
    pub id: String,
    /// The name of the file.
    pub file: String,
    /// The number of rows.
    pub rows: u64,
    /// The length of the file.
    pub bytes: u64,
}

impl Commit {
    /// Opens the parts in a directory, and checks that none is missing.
    ///
    /// # Errors
    /// Tasks have not run ([`TaskError::Pending`]), the directory has parts of several scans, or one of them is damaged.
    pub fn open(folder: &Path) -> Result<Self, TaskError> {
        Ok(Self { parts: PartSet::open(folder)? })
    }

    /// Returns what the scan consists of.
    ///
    /// # Errors
    /// A part cannot be read.
    pub fn manifest(&self, entries: u64, metadata: &Metadata) -> Result<Manifest, TaskError> {
        let part = |part: &OpenPart| {
            let bytes =
                part.snapshot.source.size().map_err(|error| read_error(&part.path, error))?;
            let (id, rows) = (part.id.clone(), part.snapshot.len());
            Ok(ManifestPart { file: file_name(&id), id, rows, bytes })
        };
        Ok(Manifest {
            schema: MANIFEST_SCHEMA,
            first: self.parts.parts[0].id.clone(),
            parts: self.parts.parts.iter().map(part).collect::<Result<_, TaskError>>()?,
            entries,
            errors: metadata.errors,
            complete: metadata.complete,
        })
    }

    /// Returns the metadata of the whole: what was read, and when. What only the caller knows is empty.
    pub fn metadata(&self) -> Metadata {
        let all = || self.parts.parts.iter().map(|part| part.snapshot.metadata());
        let first = self.parts.parts[0].snapshot.metadata();
        let mut diagnostics = Diagnostics::default();
        all().for_each(|metadata| diagnostics.merge(metadata.diagnostics()));
        diagnostics.skipped.remove(&SkipReason::LeftOver);
        let mut file_systems: BTreeMap<u64, FileSystem> = BTreeMap::new();
        for system in all().flat_map(|metadata| &metadata.file_systems) {
            file_systems.entry(system.device).or_insert_with(|| system.clone());
        }
        let mut metadata = Metadata {
            tool_version: first.tool_version.clone(),
            roots: first.roots.clone(),
            file_systems: file_systems.into_values().collect(),
            scope: first.scope,
            started: all().filter_map(|metadata| metadata.started).min(),
            ended: all().filter_map(|metadata| metadata.ended).max(),
            reader: first.reader.clone(),
            complete: all().all(|metadata| metadata.complete),
            ..Metadata::default()
        };
        metadata.set_fields(self.parts.fields());
        metadata.set_diagnostics(&diagnostics);
        metadata
    }

    /// Reads the parts for what must be known before the first row of the snapshot: the first of two passes.
    ///
    /// # Errors
    /// Parts do not fit together or are damaged, `cancel` is set, or there is no room for temporary files.
    pub fn outline(
        &self,
        limits: &CommitLimits,
        cancel: &Cancel,
    ) -> Result<Outlined<'_>, TaskError> {
        let resources = Resources::within(limits);
        let outline = outline::outline(&self.parts, &resources, cancel)?;
        Ok(Outlined { parts: &self.parts, outline, resources })
    }
}

/// Parts of which the first pass is done.
pub struct Outlined<'c> {
    parts: &'c PartSet,
    outline: Outline,
    resources: Resources,
}

impl Outlined<'_> {
    /// Returns the number of entries.
    pub fn entries(&self) -> u64 {
        self.outline.rows
    }

    /// Writes the snapshot, and returns the length of its file: the second pass.
    ///
    /// # Errors
    /// As the first pass; the output fails ([`TaskError::Write`] without a path). What was written until then is not
    /// a snapshot.
    pub fn write(
        self,
        metadata: &Metadata,
        cancel: &Cancel,
        out: &mut dyn Write,
    ) -> Result<u64, TaskError> {
        let Self { parts, outline, resources } = self;
        let rows = outline.rows as usize;
        let mut stream = RowStream::new(parts, outline, &resources, cancel);
        let source = PageSource {
            rows,
            next: |rows| stream.page(rows),
            build: |page, columns: &mut PageColumns| *columns = page,
        };
        write::write_pages(
            source,
            resources.threads,
            metadata,
            cancel,
            Some(&resources.folder),
            out,
        )
        .map_err(|error| if cancel.is_cancelled() { TaskError::Cancelled } else { error })
    }
}
