//! `transect watch`: prints what changes in a tree.

use std::io::{self, Write};
use std::path::Path;

use anstyle::Style;
use serde::Serialize;
use transect_live::{Change, ChangeKind, LiveTree, Update};

use crate::args::WatchArgs;
use crate::output::json::{self, PathEntry, object};
use crate::output::units::counted;
use crate::output::{self, BOLD, ERROR, GOOD, WARN, quote, stream};
use transect_program::{CliError, ExitStatus, cancel_on_signal, on_signal};

pub(crate) fn run(args: &WatchArgs) -> Result<ExitStatus, CliError> {
    let end = cancel_on_signal()?;
    transect_sys::host::raise_handle_limit();
    let mut tree = LiveTree::open(&args.path, &end)?;
    let waker = tree.waker();
    on_signal(move || waker.wake())?;
    begin(args, &tree)?;
    let mut status = ExitStatus::complete_if(is_complete(&tree));
    while let Some(update) = tree.next(&end)? {
        status = ExitStatus::complete_if(is_complete(&tree));
        print(args, &update)?;
        if update.is_root_gone {
            let path = args.path.display();
            output::note(&format!("'{path}' is not there any more"));
            return Ok(status);
        }
        if args.once && !update.changes.is_empty() {
            return Ok(status);
        }
    }
    Ok(if end.is_cancelled() { ExitStatus::Interrupted } else { status })
}

fn is_complete(tree: &LiveTree) -> bool {
    tree.unwatched() == 0 && tree.table().diagnostics().is_complete()
}

/// Says that the tree is watched from now on.
fn begin(args: &WatchArgs, tree: &LiveTree) -> io::Result<()> {
    let (table, unwatched) = (tree.table(), tree.unwatched());
    output::show_errors(table.diagnostics(), false);
    if unwatched > 0 {
        let directories = counted(unwatched, "directory is", "directories are");
        output::note(&format!("{directories} not watched: changes there are not printed"));
        output::hint("`sysctl fs.inotify.max_user_watches` shows how many a user may watch");
    }
    if args.json {
        let ready = object! {
            event: "ready",
            schema: "transect.watch/1",
            ..root: PathEntry::from(tree.root()),
            entries: table.len(),
            unwatched: unwatched,
        };
        return output::print_json(&ready);
    }
    let (path, entries) = (args.path.display(), counted(table.len(), "entry", "entries"));
    output::note(&format!("watching '{path}', {entries}"));
    Ok(())
}

fn print(args: &WatchArgs, update: &Update) -> io::Result<()> {
    if update.was_gap {
        match args.json {
            true => output::print_json(&object! { event: "gap" })?,
            false => output::note("notifications were lost; the whole tree was compared"),
        }
    }
    let is_painted = stream::stdout_colours() != anstream::ColorChoice::Never;
    let mut out = io::BufWriter::new(match is_painted && !args.json && !args.null {
        true => stream::painted_stdout(),
        false => stream::stdout(),
    });
    for change in &update.changes {
        if args.json {
            output::write_json(&mut out, &change_object(change))?;
        } else if !args.null {
            let (style, line) = line(change);
            match is_painted {
                true => writeln!(out, "{style}{line}{style:#}")?,
                false => writeln!(out, "{line}")?,
            }
        } else if change.kind != ChangeKind::Removed {
            out.write_all(change.path.as_os_str().as_encoded_bytes())?;
            out.write_all(b"\0")?;
        }
    }
    out.flush()
}

fn line(change: &Change) -> (Style, String) {
    let (mark, style) = match change.kind {
        ChangeKind::Added => ('+', GOOD),
        ChangeKind::Removed => ('-', ERROR),
        ChangeKind::Renamed => ('>', BOLD),
        _ => ('~', WARN),
    };
    let quoted = |path: &Path| {
        let slash = if change.file_type.is_dir() { "/" } else { "" };
        format!("{}{slash}", quote::for_terminal(path.as_os_str()))
    };
    let path = quoted(&change.path);
    match &change.from {
        Some(from) => (style, format!("{mark} {} → {path}", quoted(from))),
        None => (style, format!("{mark} {path}")),
    }
}

fn change_object(change: &Change) -> impl Serialize {
    let from = change.from.as_deref();
    let from_raw = from.filter(|from| from.to_str().is_none());
    object! {
        change: change.kind.as_str(),
        ..path: PathEntry::from(change.path.as_path()),
        from: from.map(|from| from.to_string_lossy().into_owned()),
        from_raw: from_raw.map(|from| json::hex(from.as_os_str().as_encoded_bytes())),
        r#type: change.file_type.as_str(),
    }
}
