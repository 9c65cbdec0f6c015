//! `transect usage`: shows disk usage as a tree or in groups.

mod csv;
mod groups;
mod interchange;
mod json;
mod stored;
mod terminal;
mod tree;
mod view;

use std::io;
use std::time::Instant;

use transect::table::{Row, Table};
use transect::{FieldMask, FileType};
use transect_snapshot::{LargestLimits, StoredMeasure as Measure};
use transect_text::notes;

use crate::args::{Key, UsageArgs};
use crate::commands::snapshot::{self, stored_tree};
use crate::{output, profile};
use transect_program::{CliError, ExitStatus, cancel_on_signal};

use terminal::Shown;
use view::{Usage, View};

/// The lines shown without a terminal.
const DEFAULT_LINES: usize = 25;

pub(crate) fn run(args: &UsageArgs) -> Result<ExitStatus, CliError> {
    let began = Instant::now();
    if let Some(end) = stored::show(args, &limits(args), began)? {
        return Ok(end);
    }
    let stored = match args.import_ncdu {
        Some(_) => None,
        None => stored_tree(&args.walk, columns(args))?,
    };
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
    let interrupted = interrupted || was_interrupted;
    if stored_end.is_none() {
        output::show_errors(table.diagnostics(), args.errors);
    }
    if outcome.as_ref().is_some_and(|it| table.diagnostics().failed_roots == it.roots as u64) {
        return Ok(end);
    }
    if let Some(file) = &args.export_ncdu {
        return interchange::export(&table, file, end, &cancel);
    }
    let measure = args.measure();
    let view = select(args, &table, measure)?;
    let elapsed = outcome.as_ref().map_or(began.elapsed(), |outcome| outcome.elapsed);
    let disk = outcome.as_ref().and_then(|_| transect::internal::disk_space_of(&args.walk.roots()));
    let usage = Usage { outcome, unverified, elapsed, interrupted, table, disk, measure, view };
    show(args, &usage)?;
    Ok(end)
}

fn columns(args: &UsageArgs) -> FieldMask {
    if args.export_ncdu.is_some() {
        let linked = FieldMask::FILE_ID | FieldMask::NLINK;
        let extended = FieldMask::UID | FieldMask::GID | FieldMask::MODE | FieldMask::MTIME;
        return if args.extended { linked | extended } else { linked };
    }
    match args.by {
        Some(Key::Owner) => FieldMask::UID,
        Some(Key::Age) => FieldMask::MTIME,
        _ => FieldMask::empty(),
    }
}

fn limits(args: &UsageArgs) -> LargestLimits {
    let room = output::terminal_height().map(|lines| lines.saturating_sub(6).max(3));
    let lines = args.top.or(room.filter(|_| !args.json && !args.csv)).unwrap_or(DEFAULT_LINES);
    let mut limits = LargestLimits::new(lines);
    (limits.depth, limits.min_size) = (args.depth, args.min_size as u64);
    limits
}

fn select(args: &UsageArgs, table: &Table, measure: Measure) -> Result<View, CliError> {
    let limits = limits(args);
    Ok(match args.by {
        Some(key) => {
            View::Groups(groups::largest(table, key, measure, limits.count, limits.min_size)?)
        }
        None => {
            let is_shown = |row| args.files || table.file_type(row) == FileType::Directory;
            let size = |row: Row| measure.size(&table.totals(row));
            let rank = |row: Row| if is_shown(row) { size(row) } else { 0 };
            let folds = |row| !args.json && !args.csv && notes::of(table, row).is_empty();
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
    if args.csv {
        // Paths are bytes, and the colour-aware buffer accepts text only.
        return csv::write(&mut output::stream::stdout(), usage);
    }
    if args.json {
        let roots = match usage.outcome {
            Some(_) => args.walk.roots(),
            None => usage.table.roots().map(|root| usage.table.path(root)).collect(),
        };
        return output::print_json(&json::usage(&roots, usage));
    }
    terminal::print(&Shown::of(usage))
}
