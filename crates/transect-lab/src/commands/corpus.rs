//! `transect lab corpus`: trees with a fixed content.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use transect::Cancel;
use transect_lab::corpora::{self, CORPORA, Corpus, SpaceNeeded, TreeCounts};
use transect_lab::harness::error::cannot;
use transect_sys::check_output_path;

use crate::args::CorpusCommand;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::interrupt::cancel_on_signal;
use transect_program::output;
use transect_program::status_line::StatusLine;
use transect_text::quote;
use transect_text::style::{BOLD, DIM};
use transect_text::units::{bytes, count};

pub(crate) fn run(command: &CorpusCommand) -> Result<ExitStatus, CliError> {
    match command {
        CorpusCommand::List { json } => list(*json),
        CorpusCommand::Create { name, dir } => create(find(name)?, dir),
    }
}

fn find(name: &str) -> Result<&'static Corpus, CliError> {
    corpora::find(name).ok_or_else(|| {
        let names: Vec<&str> = CORPORA.iter().map(|definition| &*definition.name).collect();
        CliError::Failed(format!("no corpus is called '{name}': there are {}", names.join(", ")))
    })
}

/// One line of `--json`.
#[derive(Serialize)]
struct Row<'c> {
    #[serde(flatten)]
    corpus: &'c Corpus,
    needs_bytes: u64,
    needs_inodes: u64,
}

fn list(json: bool) -> Result<ExitStatus, CliError> {
    let mut text = output::buffer();
    if json {
        for corpus in CORPORA.iter() {
            let SpaceNeeded { bytes: needs_bytes, inodes: needs_inodes } = corpus.space_needed();
            output::write_json(&mut text, &Row { corpus, needs_bytes, needs_inodes })?;
        }
        output::print(text)?;
    } else {
        writeln!(
            text,
            "{BOLD}{:<10} {:>10} {:>11} {:>10} {:>10}{BOLD:#}",
            "corpus", "files", "directories", "lengths", "needs"
        )?;
        for corpus in CORPORA.iter() {
            let Corpus { name, about, .. } = corpus;
            writeln!(
                text,
                "{name:<10} {:>10} {:>11} {:>10} {:>10}  {DIM}{about}{DIM:#}",
                count(corpus.files),
                count(corpus.directories),
                bytes(corpus.bytes),
                bytes(corpus.space_needed().bytes),
            )?;
        }
        output::print_wrapped(text)?;
    }
    Ok(ExitStatus::Complete)
}

fn create(definition: &Corpus, dir: &Path) -> Result<ExitStatus, CliError> {
    check_output_path(dir).map_err(cannot("create", dir))?;
    if !make(definition, dir, &cancel_on_signal()?)? {
        return Ok(ExitStatus::Interrupted);
    }
    let Corpus { files, directories, bytes: lengths, .. } = *definition;
    let mut text = output::buffer();
    writeln!(
        text,
        "{}: {} files, {} directories, {} of length",
        quote::for_terminal(dir.as_os_str()),
        count(files),
        count(directories),
        bytes(lengths),
    )?;
    output::print_wrapped(text)?;
    Ok(ExitStatus::Complete)
}

/// Creates a corpus, with progress on a terminal; returns false if interrupted.
fn make(definition: &Corpus, dir: &Path, cancel: &Cancel) -> Result<bool, CliError> {
    let needs = definition.space_needed();
    output::hint(&format!("'{}' needs at most {needs}", definition.name));
    let all = definition.files + definition.directories;
    let mut status = StatusLine::on_terminal();
    let mut show = |made: TreeCounts| {
        let done = made.files + made.directories;
        let percent = done * 100 / all.max(1);
        status.show(|| format!("{} of {} entries, {percent} %", count(done), count(all)));
    };
    match corpora::create(definition, dir, &mut show, cancel) {
        Ok(()) => Ok(true),
        Err(_) if cancel.is_cancelled() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns the path of a corpus in a directory of corpora, and creates the corpus if it is missing.
pub(super) fn have(
    definition: &Corpus,
    folder: &Path,
    cancel: &Cancel,
) -> Result<Option<PathBuf>, CliError> {
    let dir = folder.join(&definition.name);
    if dir.exists() {
        corpora::verify(definition, &dir)?;
        return Ok(Some(dir));
    }
    let made = check_output_path(folder).and_then(|()| std::fs::create_dir_all(folder));
    made.map_err(cannot("create", folder))?;
    output::hint(&format!("making '{}' in '{}'", definition.name, dir.display()));
    Ok(make(definition, &dir, cancel)?.then_some(dir))
}
