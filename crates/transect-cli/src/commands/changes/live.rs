//! What changed since a cursor in a tree that `transect live` follows.

use std::io::Write;
use std::path::Path;

use transect_live::Cursor;

use crate::args::{AskLive, AskLiveArgs, ChangesArgs};
use crate::followed;
use crate::output::change_lines::ChangeLines;
use crate::output::json::object;
use crate::output::{self, stream};
use transect_program::{CliError, ExitStatus};

/// Prints the changes and the next cursor; without a cursor, only that of now.
pub(super) fn run(
    args: &ChangesArgs,
    path: &Path,
    cursor: Option<Cursor>,
) -> Result<ExitStatus, CliError> {
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
            output::error(
                &"the cursor is of another service or too old: anything may have changed",
            );
        }
        output::note(&format!("cursor {next}"));
    }
    Ok(ExitStatus::complete_if(is_known && since.header.errors == 0))
}
