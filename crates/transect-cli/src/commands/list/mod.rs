//! `transect list`: prints each entry as soon as it is found, or runs a command for it.

mod colours;
mod exec;
mod human;
mod machine;
mod value;

use std::io::Write;
use std::sync::Arc;

use transect::{
    Cancel, Diagnostics, FieldMask, LineFormat, ListOutput, ListSink, Progress, ScanPlan, SortKey,
};

use crate::args::ListArgs;
use crate::commands::snapshot::{StoredTree, filterable_tree};
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::cancel_on_signal;
use crate::output::columns::{Column, Columns};
use crate::output::stream;
use crate::progress::ProgressLine;
use crate::{output, profile};

use colours::Colours;
use exec::{Commands, PathWriter};
use human::{HumanFormat, Layout};
use machine::{Csv, Json};

/// The columns of `--long`, in the order of `ls -l`.
const LONG_COLUMNS: &[Column] = &[
    Column::Mode,
    Column::Nlink,
    Column::Owner,
    Column::Group,
    Column::Size,
    Column::Mtime,
    Column::Path,
    Column::Target,
];

/// The columns of `--json` and `--csv` without `--columns`.
const MACHINE_COLUMNS: &[Column] =
    &[Column::Path, Column::Type, Column::Size, Column::Allocated, Column::Mtime];

pub(crate) fn run(args: &ListArgs) -> Result<ExitStatus, CliError> {
    let progress = Arc::new(Progress::new());
    let cancel = cancel_on_signal()?;
    let stored = stored(args)?;
    let commands = Commands::of(args, &cancel)?;
    let (mut options, _) = match commands {
        // Commands inherit the limit of open files: some programs need time for each possible one.
        Some(_) => with_handle_limit_kept(|| profile::scan_options(&args.walk)),
        None => profile::scan_options(&args.walk),
    };
    options.filters.min_depth = args.min_depth;
    // Entries that are not printed need not be read.
    options.max_depth = args.depth.into_iter().chain(options.max_depth).min();
    let plan = options.cancel(cancel.clone()).progress(Arc::clone(&progress)).plan()?;
    let source = Source { plan, stored, cancel };

    if let Some(commands) = commands {
        let walked = commands.run(|paths| {
            let output = ListOutput::new(paths, PathWriter::TERMINATOR);
            // Commands may print at any time.
            let line = ProgressLine::start(args.progress, false, &progress);
            print(args, &source, output, line)
        });
        let (end, all_succeeded) = walked?;
        return Ok(match end {
            _ if commands.were_interrupted() => ExitStatus::Interrupted,
            ExitStatus::Complete if !all_succeeded => ExitStatus::Partial,
            end => end,
        });
    }

    let to_terminal = stream::stdout_is_terminal();
    let style = Style::of(args, to_terminal);
    let mut stdout = match style.quoted {
        true if style.colours.is_some() => stream::painted_stdout(),
        _ => stream::stdout(),
    };
    if args.csv {
        stdout.write_all(&machine::header(&columns(args, source.is_stored())))?;
    }
    let terminator = if args.null { b'\0' } else { b'\n' };
    let mut output = ListOutput::new(stdout, terminator);
    if let Some(format) = format(args, style, source.is_stored()) {
        output = output.formatted(format);
    }
    // Unsorted lines on a terminal show progress themselves.
    let room = !to_terminal || args.sort.is_some();
    let line = ProgressLine::start(args.progress, room, &progress);
    print(args, &source, output, line)
}

/// Returns the snapshot that is to be listed; `None` if a tree is to be read.
///
/// # Errors
/// The snapshot cannot be read, or lacks what the options need.
fn stored(args: &ListArgs) -> Result<Option<StoredTree>, CliError> {
    let sorted_by = args.sort.map_or(FieldMask::empty(), SortKey::field);
    let counted =
        if args.total { FieldMask::FILE_ID | FieldMask::NLINK } else { FieldMask::empty() };
    // Colours depend on modes.
    let shown: FieldMask = columns(args, true).iter().map(|column| column.field()).collect();
    let stored = filterable_tree(&args.walk, shown | sorted_by | counted | FieldMask::MODE)?;
    if stored.is_some() {
        if !args.exec.is_empty() || !args.exec_batch.is_empty() {
            let why = "--exec needs a directory: a snapshot may be older than the disk";
            return Err(CliError::Usage(why.to_owned()));
        }
        if args.columns.contains(&Column::Target) {
            let why = "snapshots have no targets of links: leave out the column 'target'";
            return Err(CliError::Usage(why.to_owned()));
        }
    }
    Ok(stored)
}

