//! Git's hook `fsmonitor`, version 2 (githooks(5), "fsmonitor-watchman"): a token, and the paths that changed since the last
//! one, each ended with NUL. A directory ends with a slash and stands for all below it; a slash alone for everything.

use std::io::{BufWriter, Write};
use std::path::Path;

use transect_live::{Change, ChangeKind};

use crate::args::{AskLive, AskLiveArgs, GitHookArgs};
use crate::output::stream;
use crate::{followed, root_path};
use transect_program::{CliError, ExitStatus};

const EVERYTHING: &[u8] = b"/\0";

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
    let mut out = BufWriter::new(stream::stdout());
    write!(out, "{}\0", since.header.cursor)?;
    // The first token of git is a time.
    match since.changes.filter(|_| cursor.is_some()) {
        Some(changes) => {
            for change in &changes {
                write_paths(&mut out, change, &here)?;
            }
        }
        None => out.write_all(EVERYTHING)?,
    }
    out.flush()?;
    Ok(ExitStatus::Complete)
}

fn write_paths(out: &mut impl Write, change: &Change, here: &Path) -> std::io::Result<()> {
    for path in [Some(&change.path), change.from.as_ref()].into_iter().flatten() {
        // Of a directory above that was renamed, only its path is known.
        if here.starts_with(path) && change.kind != ChangeKind::Modified {
            return out.write_all(EVERYTHING);
        }
        let Ok(below) = path.strip_prefix(here) else { continue };
        if below.as_os_str().is_empty() || below.starts_with(".git") {
            continue;
        }
        out.write_all(below.as_os_str().as_encoded_bytes())?;
        let is_whole = change.file_type.is_dir() && change.kind != ChangeKind::Modified;
        out.write_all(if is_whole { b"/\0" } else { b"\0" })?;
    }
    Ok(())
}
