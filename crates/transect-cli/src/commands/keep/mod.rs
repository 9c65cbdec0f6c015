//! `transect keep`: stores snapshots in series.

mod timer;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use transect::{Cancel, Diagnostics, ScanError, ScanOptions};
use transect_snapshot::Inherited;
use transect_sys::file::attributes_at;
use transect_sys::host::now;

use crate::args::{KeepArgs, KeepEvery, ProgressArgs};
use crate::commands::snapshot::{self, Since};
use crate::output::json::{PathEntry, object};
use crate::output::units::{bytes, counted};
use crate::output::{self, quote, stream};
use crate::series::{Series, Thinning};
use transect_program::{CliError, ExitStatus, cancel_on_signal};

use timer::Timer;

struct Outcome {
    file: PathBuf,
    taken: i64,
    /// `None` if it was not written.
    stored: Option<Stored>,
    thinning: Thinning,
}

struct Stored {
    entries: u64,
    directories: u64,
    size: u64,
    complete: bool,
    errors: u64,
    inherited: Option<Inherited>,
}

pub(crate) fn run(args: &KeepArgs) -> Result<ExitStatus, CliError> {
    let cancel = cancel_on_signal()?;
    let here = [PathBuf::from(".")];
    let paths = if args.paths.is_empty() { &here[..] } else { &args.paths };
    let mut end = ExitStatus::Complete;
    for path in paths {
        let series = Series::of(path)?;
        let kept = match args.every {
            Some(every) => keep_every(args, &series, every, &cancel),
            None if args.dry_run => preview(args, &series),
            None => keep(args, &series, &cancel),
        };
        end = end.max(match kept {
            Ok(end) | Err(CliError::Ended(end)) => end,
            Err(output @ CliError::Output(_)) => return Err(output),
            Err(error) => {
                output::error(&error);
                ExitStatus::RootFailed
            }
        });
        if end == ExitStatus::Interrupted {
            break;
        }
    }
    Ok(end)
}

/// Keeps a snapshot now, and sets up the timer for others; or only removes the timer.
fn keep_every(
    args: &KeepArgs,
    series: &Series,
    every: KeepEvery,
    cancel: &Cancel,
) -> Result<ExitStatus, CliError> {
    let timer = Timer::of(series, every, args)?;
    if args.dry_run {
        stream::stdout().write_all(timer.preview().as_bytes())?;
        return Ok(ExitStatus::Complete);
    }
    let end = match every {
        KeepEvery::Never => ExitStatus::Complete,
        _ => keep(args, series, cancel)?,
    };
    if end < ExitStatus::RootFailed {
        output::print_text(&timer.apply()?)?;
    }
    Ok(end)
}

fn preview(args: &KeepArgs, series: &Series) -> Result<ExitStatus, CliError> {
    check_root(series.root())?;
    let taken = series.time_for(now())?;
    let thinning = thinning(args, || series.thinning(taken))?;
    let file = series.path_for(taken);
    show(args, series, &Outcome { file, taken, stored: None, thinning })
}

fn keep(args: &KeepArgs, series: &Series, cancel: &Cancel) -> Result<ExitStatus, CliError> {
    check_root(series.root())?;
    // Before reading: another process that stores the same tree makes this one superfluous.
    let mut writer = series.lock()?;
    let taken = series.time_for(now())?;
    let since = match args.rescan.rescan {
        Some(level) => Since::last_of(series, level)?,
        None => None,
    };
    let known = if args.quiet { series.last()?.kept } else { None };
    let known = known.map(|last| last.snapshot.metadata().diagnostics());
    let no_progress = args.quiet || args.progress.no_progress;
    let progress = ProgressArgs { no_progress, ..args.progress };
    let options = ScanOptions::new([series.root()]).same_file_system(args.one_file_system);
    let fields = snapshot::KEPT_FIELDS;
    let generation = snapshot::generation(&options.roots, since.as_ref());
    let (table, outcome) =
        snapshot::walk_shown(options, fields, args.errors, since.as_ref(), cancel, progress)?;
    let diagnostics = table.diagnostics();
    let new = known.map(|known| without(diagnostics, &known));
    output::show_errors(new.as_ref().unwrap_or(diagnostics), args.errors);
    let mut end = ExitStatus::from_diagnostics(diagnostics, outcome.interrupted);
    if new.is_some_and(|new| new.is_complete()) && end == ExitStatus::Partial {
        end = ExitStatus::Complete;
    }
    match end {
        ExitStatus::Interrupted => return Err(snapshot::interrupted()),
        ExitStatus::RootFailed => return Ok(end),
        _ => {}
    }
    let scope = snapshot::scope_of_all(args.one_file_system);
    let mut metadata = snapshot::metadata(&table, &outcome, Some(taken), scope);
    snapshot::set_generation(&mut metadata, generation);
    metadata.inherited = since.as_ref().map(Since::inherited);
    metadata.series = Some(writer.place_for(taken));
    let mut size = 0;
    let written = writer.store(taken, metadata.complete, |out| {
        size = transect_snapshot::write(&table, &metadata, cancel, out)?;
        Ok(())
    });
    let file = written
        .map_err(|error| if cancel.is_cancelled() { snapshot::interrupted() } else { error })?;
    let stored = Some(Stored {
        entries: table.len(),
        directories: table.grand_total().directories.into(),
        size,
        complete: metadata.complete,
        errors: diagnostics.errors,
        inherited: metadata.inherited,
    });
    let thinning = thinning(args, || writer.thin(taken))?;
    let shown = show(args, series, &Outcome { file, taken, stored, thinning })?;
    Ok(end.max(shown))
}

