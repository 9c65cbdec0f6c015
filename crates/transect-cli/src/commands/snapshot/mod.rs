//! `transect snapshot`: stores a tree in a Parquet file.

pub(crate) mod bounded;
mod input;
mod parts_directory;
mod since;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use transect::table::Table;
use transect::{Cancel, FieldMask, Outcome, Progress, ScanOptions};
use transect_snapshot::tasks::TaskError;
use transect_snapshot::{Inherited, Metadata, Scope};
use transect_sys::host::{host_name, now};

use crate::args::{FilterArgs, ProgressArgs, SnapshotArgs};
use crate::output::units::{bytes, counted};
use crate::output::{self, json, quote};
use crate::profile;
use crate::progress::ProgressLine;
use crate::root_path::absolute;
use transect_program::{CliError, ExitStatus, cancel_on_signal};

pub(crate) use input::{
    StoredEntries, StoredTree, cannot_read, check_fields, open, partial_tree, stored_tree,
    whole_snapshot,
};
pub(crate) use since::{Since, reported_changes};
/// The attributes that every snapshot has.
pub(crate) use transect_snapshot::tasks::DEFAULT_FIELDS as FIELDS;

/// The attributes of kept snapshots: with the times that prove moves, and that a directory did not change.
pub(crate) const KEPT_FIELDS: FieldMask = FIELDS.union(FieldMask::CTIME).union(FieldMask::BTIME);

pub(crate) fn run(args: &SnapshotArgs) -> Result<ExitStatus, CliError> {
    let cancel = cancel_on_signal()?;
    let fields = if args.all_times { FIELDS | FieldMask::TIMES } else { FIELDS };
    let started = now();
    let (mut options, _) = profile::scan_options(&args.walk);
    options.roots = options.roots.iter().map(|root| absolute(root)).collect();
    let (roots, follow) = (options.roots.clone(), args.walk.filter.follow);
    let since = Since::of(&args.since, roots, follow, FieldMask::all())?;
    // Another snapshot can be read since this one, too.
    let fields = since.as_ref().map_or(fields, |since| fields | since.fields);
    let generation = generation(&options.roots, since.as_ref());
    let (table, outcome) =
        walk_shown(options, fields, args.errors, since.as_ref(), &cancel, args.progress)?;
    output::show_errors(table.diagnostics(), args.errors);
    let end = ExitStatus::from_diagnostics(table.diagnostics(), outcome.interrupted);
    if outcome.interrupted {
        return Err(interrupted());
    }
    if table.diagnostics().failed_roots == outcome.roots as u64 {
        return Ok(end);
    }
    let mut metadata = metadata(&table, &outcome, Some(started), scope(&args.walk.filter));
    set_generation(&mut metadata, generation);
    metadata.inherited = since.as_ref().map(Since::inherited);
    let mut size = 0;
    let written = output::file::write(&args.output, |out| {
        size = transect_snapshot::write(&table, &metadata, &cancel, out)?;
        Ok(())
    });
    written.map_err(|error| if cancel.is_cancelled() { interrupted() } else { error })?;
    let directories = table.grand_total().directories.into();
    let inherited = since.map(|since| (since.inherited(), directories));
    let errors = table.diagnostics().errors;
    show(args, Stored { entries: table.len(), errors, size, inherited })?;
    Ok(end)
}

/// Says that the command was interrupted, and ends it.
pub(crate) fn interrupted() -> CliError {
    output::note("interrupted: nothing was stored");
    CliError::Ended(ExitStatus::Interrupted)
}

/// Returns the error of a scan in parts, or the end of one that was interrupted.
pub(crate) fn not_stored(error: TaskError) -> CliError {
    match error {
        TaskError::Cancelled => interrupted(),
        error => CliError::failed(error),
    }
}

/// Returns the generation from which on a later walk has to know changes, before these roots are walked: of the file
/// system of the only root, if it has one.
pub(crate) fn generation(roots: &[PathBuf], since: Option<&Since>) -> Option<u64> {
    since.map_or_else(|| Since::current_generation(roots.iter()), |since| since.generation)
}

