//! `transect lab import`: prints listings of the file transform article as tables with verdicts.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use transect_lab::published::import::listing::{self, ListedRun};
use transect_lab::published::import::{self, Difference, ImportedListing};
use transect_lab::report;

use super::error::cannot;
use crate::args::LabImportArgs;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::json::PathEntry;
use transect_program::output;
use transect_text::quote;

/// The object that `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    sessions: Vec<Session<'a>>,
    sequential: Vec<Difference>,
}

/// A file of listings.
#[derive(Serialize)]
struct Session<'a> {
    #[serde(flatten)]
    path: PathEntry<'a>,
    #[serde(flatten)]
    imported: &'a ImportedListing,
}

pub(crate) fn run(args: &LabImportArgs) -> Result<ExitStatus, CliError> {
    let mut listings = Vec::new();
    for file in &args.files {
        listings.push(read(file)?);
    }
    let mut text = output::buffer();
    if args.csv {
        let names: Vec<_> = args.files.iter().map(|file| file.to_string_lossy()).collect();
        let files = names.iter().map(AsRef::as_ref).zip(listings.iter().map(Vec::as_slice));
        text.write_all(report::import::csv(files).as_bytes())?;
        output::print(text)?;
        return Ok(ExitStatus::Complete);
    }
    let sessions: Vec<ImportedListing> =
        listings.iter().map(|samples| import::import(samples)).collect();
    let sequential = import::sequential(&sessions);
    if args.json {
        let files = args.files.iter().map(|file| file.as_path().into());
        let sessions =
            files.zip(&sessions).map(|(path, imported)| Session { path, imported }).collect();
        let report = Report { schema: "transect.lab.import/1", sessions, sequential };
        output::write_json(&mut text, &report)?;
    } else {
        let files = args.files.iter().map(|file| file.as_path());
        report::import::write(&mut text, files.zip(&sessions), &sequential)?;
    }
    output::print(text)?;
    Ok(ExitStatus::Complete)
}

fn read(file: &Path) -> Result<Vec<ListedRun>, CliError> {
    let bytes = transect_sys::input::read_regular(file).map_err(cannot("read", file))?;
    // Bytes that are not UTF-8 become an error with their line number.
    listing::parse(&String::from_utf8_lossy(&bytes)).map_err(|error| {
        let (file, error) =
            (quote::for_terminal(file.as_os_str()), quote::for_terminal(error.as_ref()));
        CliError::Failed(format!("'{file}': {error}"))
    })
}
