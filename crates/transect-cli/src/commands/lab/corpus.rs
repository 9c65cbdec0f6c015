//! `transect lab corpus`: trees with a fixed content.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use transect::Cancel;
use transect_lab::corpus::{self, Created, DEFINITIONS, Definition, Report};

use crate::args::CorpusCommand;
use crate::exit::{End, Fatal};
use crate::interrupt::cancel_on_signal;
use crate::output::units::{bytes, count, duration};
use crate::output::{self, BOLD, DIM, quote};
use crate::progress::StatusLine;

pub(crate) fn run(command: &CorpusCommand) -> Result<End, Fatal> {
    match command {
        CorpusCommand::List { json } => list(*json),
        CorpusCommand::Create { name, dir } => create(find(name)?, dir),
        CorpusCommand::Verify { name, dir } => verify(find(name)?, dir),
    }
}

fn find(name: &str) -> Result<&'static Definition, Fatal> {
    corpus::find(name).ok_or_else(|| {
        let names: Vec<&str> = DEFINITIONS.iter().map(|definition| definition.name).collect();
        Fatal::Lab(format!("no corpus is called '{name}': there are {}", names.join(", ")))
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

fn list(json: bool) -> Result<End, Fatal> {
    let mut text = output::buffer();
    if !json {
        writeln!(
            text,
            "{BOLD}{:<10} {:>10} {:>11} {:>10} {:>10}{BOLD:#}",
            "corpus", "files", "directories", "lengths", "needs"
        )?;
    }
    for definition in DEFINITIONS {
        let Definition { name, files, directories, bytes: lengths, seed, about, .. } = *definition;
        let needs = definition.needs();
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
    output::print(text)?;
    Ok(End::Complete)
}

fn create(definition: &Definition, dir: &Path) -> Result<End, Fatal> {
    let Some(report) = make(definition, dir, &cancel_on_signal()?)? else {
        return Ok(End::Interrupted);
    };
    let Created { files, directories, bytes: lengths, .. } = report.created;
    let mut text = output::buffer();
    writeln!(
        text,
        "{}: {} files, {} directories, {} of length, made in {}, counted in {}",
        quote::for_terminal(dir.as_os_str()),
        count(files),
        count(directories),
        bytes(lengths),
        duration(report.making),
        duration(report.counting)
    )?;
    output::print(text)?;
    Ok(End::Complete)
}

/// Makes a corpus, with progress on a terminal; nothing if somebody interrupts.
fn make(definition: &Definition, dir: &Path, cancel: &Cancel) -> Result<Option<Report>, Fatal> {
    let needs = definition.needs();
    output::hint(&format!("'{}' needs at most {needs}", definition.name));
    let all = definition.files + definition.directories;
    let mut status = StatusLine::on_a_terminal();
    let mut show = |made: Created| {
        if let Some(status) = &mut status {
            let done = made.files + made.directories;
            let percent = done * 100 / all.max(1);
            status.show(format!("{} of {} entries, {percent} %", count(done), count(all)));
        }
    };
    match corpus::create(definition, dir, &mut show, cancel) {
        Ok(report) => Ok(Some(report)),
        Err(_) if cancel.is_cancelled() => Ok(None),
        Err(error) => Err(Fatal::Lab(error.to_string())),
    }
}

/// Returns where a corpus is in a folder of corpora; makes it if it is not there.
pub(super) fn have(
    definition: &Definition,
    folder: &Path,
    cancel: &Cancel,
) -> Result<Option<PathBuf>, Fatal> {
    let dir = folder.join(definition.name);
    if dir.exists() {
        corpus::verify(definition, &dir).map_err(|error| Fatal::Lab(error.to_string()))?;
        return Ok(Some(dir));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        let reason = transect::reason(&error);
        Fatal::Lab(format!("cannot create '{}': {reason}", folder.display()))
    })?;
    output::hint(&format!("making '{}' in '{}'", definition.name, dir.display()));
    Ok(make(definition, &dir, cancel)?.map(|_| dir))
}

fn verify(definition: &Definition, dir: &Path) -> Result<End, Fatal> {
    corpus::verify(definition, dir).map_err(|error| Fatal::Lab(error.to_string()))?;
    let mut text = output::buffer();
    let dir = quote::for_terminal(dir.as_os_str());
    writeln!(text, "{dir} is '{}', as far as counts tell", definition.name)?;
    output::print(text)?;
    Ok(End::Complete)
}
