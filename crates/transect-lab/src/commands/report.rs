//! `transect lab report`: prints the results of a session in one of five forms.

use std::io::Write;
use std::path::Path;

use anstream::AutoStream;
use transect_lab::harness::log::{Session, SessionData};
use transect_lab::report::{Report, csv, page, text};
use transect_web::page::Nonce;

use crate::args::{LabFormArgs, LabReportArgs};
use transect_program::exit::{CliError, ExitStatus};
use transect_program::{file, output};

pub(crate) fn run(args: &LabReportArgs) -> Result<ExitStatus, CliError> {
    let mut data = Session::read(&args.session)?;
    if let Some(base) = &args.base {
        data.spec.compare_with(base)?;
    }
    args.pairs.iter().try_for_each(|text| data.spec.add_pair(text))?;
    write(&data, &args.form, args.all)?;
    Ok(ExitStatus::Complete)
}

/// Prints the results of a session in a form, or writes its page; as text with all rows, or with the best known.
pub(super) fn write(data: &SessionData, form: &LabFormArgs, all: bool) -> Result<(), CliError> {
    match &form.html {
        Some(file) => write_page(data, file),
        None if form.csv => print(data, |out, report| write!(out, "{}", csv::write(report))),
        None if form.markdown => print(data, |out, report| text::write_markdown(out, report)),
        None if form.json => print(data, |out, report| output::write_json(out, report)),
        None => show(data, all),
    }
}

pub(super) fn show(data: &SessionData, all: bool) -> Result<(), CliError> {
    let width = output::terminal_width();
    print(data, |out, report| text::write(out, report, width, all))
}

fn print(
    data: &SessionData,
    write: impl FnOnce(&mut AutoStream<Vec<u8>>, &Report<'_>) -> std::io::Result<()>,
) -> Result<(), CliError> {
    let mut text = output::buffer();
    write(&mut text, &Report::of(data))?;
    Ok(output::print(text)?)
}

pub(super) fn write_page(data: &SessionData, to: &Path) -> Result<(), CliError> {
    let page = page::html(&Report::of(data), &Nonce::random()?);
    let page = page.map_err(CliError::failed)?;
    file::write(to, |out| out.write_all(page.as_bytes()))
}
