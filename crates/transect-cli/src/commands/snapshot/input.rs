//! Snapshots where other commands take a path.

use std::path::Path;

use transect::table::{PartialTable, Table};
use transect::{Diagnostics, FieldMask, ScanPlan, Sink};
use transect_snapshot::{ReadError, Snapshot};

use crate::args::WalkArgs;
use crate::output;
use crate::output::columns::Column;
use crate::snapshot_file;
use transect_program::{CliError, ExitStatus};

pub(crate) struct StoredTree {
    pub(crate) table: Table,
    /// See [`transect_snapshot::Metadata::unverified`].
    pub(crate) unverified: bool,
    /// When it was read, in nanoseconds since 1970 UTC.
    pub(crate) read_at: Option<i64>,
    pub(crate) interrupted: bool,
}

impl StoredTree {
    /// Prints the errors of the time when the tree was read; without `all`, the first ten.
    pub(crate) fn show_errors(&self, all: bool) {
        output::show_stored_errors("the snapshot", self.table.diagnostics(), all);
    }

    pub(crate) fn end(&self) -> ExitStatus {
        Self::end_of(self.table.diagnostics(), self.interrupted)
    }

    /// As [`StoredTree::end`], without the table.
    pub(crate) fn end_of(diagnostics: &Diagnostics, interrupted: bool) -> ExitStatus {
        let end = ExitStatus::from_diagnostics(diagnostics, false);
        end.max(ExitStatus::complete_if(!interrupted))
    }
}

/// Returns the snapshot that is the only path of the arguments; `None` if they name something else.
pub(crate) fn stored_tree(
    walk: &WalkArgs,
    fields: FieldMask,
) -> Result<Option<StoredTree>, CliError> {
    let Some((path, snapshot)) = whole_snapshot(walk)? else { return Ok(None) };
    let table = snapshot.table(fields).map_err(|error| cannot_read(path, &error))?;
    let metadata = snapshot.metadata();
    let (read_at, interrupted) = (metadata.ended, metadata.interrupted);
    Ok(Some(StoredTree { table, unverified: metadata.unverified, read_at, interrupted }))
}

/// Returns the largest directories in the root of a snapshot, and with `nested` also below these, which a view shows until
/// it has read all; `None` if only a table of all rows has the answer.
pub(crate) fn partial_tree(
    path: &Path,
    snapshot: &Snapshot,
    fields: FieldMask,
    nested: bool,
) -> Result<Option<PartialTable>, CliError> {
    // Some screens. Most of them are in other pages of all columns, so more take much longer to read.
    const DIRECTORIES: usize = 100;
    let partial = snapshot.partial_table(fields, DIRECTORIES, nested);
    partial.map_err(|error| cannot_read(path, &error))
}

/// Opens the snapshot that is the only path of the arguments, for a command that shows all of it; returns
/// `None` if they name something else.
pub(crate) fn whole_snapshot(walk: &WalkArgs) -> Result<Option<(&Path, Snapshot)>, CliError> {
    let Some((path, snapshot)) = only_snapshot(walk)? else { return Ok(None) };
    if !walk.filter.is_default() {
        let path = path.display();
        return Err(CliError::Failed(format!(
            "'{path}' is a snapshot; filters apply only to directories: give them when it is stored"
        )));
    }
    Ok(Some((path, snapshot)))
}

/// The entries of a snapshot, which a command filters as those of a walk.
pub(crate) struct StoredEntries<'a> {
    path: &'a Path,
    snapshot: Snapshot,
    diagnostics: Diagnostics,
}

impl<'a> StoredEntries<'a> {
    /// Returns the snapshot that is the only path of the arguments; `None` if they name something else. It has
    /// `fields` and what the filters need.
    pub(crate) fn of(walk: &'a WalkArgs, fields: FieldMask) -> Result<Option<Self>, CliError> {
        let Some((path, snapshot)) = only_snapshot(walk)? else { return Ok(None) };
        if let Some(option) = walk.filter.only_for_directories() {
            let path = path.display();
            return Err(CliError::Failed(format!(
                "'{path}' is a snapshot; {option} applies only to directories"
            )));
        }
        check_fields(path, &snapshot, fields | walk.filter.attributes.filter().fields())?;
        let diagnostics = snapshot.metadata().diagnostics();
        Ok(Some(Self { path, snapshot, diagnostics }))
    }

    /// Delivers the entries. Memory does not grow with their number. The second result is the error that ended
    /// the delivery.
    pub(crate) fn deliver<S: Sink>(
        &self,
        plan: &ScanPlan,
        sink: S,
    ) -> Result<(S, Result<(), CliError>), CliError> {
        let (sink, end) = plan.run_on(self.snapshot.entries(), sink)?;
        Ok((sink, end.map_err(|error| cannot_read(self.path, &error))))
    }

    /// Prints the errors of the time when the tree was read; without `all`, the first ten.
    pub(crate) fn show_errors(&self, all: bool) {
        output::show_stored_errors("the snapshot", &self.diagnostics, all);
    }

    pub(crate) fn end(&self) -> ExitStatus {
        StoredTree::end_of(&self.diagnostics, self.snapshot.metadata().interrupted)
    }
}

pub(crate) fn check_fields(
    path: &Path,
    snapshot: &Snapshot,
    fields: FieldMask,
) -> Result<(), CliError> {
    let is_missing =
        |column: &&Column| (fields - snapshot.metadata().fields()).contains(column.field());
    let missing = Column::ATTRIBUTES.iter().skip(1).find(is_missing);
    if let Some(missing) = missing {
        let (path, name) = (path.display(), missing.as_str());
        let hint = match FieldMask::TIMES.contains(missing.field()) {
            true => "; store it with --all-times",
            false => "",
        };
        return Err(CliError::Failed(format!("snapshot '{path}' does not have {name}{hint}")));
    }
    Ok(())
}

fn only_snapshot(walk: &WalkArgs) -> Result<Option<(&Path, Snapshot)>, CliError> {
    let [path] = walk.paths.as_slice() else { return Ok(None) };
    Ok(open(path)?.map(|snapshot| (path.as_path(), snapshot)))
}

/// Opens a snapshot; returns `None` for any other file, with a hint if that is a Parquet file.
pub(crate) fn open(path: &Path) -> Result<Option<Snapshot>, CliError> {
    if !Snapshot::is_likely(path) {
        return Ok(None);
    }
    match snapshot_file::open(path) {
        Ok(snapshot) => Ok(Some(snapshot)),
        // Another Parquet file is a file like any other.
        Err(ReadError::NotSnapshot(_)) => {
            let path = path.display();
            output::hint_once(&format!("'{path}' is a Parquet file, but not a snapshot"));
            Ok(None)
        }
        Err(error) => Err(cannot_read(path, &error)),
    }
}

pub(crate) fn cannot_read(path: &Path, error: &ReadError) -> CliError {
    CliError::Failed(format!("cannot read '{}': {error}", path.display()))
}
