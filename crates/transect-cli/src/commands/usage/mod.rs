//! `transect usage`: shows disk usage as a tree or in groups.

mod csv;
mod groups;
mod interchange;
mod json;
mod report;
mod stored;
mod terminal;
mod tree;
mod view;

use std::io;
use std::sync::Arc;
use std::time::Instant;

use transect::table::{Row, Table};
use transect::{Cancel, FieldMask, FileType};
use transect_duplicates::{FindOptions, SharedSpace, shared_space};
use transect_snapshot::{LargestLimits, StoredMeasure as Measure};
use transect_text::notes;
use transect_text::units::count;

use crate::args::{Key, UsageArgs, image_reader};
use crate::commands::snapshot::{self, stored_tree};
use crate::progress::ProgressLine;
use crate::{followed, output, profile};
use transect_program::{CliError, ExitStatus, cancel_on_signal};

use terminal::Shown;
use view::{Report, Usage, View};

/// The lines shown without a terminal.
const DEFAULT_LINES: usize = 25;

pub(crate) fn run(args: &UsageArgs) -> Result<ExitStatus, CliError> {
    let began = Instant::now();
    if args.shared {
        check_on_disk(args)?;
    }
    if let Some(end) = stored::show(args, &limits(args), began)? {
        return Ok(end);
    }
    let stored = match args.import_ncdu {
        Some(_) => None,
        None => stored_tree(&args.walk, columns(args))?,
    };
    let followed = match (&args.import_ncdu, &stored) {
        (None, None) => followed(args)?,
        _ => None,
    };
    let is_followed = followed.is_some();
    let unverified = stored.as_ref().is_some_and(|stored| stored.unverified);
    let (was_interrupted, stored_end) = match &stored {
        Some(stored) => {
            stored.show_errors(args.errors);
            (stored.interrupted, Some(stored.end()))
        }
        None => (false, None),
    };
    let (table, outcome, cancel) = match (&args.import_ncdu, stored) {
        // Signals are handled only after the import, so that Ctrl-C ends a read from a pipe.
        (Some(file), _) => (interchange::import(file, columns(args))?, None, cancel_on_signal()?),
        (None, Some(stored)) => (stored.table, None, cancel_on_signal()?),
        (None, None) if let Some(table) = followed => (table, None, cancel_on_signal()?),
        (None, None) => {
            let cancel = cancel_on_signal()?;
            let (options, _) = profile::scan_options(&args.walk);
            let (columns, errors) = (columns(args), args.errors);
            let (table, outcome) =
                snapshot::walk_shown(options, columns, errors, None, &cancel, args.progress)?;
            (table, Some(outcome), cancel)
        }
    };
    let interrupted = outcome.as_ref().is_some_and(|outcome| outcome.interrupted);
    let end = stored_end
        .unwrap_or_else(|| ExitStatus::from_diagnostics(table.diagnostics(), interrupted));
    let mut interrupted = interrupted || was_interrupted;
    if stored_end.is_none() {
        output::show_errors(table.diagnostics(), args.errors);
    }
    if outcome.as_ref().is_some_and(|it| table.diagnostics().failed_roots == it.roots as u64) {
        return Ok(end);
    }
    if let Some(file) = &args.export_ncdu {
        return interchange::export(&table, file, end, &cancel);
    }
    let shared = args.shared.then(|| query_shared(args, &table, &cancel));
    let mut end = end;
    if let Some(shared) = &shared {
        output::show_errors(&shared.diagnostics, args.errors);
        end = end.max(ExitStatus::complete_if(shared.diagnostics.is_complete()));
        if cancel.is_cancelled() {
            (end, interrupted) = (ExitStatus::Interrupted, true);
        }
    }
    let measure = args.measure();
    let view = select(args, &table, measure, shared.as_ref())?;
    let elapsed = match &outcome {
        Some(outcome) if shared.is_none() => outcome.elapsed,
        _ => began.elapsed(),
    };
    let is_now = outcome.is_some() || is_followed;
    let disk = is_now.then(|| transect::internal::disk_space_of(&args.walk.roots())).flatten();
    let usage =
        Usage { outcome, unverified, elapsed, interrupted, table, disk, measure, view, shared };
    show(args, &usage)?;
    Ok(end)
}

