//! What changed since a cursor in a tree that `transect live` follows.

use std::io::Write;
use std::path::Path;

use transect_live::Cursor;

use super::cursor_list::CursorList;
use crate::args::{AskLive, AskLiveArgs, ChangesArgs, ListFor};
use crate::followed;
use crate::output::change_lines::ChangeLines;
use crate::output::json::object;
use crate::output::{self, stream};
use transect_program::{CliError, ExitStatus};

const LOST: &str = "the cursor is of another service or too old: anything may have changed";

/// Prints the changes and the next cursor; without a cursor, only that of now.
pub(super) fn run(
    args: &ChangesArgs,
    path: &Path,
    cursor: Option<Cursor>,
) -> Result<ExitStatus, CliError> {
    refuse_options_of_snapshots(args)?;
    let Some(mut followed) = followed::changes_of(&AskLiveArgs { live: AskLive::Auto }, path)
    else {
        let path = path.display();
        return Err(CliError::Failed(format!(
            "'{path}' is not followed, so it has no cursors; start `transect live {path}`"
        )));
    };
    let since = followed.since(cursor, false)?;
    if since.header.is_root_gone {
        return Err(CliError::Failed(format!("'{}' is not there any more", path.display())));
    }
    let next = since.header.cursor;
    if cursor.is_none() {
        writeln!(stream::stdout(), "{next}")?;
        return Ok(ExitStatus::Complete);
    }
    let is_known = since.changes.is_some();
    if let Some(tool) = args.list_for {
        let Some(changes) = since.changes else {
            output::error(&LOST);
            return Ok(ExitStatus::Partial);
        };
        let mut list = CursorList::new(path, &changes, tool)?;
        stream::stdout().write_all(&list.text(path, tool))?;
        list.errors.iter().for_each(output::error);
        output::note(&format!("cursor {next}"));
        return Ok(ExitStatus::complete_if(since.header.errors == 0 && list.errors.is_empty()));
    }
    let lines = ChangeLines { json: args.comparison.json, null: args.null };
    lines.print(&since.changes.unwrap_or_default(), since.header.was_gap)?;
    if lines.json {
        let end = object! {
            event: if is_known { "end" } else { "lost" },
            schema: "transect.changes.live/1",
            cursor: next.to_string(),
        };
        output::print_json(&end)?;
    } else {
        if !is_known {
            output::error(&LOST);
        }
        output::note(&format!("cursor {next}"));
    }
    Ok(ExitStatus::complete_if(is_known && since.header.errors == 0))
}

/// Refuses what only snapshots can answer.
fn refuse_options_of_snapshots(args: &ChangesArgs) -> Result<(), CliError> {
    let of = &args.comparison;
    let given = [
        (of.summary, "--summary"),
        (of.top.is_some(), "--top"),
        (of.all, "--all"),
        (!of.ignore.is_empty(), "--ignore"),
        (of.verify, "--verify"),
        (of.one_file_system, "--one-file-system"),
        (of.exit_code, "--exit-code"),
        (args.rescan.rescan.is_some(), "--rescan"),
        (args.exact, "--exact"),
        (args.list_for == Some(ListFor::Rclone), "--for rclone"),
        (args.list_for.is_some() && args.null, "--null with --for"),
    ];
    match given.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(CliError::Failed(format!(
            "{option} cannot be used with a cursor of `transect live`"
        ))),
        None => Ok(()),
    }
}
