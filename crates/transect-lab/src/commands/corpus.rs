//! `transect lab corpus`: trees and files with a fixed content.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;
use transect::Cancel;
use transect_lab::corpora::{
    self, CORPORA, Corpus, CreateProgress, CreateReport, FileError, FileSpec,
};
use transect_sys::check_output_path;
use transect_transform::publish::Existing;

use super::error::{cannot, lab};
use crate::args::{CorpusCommand, CorpusFileArgs};
use transect_program::exit::{CliError, ExitStatus};
use transect_program::interrupt::cancel_on_signal;
use transect_program::output;
use transect_program::status_line::{REDRAW_INTERVAL, StatusLine};
use transect_text::quote;
use transect_text::style::{BOLD, DIM};
use transect_text::units::{bytes, count, duration};

pub(crate) fn run(command: &CorpusCommand) -> Result<ExitStatus, CliError> {
    match command {
        CorpusCommand::List { json } => list(*json),
        CorpusCommand::Create { name, dir } => create(find(name)?, dir),
        CorpusCommand::CreateFile(args) => create_file(args),
        CorpusCommand::Verify { name, dir } => verify(find(name)?, dir),
    }
}

fn find(name: &str) -> Result<&'static Corpus, CliError> {
    corpora::find(name).ok_or_else(|| {
        let names: Vec<&str> = CORPORA.iter().map(|definition| definition.name).collect();
        CliError::Failed(format!("no corpus is called '{name}': there are {}", names.join(", ")))
    })
}

/// One line of `--json`.
#[derive(Serialize)]
struct Row {
    corpus: &'static str,
    files: u64,
    directories: u64,
    bytes: u64,
    seed: u64,
    needs_bytes: u64,
    needs_inodes: u64,
    about: &'static str,
}

fn list(json: bool) -> Result<ExitStatus, CliError> {
    let mut text = output::buffer();
    if !json {
        writeln!(
            text,
            "{BOLD}{:<10} {:>10} {:>11} {:>10} {:>10}{BOLD:#}",
            "corpus", "files", "directories", "lengths", "needs"
        )?;
    }
    for definition in CORPORA {
        let Corpus { name, files, directories, bytes: lengths, seed, about, .. } = *definition;
        let needs = definition.space_needed();
        if json {
            let row = Row {
                corpus: name,
                files,
                directories,
                bytes: lengths,
                seed,
                needs_bytes: needs.bytes,
                needs_inodes: needs.inodes,
                about,
            };
            output::write_json(&mut text, &row)?;
        } else {
            writeln!(
                text,
                "{name:<10} {:>10} {:>11} {:>10} {:>10}  {DIM}{about}{DIM:#}",
                count(files),
                count(directories),
                bytes(lengths),
                bytes(needs.bytes),
            )?;
        }
    }
    if json {
        output::print(text)?
    } else {
        output::print_wrapped(text)?
    }
    Ok(ExitStatus::Complete)
}

fn create(definition: &Corpus, dir: &Path) -> Result<ExitStatus, CliError> {
    check_output_path(dir).map_err(cannot("create", dir))?;
    let Some(report) = make(definition, dir, &cancel_on_signal()?)? else {
        return Ok(ExitStatus::Interrupted);
    };
    let CreateProgress { files, directories, bytes: lengths, .. } = report.created;
    let mut text = output::buffer();
    writeln!(
        text,
        "{}: {} files, {} directories, {} of length, made in {}, counted in {}",
        quote::for_terminal(dir.as_os_str()),
        count(files),
        count(directories),
        bytes(lengths),
        duration(report.create_time),
        duration(report.count_time)
    )?;
    output::print_wrapped(text)?;
    Ok(ExitStatus::Complete)
}

/// Creates a corpus, with progress on a terminal; `None` if interrupted.
fn make(
    definition: &Corpus,
    dir: &Path,
    cancel: &Cancel,
) -> Result<Option<CreateReport>, CliError> {
    let needs = definition.space_needed();
    output::hint(&format!("'{}' needs at most {needs}", definition.name));
    let all = definition.files + definition.directories;
    let mut status = StatusLine::on_terminal();
    let mut show = |made: CreateProgress| {
        if let Some(status) = &mut status {
            let done = made.files + made.directories;
            let percent = done * 100 / all.max(1);
            status.show(format!("{} of {} entries, {percent} %", count(done), count(all)));
        }
    };
    match corpora::create(definition, dir, &mut show, cancel) {
        Ok(report) => Ok(Some(report)),
        Err(_) if cancel.is_cancelled() => Ok(None),
        Err(error) => Err(lab(error)),
    }
}

fn create_file(args: &CorpusFileArgs) -> Result<ExitStatus, CliError> {
    let CorpusFileArgs { path, size, pattern, seed, force } = args;
    let definition = FileSpec { pattern: *pattern, size: *size as u64, seed: *seed };
    let existing = if *force { Existing::Replace } else { Existing::Keep };
    let cancel = cancel_on_signal()?;
    let mut status = StatusLine::on_terminal();
    let mut shown = Instant::now();
    let mut show = |written: u64| {
        if let Some(status) = &mut status
            && shown.elapsed() >= REDRAW_INTERVAL
        {
            shown = Instant::now();
            let percent = written as u128 * 100 / u128::from(definition.size.max(1));
            status.show(format!("{} of {}, {percent} %", bytes(written), bytes(definition.size)));
        }
    };
    let took = match corpora::create_file(&definition, path, existing, &mut show, &cancel) {
        Ok(took) => took,
        Err(FileError::Cancelled) => return Ok(ExitStatus::Interrupted),
        Err(error) => return Err(lab(error)),
    };
    drop(status);
    let data = definition.data_bytes();
    let mut text = output::buffer();
    write!(text, "{}: {}", quote::for_terminal(path.as_os_str()), bytes(definition.size))?;
    if data < definition.size {
        write!(text, " ({} of data)", bytes(data))?;
    }
    write!(text, ", {}", pattern.as_str())?;
    if pattern.uses_seed() {
        write!(text, " from seed {seed}")?;
    }
    let rate = bytes((data as f64 / took.as_secs_f64()) as u64);
    writeln!(text, ", written and synced in {} ({rate}/s)", duration(took))?;
    output::print(text)?;
    Ok(ExitStatus::Complete)
}

/// Returns the path of a corpus in a folder of corpora, and creates the corpus if it is missing.
pub(super) fn have(
    definition: &Corpus,
    folder: &Path,
    cancel: &Cancel,
) -> Result<Option<PathBuf>, CliError> {
    let dir = folder.join(definition.name);
    if dir.exists() {
        corpora::verify(definition, &dir).map_err(lab)?;
        return Ok(Some(dir));
    }
    let made = check_output_path(folder).and_then(|()| std::fs::create_dir_all(folder));
    made.map_err(cannot("create", folder))?;
    output::hint(&format!("making '{}' in '{}'", definition.name, dir.display()));
    Ok(make(definition, &dir, cancel)?.map(|_| dir))
}

fn verify(definition: &Corpus, dir: &Path) -> Result<ExitStatus, CliError> {
    corpora::verify(definition, dir).map_err(lab)?;
    let mut text = output::buffer();
    let dir = quote::for_terminal(dir.as_os_str());
    writeln!(text, "{dir} is '{}' by its counts", definition.name)?;
    output::print(text)?;
    Ok(ExitStatus::Complete)
}