/// Returns the tree if a service follows it; `None` if it is to be read.
fn followed(args: &UsageArgs) -> Result<Option<Table>, CliError> {
    if args.shared || !args.walk.filter.is_default() {
        return Ok(None);
    }
    let columns = columns(args);
    let followed = followed::entries_of(&args.ask, &args.walk, columns | followed::TOTALS);
    let Some(followed) = followed else { return Ok(None) };
    if !args.is_exact() {
        output::note(&followed.text());
    }
    Ok(Some(followed.entries.into_table(columns)?))
}

fn columns(args: &UsageArgs) -> FieldMask {
    if args.export_ncdu.is_some() {
        let linked = FieldMask::FILE_ID | FieldMask::NLINK;
        let extended = FieldMask::UID | FieldMask::GID | FieldMask::MODE | FieldMask::MTIME;
        return if args.extended { linked | extended } else { linked };
    }
    match args.by {
        _ if args.shared => transect_duplicates::COLUMNS,
        Some(Key::Owner) => FieldMask::UID,
        Some(Key::Age) => FieldMask::MTIME,
        _ => FieldMask::empty(),
    }
}

/// Rejects paths that are read as trees without being directories: what files share is known only where they are.
fn check_on_disk(args: &UsageArgs) -> Result<(), CliError> {
    let [path] = args.walk.paths.as_slice() else { return Ok(()) };
    let what = match image_reader(path) {
        Some(_) => "the image of a volume",
        None if snapshot::whole_snapshot(&args.walk)?.is_some() => "a snapshot",
        None => return Ok(()),
    };
    let path = path.display();
    Err(CliError::Failed(format!(
        "'{path}' is {what}; --shared applies only to directories, whose files it queries"
    )))
}

fn query_shared(args: &UsageArgs, table: &Table, cancel: &Cancel) -> SharedSpace {
    let mut options = FindOptions::default();
    options.threads = args.walk.threads.map(usize::from);
    options.follow = args.walk.filter.follow;
    options.cancel = cancel.clone();
    let progress = Arc::clone(&options.progress);
    let _line = ProgressLine::start_with(args.progress, true, move |_| {
        let (done, total) = progress.files();
        format!("extents of {} of {} files queried", count(done), count(total))
    });
    shared_space(table, &options)
}

fn limits(args: &UsageArgs) -> LargestLimits {
    let room = output::terminal_height().map(|lines| lines.saturating_sub(6).max(3));
    let lines = args.top.or(room.filter(|_| !args.is_exact())).unwrap_or(DEFAULT_LINES);
    let mut limits = LargestLimits::new(lines);
    (limits.depth, limits.min_size) = (args.depth, args.min_size as u64);
    limits
}

fn select(
    args: &UsageArgs,
    table: &Table,
    measure: Measure,
    shared: Option<&SharedSpace>,
) -> Result<View, CliError> {
    let limits = limits(args);
    Ok(match args.by {
        Some(key) => {
            View::Groups(groups::largest(table, key, measure, limits.count, limits.min_size)?)
        }
        None => {
            let is_shown = |row| args.files || table.file_type(row) == FileType::Directory;
            let size = |row: Row| measure.size(&view::totals(table, shared, row));
            let rank = |row: Row| if is_shown(row) { size(row) } else { 0 };
            let folds = |row| !args.is_exact() && notes::of(table, row).is_empty();
            View::Tree(tree::largest(&limits, folds, |of, most| {
                let children = match of {
                    Some(of) => table.largest(table.children(of), most, rank),
                    None => table.roots().collect(),
                };
                children.into_iter().map(|row| (row, size(row))).collect()
            }))
        }
    })
}

fn show(args: &UsageArgs, usage: &Usage) -> io::Result<()> {
    if !args.is_exact() {
        return terminal::print(&Shown::of(usage));
    }
    let roots = match usage.outcome {
        Some(_) => args.walk.roots(),
        None => usage.table.roots().map(|root| usage.table.path(root)).collect(),
    };
    report::print(args, &Report::of(usage, roots))
}
