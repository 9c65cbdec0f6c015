//! The page, as a file.

use std::path::Path;

use transect_lab::harness::log::SessionData;
use transect_lab::report::Report;
use transect_lab::report::page;
use transect_web::page::Nonce;

use crate::exit::Fatal;
use crate::output;

/// Writes the page of a session.
pub(in crate::commands::lab) fn write_page(data: &SessionData, file: &Path) -> Result<(), Fatal> {
    let page = page::html(&Report::of(data), &Nonce::random()?);
    let page = page.map_err(|error| Fatal::Lab(error.to_string()))?;
    output::page::write(&page, file)
}