pub(crate) fn set_generation(metadata: &mut Metadata, generation: Option<u64>) {
    if let [file_system] = &mut metadata.file_systems[..] {
        file_system.generation = generation;
    }
}

/// Reads a tree into a table as [`walk`] does, and shows the progress.
pub(crate) fn walk_shown(
    options: ScanOptions,
    fields: FieldMask,
    all_errors: bool,
    since: Option<&Since>,
    cancel: &Cancel,
    shown: ProgressArgs,
) -> Result<(Table, Outcome<()>), CliError> {
    transect_sys::host::raise_handle_limit();
    let progress = Arc::new(Progress::new());
    let _line = ProgressLine::start(shown, true, &progress);
    walk(options, fields, all_errors, since, cancel, &progress)
}

/// Reads a tree into a table, where possible with the help of a snapshot.
pub(crate) fn walk(
    options: ScanOptions,
    fields: FieldMask,
    all_errors: bool,
    since: Option<&Since>,
    cancel: &Cancel,
    progress: &Arc<Progress>,
) -> Result<(Table, Outcome<()>), CliError> {
    let plan = options.cancel(cancel.clone()).progress(Arc::clone(progress)).plan()?;
    let builder = output::table_builder(fields, all_errors);
    let outcome = match since {
        Some(since) => since.run(&plan, fields | FieldMask::DEVICE, || builder.sink())?,
        None => plan.run(|| builder.sink())?,
    };
    let (sink, outcome) = outcome.split();
    Ok((sink.into_table()?, outcome))
}

struct Stored {
    entries: u64,
    errors: u64,
    size: u64,
    /// What was taken from another snapshot, and the number of all directories.
    inherited: Option<(Inherited, u64)>,
}

fn show(args: &SnapshotArgs, stored: Stored) -> io::Result<()> {
    if args.output.as_os_str() == "-" {
        return Ok(());
    }
    let Stored { entries, errors, size, inherited } = stored;
    if args.json {
        let object = json::object! {
            schema: "transect.snapshot/1",
            ..file: json::PathEntry::from(args.output.as_path()),
            entries: entries,
            size: size,
            complete: errors == 0,
            errors: errors,
            inherited: inherited.map(|(inherited, _)| inherited),
        };
        return output::print_json(&object);
    }
    let file = quote::for_terminal(args.output.as_os_str());
    let each = size as f64 / entries.max(1) as f64;
    let entries = counted(entries, "entry", "entries");
    let mut text =
        format!("stored {entries} in '{file}': {} ({each:.1} bytes each)\n", bytes(size));
    if let Some((inherited, directories)) = inherited {
        text += &format!("{}\n", output::inherited::text(&inherited, directories));
    }
    output::print_text(&text)
}

/// Returns which entries a walk with these options looks for.
fn scope(filter: &FilterArgs) -> Scope {
    let mut scope = scope_of_all(filter.one_file_system);
    (scope.pseudo, scope.follow) = (filter.pseudo, filter.follow);
    scope.filtered = !filter.selects_everything();
    scope
}

/// Returns the scope of a walk for all entries, or all on the root's file system.
pub(crate) fn scope_of_all(one_file_system: bool) -> Scope {
    let mut scope = Scope::default();
    scope.one_file_system = one_file_system;
    scope
}

pub(crate) fn metadata(
    table: &Table,
    outcome: &Outcome<()>,
    started: Option<i64>,
    scope: Scope,
) -> Metadata {
    let mut metadata = Metadata::of_walk(table, outcome);
    metadata.scope = Some(scope);
    set_command(&mut metadata);
    (metadata.started, metadata.ended) = (started, Some(now()));
    metadata
}

pub(crate) fn set_command(metadata: &mut Metadata) {
    metadata.host = host_name();
    let options = std::env::args_os().skip(1);
    metadata.options = options.map(|option| option.to_string_lossy().into_owned()).collect();
}
