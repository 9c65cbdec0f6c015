//! `transect watch`: prints what changes in a tree.

use std::io;

use transect::Cancel;
use transect_live::{Cursor, LiveTree};

use crate::args::WatchArgs;
use crate::followed::{self, FollowedChanges};
use crate::output;
use crate::output::change_lines::ChangeLines;
use crate::output::json::{PathEntry, object};
use crate::output::units::counted;
use transect_program::{CliError, ExitStatus, cancel_on_signal, on_signal};

pub(crate) fn run(args: &WatchArgs) -> Result<ExitStatus, CliError> {
    let end = cancel_on_signal()?;
    match followed::changes_of(&args.ask, &args.path) {
        Some(followed) => watch_followed(args, followed, &end),
        None => watch(args, &end),
    }
}

fn watch(args: &WatchArgs, end: &Cancel) -> Result<ExitStatus, CliError> {
    transect_sys::host::raise_handle_limit();
    let mut tree = LiveTree::open(&args.path, end)?;
    let waker = tree.waker();
    on_signal(move || waker.wake())?;
    output::show_errors(tree.table().diagnostics(), false);
    begin(args, tree.table().len(), tree.unwatched(), None)?;
    let is_complete =
        |tree: &LiveTree| tree.unwatched() == 0 && tree.table().diagnostics().is_complete();
    let mut status = ExitStatus::complete_if(is_complete(&tree));
    while let Some(update) = tree.next(end)? {
        status = ExitStatus::complete_if(is_complete(&tree));
        lines(args).print(&update.changes, update.was_gap)?;
        if update.is_root_gone {
            say_gone(args);
            return Ok(status);
        }
        if args.once && !update.changes.is_empty() {
            return Ok(status);
        }
    }
    Ok(if end.is_cancelled() { ExitStatus::Interrupted } else { status })
}

/// Prints what a service reports that follows the tree.
fn watch_followed(
    args: &WatchArgs,
    mut followed: FollowedChanges,
    end: &Cancel,
) -> Result<ExitStatus, CliError> {
    let closer = followed.closer();
    on_signal(move || closer.close())?;
    let first = followed.since(None, false)?.header;
    if !args.json {
        output::note(&followed.text());
    }
    if first.errors > 0 {
        let errors = counted(first.errors, "error", "errors");
        output::note(&format!("{errors} in the tree: changes there are not printed"));
    }
    begin(args, first.entries, first.unwatched, Some(first.cursor))?;
    let mut cursor = first.cursor;
    loop {
        let since = match followed.since(Some(cursor), true) {
            Err(_) if end.is_cancelled() => return Ok(ExitStatus::Interrupted),
            since => since?,
        };
        let status =
            ExitStatus::complete_if(since.header.unwatched == 0 && since.header.errors == 0);
        cursor = since.header.cursor;
        let Some(changes) = since.changes else {
            return Err(CliError::failed(
                "changes came faster than they were printed, and some were lost",
            ));
        };
        lines(args).print(&changes, since.header.was_gap)?;
        if since.header.is_root_gone {
            say_gone(args);
            return Ok(status);
        }
        if args.once && !changes.is_empty() {
            return Ok(status);
        }
    }
}

fn lines(args: &WatchArgs) -> ChangeLines {
    ChangeLines { json: args.json, null: args.null }
}

fn say_gone(args: &WatchArgs) {
    output::note(&format!("'{}' is not there any more", args.path.display()));
}

/// Says that the tree is watched from now on.
fn begin(args: &WatchArgs, entries: u64, unwatched: u64, cursor: Option<Cursor>) -> io::Result<()> {
    if unwatched > 0 {
        let directories = counted(unwatched, "directory is", "directories are");
        output::note(&format!("{directories} not watched: changes there are not printed"));
        if cfg!(target_os = "linux") {
            output::hint("`sysctl fs.inotify.max_user_watches` shows how many a user may watch");
        }
    }
    if args.json {
        let ready = object! {
            event: "ready",
            schema: "transect.watch/1",
            ..root: PathEntry::from(&*args.path),
            entries: entries,
            unwatched: unwatched,
            cursor: cursor.map(|cursor| cursor.to_string()),
        };
        return output::print_json(&ready);
    }
    let (path, entries) = (args.path.display(), counted(entries, "entry", "entries"));
    output::note(&format!("watching '{path}', {entries}"));
    Ok(())
}
