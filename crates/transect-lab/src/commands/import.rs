//! `transect lab import`: reports listings of the file transform article as a session.

use std::path::Path;

use transect_lab::published::listing::{self, ListedRun};

use super::error::cannot;
use super::report;
use crate::args::LabImportArgs;
use transect_program::exit::{CliError, ExitStatus};
use transect_text::quote;

pub(crate) fn run(args: &LabImportArgs) -> Result<ExitStatus, CliError> {
    let files = args.files.iter().map(|file| Ok((file.as_path(), read(file)?)));
    let listings = files.collect::<Result<Vec<_>, CliError>>()?;
    let session = listing::session(&listings).map_err(CliError::Failed)?;
    report::write(&session, &args.form, true)?;
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