/// Returns the errors that are not among the known ones.
fn without(found: &Diagnostics, known: &Diagnostics) -> Diagnostics {
    let key = |error: &ScanError| (error.operation(), error.path().to_owned());
    let known_keys: HashSet<_> = known.kept_errors.iter().map(key).collect();
    let mut new = Diagnostics::new(usize::MAX);
    for error in found.kept_errors.iter().filter(|error| !known_keys.contains(&key(error))) {
        new.add(error.clone());
    }
    // Of very many errors, only the number is known.
    let without_path = |of: &Diagnostics| of.errors - of.kept_errors.len() as u64;
    new.errors += without_path(found).saturating_sub(without_path(known));
    new
}

fn thinning(
    args: &KeepArgs,
    thin: impl FnOnce() -> Result<Thinning, CliError>,
) -> Result<Thinning, CliError> {
    if args.no_thin { Ok(Thinning::default()) } else { thin() }
}

/// Fails if there is nothing to store, before directories are created for it.
fn check_root(root: &Path) -> Result<(), CliError> {
    attributes_at(root).map(drop).map_err(CliError::cannot("access", root))
}

fn show(args: &KeepArgs, series: &Series, outcome: &Outcome) -> Result<ExitStatus, CliError> {
    let Outcome { file, stored, thinning, .. } = outcome;
    thinning.unusable.iter().for_each(output::error);
    let end = ExitStatus::complete_if(thinning.unusable.is_empty());
    if args.quiet {
        return Ok(end);
    }
    if args.json {
        output::print_json(&kept_object(series, outcome))?;
        return Ok(end);
    }
    let mut text = String::new();
    let quoted = |path: &Path| quote::for_terminal(path.as_os_str());
    let (root, file) = (quoted(series.root()), quoted(file));
    let _ = match stored {
        Some(stored) => {
            let entries = counted(stored.entries, "entry", "entries");
            let _ =
                writeln!(text, "kept {entries} of '{root}' in '{file}': {}", bytes(stored.size));
            stored.inherited.as_ref().map_or(Ok(()), |inherited| {
                writeln!(text, "{}", output::inherited::text(inherited, stored.directories))
            })
        }
        None => writeln!(text, "would keep '{root}' in '{file}'"),
    };
    let verb = if stored.is_some() { "removed" } else { "would remove" };
    for path in &thinning.superfluous {
        let _ = writeln!(text, "{verb} '{}'", quoted(path));
    }
    output::print_text(&text)?;
    Ok(end)
}

fn kept_object(series: &Series, outcome: &Outcome) -> impl Serialize {
    let Outcome { file, taken, stored, thinning } = outcome;
    let stored = stored.as_ref();
    let removed = thinning.superfluous.iter().map(|path| PathEntry::from(path.as_path()));
    object! {
        schema: "transect.keep/1",
        ..root: PathEntry::from(series.root()),
        dry_run: stored.is_none(),
        snapshot: object! {
            ..file: PathEntry::from(file.as_path()),
            taken: *taken,
            entries: stored.map(|it| it.entries),
            size: stored.map(|it| it.size),
            complete: stored.map(|it| it.complete),
            errors: stored.map(|it| it.errors),
            inherited: stored.and_then(|it| it.inherited.as_ref()),
        },
        removed: removed.collect::<Vec<_>>(),
        unusable: thinning.unusable.len(),
    }
}
