//! Git's hook `fsmonitor`, version 2: prints what changed since the last token.

use std::io::Write;
use std::path::Path;

use transect_service::git;

use crate::args::{AskLive, AskLiveArgs, GitHookArgs};
use crate::output::stream;
use crate::{followed, root_path};
use transect_program::{CliError, ExitStatus};

pub(super) fn run(args: &GitHookArgs) -> Result<ExitStatus, CliError> {
    let ask = AskLiveArgs { live: AskLive::Auto };
    // Git calls it in the top directory of the working tree.
    let here = root_path::resolved(Path::new("."));
    let Some((mut client, roots)) = followed::service(&ask) else {
        return Ok(ExitStatus::Partial);
    };
    let Some(root) = followed::lowest_of(&roots, &here) else { return Ok(ExitStatus::Partial) };
    let cursor = args.token.parse().ok();
    let Ok(since) = client.changes(root, cursor, false)? else { return Ok(ExitStatus::Partial) };
    // The first token of git is a time.
    let changes = since.changes.filter(|_| cursor.is_some() && !since.header.is_root_gone);
    let changes = changes.as_ref().map(|changes| changes.iter());
    let mut out = stream::stdout();
    out.write_all(&git::answer(&here, root, since.header.cursor, changes))?;
    out.flush()?;
    Ok(ExitStatus::Complete)
}
