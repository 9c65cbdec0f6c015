//! The snapshots that `find` searches.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use transect::table::Table;
use transect::{Cancel, ScanOptions};
use transect_snapshot::{Metadata, Snapshot};
use transect_sys::host::{host_name, now};
use transect_sys::private_dir::PrivateTempDir;

use crate::args::ProgressArgs;
use crate::commands::snapshot;
use crate::output;
use crate::output::time::{TimeFormatter, age};
use crate::output::units::counted;
use crate::root_path::resolved;
use crate::series::{self, Kept, Search, Series};
use transect_program::{CliError, ExitStatus};

#[derive(Default)]
pub(super) struct Sources {
    pub(super) all: Vec<Source>,
    /// The number of newer files of their series that could not be used.
    pub(super) unusable: usize,
    /// Partial if a file or a directory could not be used.
    pub(super) end: ExitStatus,
}

pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) snapshot: Snapshot,
    /// Where the snapshot is, if it was made for this search. Removed after it is closed.
    made: Option<PrivateTempDir>,
}

impl Source {
    pub(super) fn text(&self) -> String {
        let metadata = self.snapshot.metadata();
        let roots = metadata.roots.join("', '");
        if self.made.is_some() {
            return format!(
                "'{roots}' was read for this search, as no snapshot of it was kept (transect keep)"
            );
        }
        let mut text = format!("from the snapshot of '{roots}'");
        if let Some(started) = metadata.started {
            let time = TimeFormatter::local().text(started);
            let second = u64::try_from(started / 1_000_000_000).unwrap_or(0);
            text += &format!(", {} old ({time})", age(second));
        }
        if !metadata.complete {
            text += &format!("; it is partial: {}", counted(metadata.errors, "error", "errors"));
        }
        text
    }
}

/// Returns the snapshots of these files and directories, or without any, those that tell what is in the current
/// directory.
pub(super) fn of(
    within: &[PathBuf],
    progress: ProgressArgs,
    cancel: &Cancel,
) -> Result<Sources, CliError> {
    if within.is_empty() {
        return of_current_directory(progress, cancel);
    }
    let mut sources = Sources::default();
    for path in within {
        if let Some(snapshot) = snapshot::open(path)? {
            sources.all.push(Source { path: path.clone(), snapshot, made: None });
            continue;
        }
        let series = Series::of(path)?;
        if !sources.add(series.last()?) {
            return Err(CliError::Failed(match path.is_file() {
                true => format!("'{}' is neither a snapshot nor a directory", path.display()),
                false => series.none_kept(path),
            }));
        }
    }
    Ok(sources)
}

/// Returns the last snapshot of the current directory or of the nearest one above it; or else those of directories
/// below it; or else one that is made now.
fn of_current_directory(progress: ProgressArgs, cancel: &Cancel) -> Result<Sources, CliError> {
    let mut sources = Sources::default();
    let here = resolved(Path::new("."));
    if sources.add(series::nearest(&here)?) {
        return Ok(sources);
    }
    let host = host_name().unwrap_or_default();
    let outermost = series::outermost(&series::series_directory()?, &host)?;
    for series in outermost.iter().filter(|series| series.root().starts_with(&here)) {
        sources.add(series.last()?);
    }
    if sources.all.is_empty() {
        let (source, end) = read(here, progress, cancel)?;
        sources.all.push(source);
        sources.end = sources.end.max(end);
    }
    Ok(sources)
}

/// Reads a directory. Ends the command if the user interrupts, or it cannot be read at all.
fn read(
    root: PathBuf,
    progress: ProgressArgs,
    cancel: &Cancel,
) -> Result<(Source, ExitStatus), CliError> {
    let (options, started) = (ScanOptions::new([&root]), now());
    let (table, outcome) =
        snapshot::walk_shown(options, snapshot::KEPT_FIELDS, false, None, cancel, progress)?;
    output::show_errors(table.diagnostics(), false);
    let end = ExitStatus::from_diagnostics(table.diagnostics(), outcome.interrupted);
    if end >= ExitStatus::RootFailed {
        return Err(CliError::Ended(end));
    }
    let scope = snapshot::scope_of_all(false);
    let metadata = snapshot::metadata(&table, &outcome, Some(started), scope);
    let stored = store(&table, &metadata, cancel);
    if cancel.is_cancelled() {
        return Err(CliError::Ended(ExitStatus::Interrupted));
    }
    let (made, path) = stored.map_err(|error| {
        let (root, reason) = (root.display(), transect::reason(&error));
        CliError::Failed(format!("cannot store the names in '{root}' for the search: {reason}"))
    })?;
    let snapshot = Snapshot::open(&path).map_err(|error| snapshot::cannot_read(&path, &error))?;
    Ok((Source { path: root, snapshot, made: Some(made) }, end))
}

/// Stores a snapshot in a temporary directory, and returns both.
fn store(
    table: &Table,
    metadata: &Metadata,
    cancel: &Cancel,
) -> io::Result<(PrivateTempDir, PathBuf)> {
    let directory = PrivateTempDir::new("find")?;
    let path = directory.path().join("now.parquet");
    transect_snapshot::write(table, metadata, cancel, &mut File::create_new(&path)?)?;
    Ok((directory, path))
}

impl Sources {
    /// Adds the snapshot that a search found, and reports files that it could not use. Returns whether it found one.
    fn add(&mut self, search: Search) -> bool {
        let Search { kept, unusable } = search;
        unusable.iter().for_each(output::error);
        self.unusable += unusable.len();
        if !unusable.is_empty() {
            self.end = ExitStatus::Partial;
        }
        let is_found = kept.is_some();
        let source = |Kept { path, snapshot, .. }| Source { path, snapshot, made: None };
        self.all.extend(kept.map(source));
        is_found
    }
}
