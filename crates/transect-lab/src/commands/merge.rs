//! `transect lab merge`: shows the sessions of several machines in one table.

use std::io::Write;

use transect_lab::harness::log::{SessionData, SessionLog};
use transect_lab::ranking::merge::{Source, merge};
use transect_lab::report::merged;

use super::error::lab;
use crate::args::LabMergeArgs;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::output;

pub(crate) fn run(args: &LabMergeArgs) -> Result<ExitStatus, CliError> {
    let sessions = args.sessions.iter().map(|file| SessionLog::read(file).map_err(lab));
    let sessions: Vec<SessionData> = sessions.collect::<Result<_, _>>()?;
    let files = args.sessions.iter().map(|file| file.display().to_string());
    let sources: Vec<Source<'_>> =
        files.zip(&sessions).map(|(file, data)| Source { file, data }).collect();
    let merged = merge(&sources).map_err(CliError::Failed)?;
    let mut text = output::buffer();
    match () {
        () if args.json => output::write_json(&mut text, &merged)?,
        () if args.csv => write!(text, "{}", merged::csv(&merged))?,
        () if args.markdown => merged::write_markdown(&mut text, &merged)?,
        () => merged::write(&mut text, &merged, output::terminal_width())?,
    }
    output::print(text)?;
    Ok(ExitStatus::Complete)
}
