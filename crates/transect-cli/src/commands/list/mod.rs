//! `transect list`: prints each entry as soon as it is found.

mod colours;
mod human;
mod machine;
mod value;

use std::io::Write;
use std::sync::Arc;

use transect::{Diagnostics, LineFormat, ListOutput, ListSink, Progress};

use crate::args::ListArgs;
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::cancel_on_signal;
use crate::output::columns::{Column, Columns};
use crate::output::stream;
use crate::progress::ProgressLine;
use crate::{output, profile};

use colours::Colours;
use human::HumanFormat;
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
    let (mut options, _) = profile::scan_options(&args.walk);
    options.filters.min_depth = args.min_depth;
    let plan = options.cancel(cancel_on_signal()?).progress(Arc::clone(&progress)).plan()?;

    let to_terminal = stream::stdout_is_terminal();
    let quoted = quotes_names(args, to_terminal);
    let mut stdout = if quoted { stream::stdout().allow_any_style() } else { stream::stdout() };
    if args.csv {
        stdout.write_all(&machine::header(columns(args)))?;
    }
    let terminator = if args.null { b'\0' } else { b'\n' };
    let mut output = ListOutput::new(stdout, terminator);
    if let Some(format) = format(args, quoted) {
        output = output.formatted(format);
    }
    if let Some(lines) = args.limit {
        output = output.limited(lines);
    }
    if let Some(key) = args.sort {
        output = output.sorted_by(key, args.reverse);
    }
    let output = Arc::new(output);

    // Unsorted lines on a terminal show progress themselves.
    let room = !to_terminal || args.sort.is_some();
    let line = ProgressLine::start(args.progress, room, &progress);
    let errors = if args.errors { usize::MAX } else { Diagnostics::DEFAULT_KEPT };
    let outcome = plan.run(|| ListSink::new(Arc::clone(&output), errors))?;
    drop(line);

    let interrupted = outcome.interrupted;
    let mut diagnostics = outcome.sink.into_diagnostics();
    output.finish()?;
    diagnostics.sort();
    output::show_errors(&diagnostics, args.errors);
    Ok(ExitStatus::from_diagnostics(&diagnostics, interrupted))
}

/// Returns the columns to print.
fn columns(args: &ListArgs) -> &[Column] {
    match args.columns.as_slice() {
        [] if args.long => LONG_COLUMNS,
        [] if args.json || args.csv => MACHINE_COLUMNS,
        [] => &[Column::Path],
        columns => columns,
    }
}

/// Returns whether names are quoted: a terminal would interpret control characters.
fn quotes_names(args: &ListArgs, to_terminal: bool) -> bool {
    // With -0 the bytes are wanted; but a Windows console accepts only Unicode.
    to_terminal && !args.json && !args.csv && (!args.null || cfg!(windows))
}

/// Returns the format of the lines; `None` for plain paths.
fn format(args: &ListArgs, quoted: bool) -> Option<Box<dyn LineFormat>> {
    let columns = Columns::new(columns(args));
    if args.json {
        return Some(Box::new(Json(columns)));
    }
    if args.csv {
        return Some(Box::new(Csv(columns)));
    }
    if !quoted && columns.are_paths_alone() {
        return None;
    }
    let colours = if quoted { Colours::of_terminal() } else { None };
    Some(Box::new(HumanFormat::new(columns, quoted, colours)))
}
