//! `transect split` and `transect join`.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use transect_transform::Error;
use transect_transform::publish::{Existing, ReplaceOptions};
use transect_transform::split::{self, JoinReport, SplitReport};

use crate::args::{JoinArgs, SplitArgs, SyncMode};
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::cancel_on_signal;
use crate::output::json::PathEntry;
use crate::output::units::{bytes, counted};
use crate::output::{self, quote, stream};

/// The object of `--json`.
#[derive(Serialize)]
struct JsonReport<'a> {
    schema: &'static str,
    #[serde(flatten)]
    path: PathEntry<'a>,
    parts: usize,
    size: u64,
    blake3: &'a str,
}

/// Splits a file into parts.
pub(crate) fn split(args: &SplitArgs) -> Result<ExitStatus, CliError> {
    let target = args.output.as_deref().unwrap_or(&args.file);
    let options = options(args.force, args.sync);
    let done = split::split(&args.file, target, args.size, options, &cancel_on_signal()?);
    let Some(SplitReport { manifest, parts, size, digest, .. }) = unless_cancelled(done)? else {
        return Ok(ExitStatus::Interrupted);
    };
    let (path, parts) = (manifest.as_path(), parts.len());
    let done =
        JsonReport { schema: "transect.split/1", path: path.into(), parts, size, blake3: &digest };
    show(args.json, "manifest", path, &done)
}

/// Joins parts into one file.
pub(crate) fn join(args: &JoinArgs) -> Result<ExitStatus, CliError> {
    let options = options(args.force, args.sync);
    let done = split::join(&args.manifest, &args.output, options, &cancel_on_signal()?);
    let Some(JoinReport { published, parts, size, digest, .. }) = unless_cancelled(done)? else {
        return Ok(ExitStatus::Interrupted);
    };
    let path = published.path.as_path();
    output::report_lost_metadata(path, &published.lost_metadata);
    let done =
        JsonReport { schema: "transect.join/1", path: path.into(), parts, size, blake3: &digest };
    show(args.json, "file", path, &done)
}

fn options(force: bool, sync: SyncMode) -> ReplaceOptions {
    ReplaceOptions::default()
        .existing(if force { Existing::Replace } else { Existing::Keep })
        .durability(sync.into())
}

/// Returns `None` if cancelled, which is not an error.
fn unless_cancelled<T>(done: Result<T, Error>) -> Result<Option<T>, Error> {
    match done {
        Err(Error::Cancelled { .. }) => Ok(None),
        done => done.map(Some),
    }
}

fn show(
    json: bool,
    what: &str,
    path: &Path,
    done: &JsonReport<'_>,
) -> Result<ExitStatus, CliError> {
    if json {
        output::write_json(&mut stream::stdout(), done)?;
        return Ok(ExitStatus::Complete);
    }
    let path = quote::for_terminal(path.as_os_str());
    let parts = counted(done.parts as u64, "part", "parts");
    let line = format!("{what} '{path}': {parts}, {}, blake3 {}\n", bytes(done.size), done.blake3);
    stream::stdout().write_all(line.as_bytes())?;
    Ok(ExitStatus::Complete)
}
