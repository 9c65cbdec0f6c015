//! `transect patch`: replaces bytes of a file.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use transect::Cancel;
use transect_transform::pass::PassOptions;
use transect_transform::patch::{self, InPlaceOptions, Patch, PatchReport};
use transect_transform::publish::{Existing, ReplaceOptions};
use transect_transform::{Error, Rejection};

use crate::args::PatchArgs;
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::cancel_on_signal;
use crate::output::json::PathEntry;
use crate::output::units::counted;
use crate::output::{self, quote, stream};

/// The object of `--json`.
#[derive(Serialize)]
struct JsonReport<'a> {
    schema: &'static str,
    #[serde(flatten)]
    path: PathEntry<'a>,
    /// The number of changed bytes; unknown for a new file.
    changed: Option<u64>,
    journal: Option<PathEntry<'a>>,
}

/// The result of a patch.
struct Applied {
    path: PathBuf,
    changed: Option<u64>,
    journal: Option<PathBuf>,
}

impl From<PatchReport> for Applied {
    fn from(PatchReport { path, changed, journal, .. }: PatchReport) -> Self {
        Self { path, changed: Some(changed), journal }
    }
}

pub(crate) fn run(args: &PatchArgs) -> Result<ExitStatus, CliError> {
    let cancel = cancel_on_signal()?;
    match apply(args, cancel) {
        Err(CliError::Transform(Error::Cancelled { .. })) => Ok(ExitStatus::Interrupted),
        done => show(args, &done?),
    }
}

fn apply(args: &PatchArgs, cancel: Cancel) -> Result<Applied, CliError> {
    let options = InPlaceOptions::default().keep_journal(args.keep_journal).cancel(cancel.clone());
    if args.undo {
        return Ok(patch::undo(&args.file)?.into());
    }
    if args.resume {
        return Ok(patch::resume(&args.file, &options)?.into());
    }
    let patch = patch(args)?;
    if args.in_place {
        let applied = patch.apply_in_place(&args.file, &options);
        return Ok(applied.inspect_err(hint_at_journal)?.into());
    }
    let Some(target) = args.output.as_deref() else {
        let why = "no destination given; use --in-place or --output PATH";
        return Err(CliError::Usage(why.to_owned()));
    };
    let pass = PassOptions::default().cancel(cancel);
    let path = new_file(&patch, args, target, &pass)?;
    Ok(Applied { path, changed: None, journal: None })
}

fn patch(args: &PatchArgs) -> Result<Patch, CliError> {
    let patch = match &args.with {
        Some(file) => Patch::read(file)?,
        None if args.edits.is_empty() => {
            let why = "no edits given; write OFFSET:OLD:NEW or use --with FILE";
            return Err(CliError::Usage(why.to_owned()));
        }
        None => {
            Patch::parse_words(&args.edits).map_err(|wrong| CliError::Usage(wrong.to_string()))?
        }
    };
    if !patch.checks_input() {
        output::hint("this patch has no checksum of its input; check that it belongs to this file");
    }
    Ok(patch)
}

/// Prints a hint if a journal of an earlier run blocks the patch. The error implies that only this
/// user can have written it.
fn hint_at_journal(error: &Error) {
    if let Error::Rejected { reason: Rejection::UndoJournal, .. } = error {
        output::hint(
            "an earlier patch left this journal; --undo restores the old bytes, --resume completes it",
        );
    }
}

fn new_file(
    patch: &Patch,
    args: &PatchArgs,
    target: &Path,
    pass: &PassOptions,
) -> Result<PathBuf, Error> {
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    let options = ReplaceOptions::default().existing(existing);
    let published = patch.apply(&args.file, target, pass, options)?;
    output::report_lost_metadata(&published.path, &published.lost_metadata);
    Ok(published.path)
}

fn show(args: &PatchArgs, outcome: &Applied) -> Result<ExitStatus, CliError> {
    let Applied { path, changed, journal } = outcome;
    if args.json {
        let journal = journal.as_deref().map(Into::into);
        let path = path.as_path().into();
        let done = JsonReport { schema: "transect.patch/1", path, changed: *changed, journal };
        output::write_json(&mut stream::stdout(), &done)?;
        return Ok(ExitStatus::Complete);
    }
    let mut line = quote::for_terminal(path.as_os_str());
    if let Some(changed) = changed {
        line += &format!(": {} changed", counted(*changed, "byte", "bytes"));
    }
    if let Some(journal) = journal {
        line += &format!(
            "; --undo restores the old bytes from '{}'",
            quote::for_terminal(journal.as_os_str())
        );
    }
    line.push('\n');
    stream::stdout().write_all(line.as_bytes())?;
    Ok(ExitStatus::Complete)
}