/// Where the entries come from.
struct Source {
    plan: ScanPlan,
    /// A snapshot, which the plan filters instead of walking.
    stored: Option<StoredTree>,
    cancel: Cancel,
}

impl Source {
    fn is_stored(&self) -> bool {
        self.stored.is_some()
    }
}

/// Writes the entries to `output`, in the order and number that the arguments request.
fn print<W: Write + Send>(
    args: &ListArgs,
    source: &Source,
    mut output: ListOutput<W>,
    line: ProgressLine,
) -> Result<ExitStatus, CliError> {
    if let Some(lines) = args.limit {
        output = output.limited(lines);
    }
    if let Some(key) = args.sort {
        output = output.sorted_by(key, args.reverse);
    }
    if args.total {
        output = output.with_totals();
    }
    let output = Arc::new(output);
    let errors = if args.errors { usize::MAX } else { Diagnostics::DEFAULT_KEPT };
    let sink = || ListSink::new(Arc::clone(&output), errors);
    let (sink, interrupted) = match &source.stored {
        Some(stored) => (source.plan.run_on(&stored.table, sink())?, source.cancel.is_cancelled()),
        None => {
            let outcome = source.plan.run(sink)?;
            (outcome.sink, outcome.interrupted)
        }
    };
    drop(line);

    let (mut diagnostics, totals) = sink.finish();
    output.finish()?;
    if let Some(totals) = totals {
        stream::stdout().write_all(human::total_lines(&totals, args.bytes).as_bytes())?;
    }
    if let (Some(stored), false) = (&source.stored, interrupted) {
        output::show_errors(stored.table.diagnostics(), args.errors);
        return Ok(stored.end());
    }
    diagnostics.sort();
    output::show_errors(&diagnostics, args.errors);
    Ok(ExitStatus::from_diagnostics(&diagnostics, interrupted))
}

/// Calls `call`, and restores the limit of open files that it raises.
#[cfg(unix)]
fn with_handle_limit_kept<T>(call: impl FnOnce() -> T) -> T {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let before = getrlimit(Resource::Nofile);
    let result = call();
    // A lower soft limit is always allowed.
    let _ = setrlimit(Resource::Nofile, before);
    result
}

#[cfg(not(unix))]
fn with_handle_limit_kept<T>(call: impl FnOnce() -> T) -> T {
    call()
}

/// Returns the columns to print.
fn columns(args: &ListArgs, is_stored: bool) -> Vec<Column> {
    let columns = match args.columns.as_slice() {
        [] if args.long => LONG_COLUMNS,
        [] if args.json || args.csv => MACHINE_COLUMNS,
        [] => &[Column::Path],
        columns => columns,
    };
    // The disk may have another target by now.
    let is_known = |column: &Column| !is_stored || *column != Column::Target;
    columns.iter().copied().filter(is_known).collect()
}

/// How names are written.
struct Style {
    /// A terminal would interpret control characters.
    quoted: bool,
    colours: Option<Colours>,
    /// The columns of the terminal.
    width: Option<usize>,
}

impl Style {
    fn of(args: &ListArgs, to_terminal: bool) -> Self {
        if args.json || args.csv || args.null {
            // The bytes are wanted; but a Windows console accepts only Unicode.
            let quoted = args.null && to_terminal && cfg!(windows);
            return Self { quoted, colours: None, width: None };
        }
        let colours = Colours::new(args.color);
        // Colours are for a terminal, even if a pager passes them on.
        let quoted = to_terminal || colours.is_some();
        Self { quoted, colours, width: output::terminal_width().filter(|&width| width > 0) }
    }
}

/// Returns the format of the lines; `None` for plain paths.
fn format(args: &ListArgs, style: Style, is_stored: bool) -> Option<Box<dyn LineFormat>> {
    let columns = &columns(args, is_stored)[..];
    if args.json {
        return Some(Box::new(Json(Columns::new(columns))));
    }
    if args.csv {
        return Some(Box::new(Csv(Columns::new(columns))));
    }
    let are_paths_alone = columns == [Column::Path];
    if !style.quoted && are_paths_alone {
        return None;
    }
    // A path alone is never shortened: it can be copied.
    let width = style.width.filter(|_| !are_paths_alone);
    let layout = Layout::new(columns, args.long, args.bytes, width);
    Some(Box::new(HumanFormat::new(layout, style.quoted, style.colours)))
}
