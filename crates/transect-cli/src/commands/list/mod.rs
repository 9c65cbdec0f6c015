//! `transect list`: prints each entry as soon as it is found, or runs a command for it.

mod colours;
mod exec;
mod human;
pub(crate) mod lines;
mod machine;
mod value;

use std::io::{self, Write};
use std::sync::Arc;

use transect::internal::{ListOutput, ListSink, SortKey};
use transect::{Cancel, Diagnostics, FieldMask, Progress, ScanPlan};

use crate::args::ListArgs;
use crate::commands::snapshot::StoredEntries;
use crate::followed::{self, Followed};
use crate::output::columns::Column;
use crate::output::stream;
use crate::progress::ProgressLine;
use crate::{output, profile};
use transect_program::{CliError, ExitStatus, cancel_on_signal};

use exec::Commands;

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
    options.min_depth = args.min_depth;
    // Entries that are not printed need not be read.
    options.max_depth = args.depth.into_iter().chain(options.max_depth).min();
    let plan = options.cancel(cancel.clone()).progress(Arc::clone(&progress)).plan()?;
    let source = Source { plan, stored, cancel };

    if let Some(commands) = commands {
        let walked = commands.run(|paths| {
            let output = ListOutput::new(paths, b'\0');
            // Commands may print at any time.
            let line = ProgressLine::start(args.progress, false, &progress);
            print(args, &source, output, line).map(|(end, _)| end)
        });
        let (end, all_succeeded) = walked?;
        return Ok(match source.cancel.is_cancelled() {
            true => ExitStatus::Interrupted,
            false => end.max(ExitStatus::complete_if(all_succeeded)),
        });
    }

    if args.quiet {
        let line = ProgressLine::start(args.progress, true, &progress);
        let mut first = ListOutput::new(io::sink(), b'\n');
        first.limit = Some(1);
        return Ok(match print(args, &source, first, line)? {
            (ExitStatus::Complete, 0) => ExitStatus::Partial,
            // What could not be read does not change the answer.
            (ExitStatus::Partial, 1..) => ExitStatus::Complete,
            (end, _) => end,
        });
    }
    let output =
        lines::to_stdout(&args.lines, &lines::columns(&args.lines, source.stored.is_some()))?;
    // Unsorted lines on a terminal show progress themselves.
    let room = !stream::stdout_is_terminal() || args.lines.sort.is_some();
    let line = ProgressLine::start(args.progress, room, &progress);
    let (end, _) = print(args, &source, output, line)?;
    if matches!(end, ExitStatus::RootFailed) {
        args.walk.hint_part_of_names();
    }
    Ok(end)
}

/// Returns the snapshot that is to be listed; `None` if a tree is to be read.
fn stored(args: &ListArgs) -> Result<Option<StoredEntries<'_>>, CliError> {
    let sorted_by = args.lines.sort.map_or(FieldMask::empty(), SortKey::field);
    let counted =
        if args.total { FieldMask::FILE_ID | FieldMask::NLINK } else { FieldMask::empty() };
    // Colours depend on modes.
    let shown: FieldMask =
        lines::columns(&args.lines, true).iter().map(|column| column.field()).collect();
    let stored = StoredEntries::of(&args.walk, shown | sorted_by | counted | FieldMask::MODE)?;
    if stored.is_some() {
        if !args.exec.is_empty() || !args.exec_batch.is_empty() {
            let why = "--exec needs a directory: a snapshot may be older than the disk";
            return Err(CliError::failed(why));
        }
        if args.lines.columns.contains(&Column::Target) {
            let why = "snapshots have no targets of links: leave out the column 'target'";
            return Err(CliError::failed(why));
        }
    }
    Ok(stored)
}

/// Returns the entries with these attributes if a service follows the tree; `None` if it is to be read.
fn followed(args: &ListArgs, want: FieldMask) -> Option<Followed> {
    let is_alone = args.exec.is_empty() && args.exec_batch.is_empty();
    let columns = lines::columns(&args.lines, false);
    let others = [Column::Target, Column::Nlink];
    if !is_alone || columns.iter().any(|column| others.contains(column)) {
        return None;
    }
    let followed = followed::entries_of(&args.ask, &args.walk, want)?;
    if !args.lines.is_for_programs() {
        output::note(&followed.text());
    }
    Some(followed)
}

struct Source<'a> {
    plan: ScanPlan,
    /// A snapshot, which the plan filters instead of walking.
    stored: Option<StoredEntries<'a>>,
    cancel: Cancel,
}

/// Writes the entries to `output`, in the order and number that the arguments request. Returns their number, too.
fn print<W: Write + Send>(
    args: &ListArgs,
    source: &Source<'_>,
    mut output: ListOutput<W>,
    line: ProgressLine,
) -> Result<(ExitStatus, u64), CliError> {
    output = lines::ordered(&args.lines, output);
    output.with_totals = args.total;
    let output = Arc::new(output);
    let errors = if args.errors { usize::MAX } else { Diagnostics::DEFAULT_KEPT };
    let sink = || ListSink::new(Arc::clone(&output), errors);
    let Source { plan, stored, cancel } = source;
    let (sink, interrupted, delivered) = if let Some(stored) = stored {
        let (sink, delivered) = stored.deliver(plan, sink())?;
        (sink, cancel.is_cancelled(), delivered)
    } else if let Some(mut followed) = followed(args, plan.stored_fields(&sink())) {
        let (mut sink, delivered) = plan.run_on(&mut followed.entries, sink())?;
        let errors = followed.entries.take_errors().into_iter();
        errors.for_each(|error| sink.diagnostics.add(error));
        (sink, cancel.is_cancelled(), delivered.map_err(CliError::from))
    } else {
        let outcome = plan.run(sink)?;
        (outcome.sink, outcome.interrupted, Ok(()))
    };
    drop(line);

    let entries = sink.entries;
    let (mut diagnostics, totals) = sink.finish();
    output.finish()?;
    delivered?;
    if let Some(totals) = totals {
        stream::stdout().write_all(human::total_lines(&totals, args.lines.bytes).as_bytes())?;
    }
    if let (Some(stored), false) = (stored, interrupted) {
        stored.show_errors(args.errors);
        return Ok((stored.end(), entries));
    }
    diagnostics.sort();
    output::show_errors(&diagnostics, args.errors);
    Ok((ExitStatus::from_diagnostics(&diagnostics, interrupted), entries))
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
