//! `transect duplicates`: finds files of the same content, and removes, links or clones copies.

mod act;
mod digests;
mod found;
mod json;
mod text;

use std::sync::Arc;
use std::time::Instant;

use transect::{Cancel, FieldMask, Progress};
use transect_duplicates::{Action, COLUMNS, FindOptions, Phase};

use crate::args::DuplicatesArgs;
use crate::commands::snapshot;
use crate::output;
use crate::output::units::{bytes, count};
use crate::profile;
use crate::progress::{ProgressLine, walk_line};
use found::Found;
use transect_program::{CliError, ExitStatus, cancel_on_signal};

pub(crate) fn run(args: &DuplicatesArgs) -> Result<ExitStatus, CliError> {
    let action = args.action()?;
    if action.is_some() {
        act::check_can_ask(args)?;
    }
    let cancel = cancel_on_signal()?;
    let found = find(args, action, &cancel)?;
    let diagnostics = found.table.diagnostics();
    let nothing_read = diagnostics.failed_roots == found.walk.roots as u64;
    // The JSON object lists the errors itself.
    if nothing_read || !(args.json && args.errors) {
        output::show_errors(diagnostics, args.errors);
        output::show_errors(&found.duplicates.diagnostics, args.errors);
    }
    if nothing_read {
        return Ok(found.status());
    }
    // Before an action: what it changes has other times then.
    let is_stored = args.digests.as_ref().is_none_or(|file| digests::write(file, &found));
    if !args.json {
        text::write(args, &found)?;
    }
    let acted = match action {
        Some(action) if !found.interrupted() => act::run(args, &found, action, &cancel)?,
        _ => None,
    };
    if args.json {
        json::print(args, &found, acted.as_ref())?;
    } else if let Some(acted) = &acted {
        text::write_acted(acted)?;
    }
    let status = acted.as_ref().map_or(found.status(), |acted| acted.status(found.status()));
    Ok(status.max(ExitStatus::complete_if(is_stored)))
}

fn find(args: &DuplicatesArgs, action: Option<Action>, cancel: &Cancel) -> Result<Found, CliError> {
    let digests = args.digests.as_deref().map(digests::read).transpose()?;
    let began = Instant::now();
    let progress = Arc::new(Progress::new());
    let (options, _) = profile::scan_options(&args.walk);
    let mut find_options = FindOptions::default();
    find_options.threads = args.walk.threads.map(usize::from);
    find_options.empty_files = args.empty_files;
    find_options.follow = args.walk.filter.follow;
    find_options.keep.prefer.clone_from(&args.prefer);
    find_options.keep.rule = args.keep.unwrap_or_default();
    find_options.cancel = cancel.clone();
    find_options.digests = digests.map(Arc::new);
    let line = ProgressLine::start_with(args.progress, true, {
        let (progress, search) = (Arc::clone(&progress), Arc::clone(&find_options.progress));
        move |elapsed| match search.phase() {
            Phase::Walk => walk_line(&progress, elapsed),
            phase => {
                let what = if phase == Phase::Ends { "beginnings and ends" } else { "files" };
                let (done, total) = search.files();
                let read = bytes(search.bytes());
                format!("{} of {} {what} read  {read}", count(done), count(total))
            }
        }
    });
    let mut columns = COLUMNS | FieldMask::MTIME;
    columns.set(FieldMask::CTIME, find_options.digests.is_some());
    let (table, walk) = snapshot::walk(options, columns, args.errors, None, cancel, &progress)?;
    let duplicates = transect_duplicates::find(&table, &find_options);
    drop(line);
    let top = args.top.map_or(usize::MAX, |top| top as usize);
    let shown = duplicates.groups.len().min(top);
    let (known, elapsed) = (find_options.digests, began.elapsed());
    Ok(Found { table, walk, duplicates, known, elapsed, shown, action })
}
