//! The page, as a file.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use transect_lab::page;
use transect_lab::record::Recorded;
use transect_lab::report::Report;
use transect_transform::publish::put;

use crate::exit::Fatal;

/// Returns the page of a session.
pub(super) fn of(recorded: &Recorded) -> Result<String, Fatal> {
    page::html(&Report::of(recorded)).map_err(|error| Fatal::Lab(error.to_string()))
}

/// Writes the page of a session. Whoever opens the file finds the whole page, or what was there
/// before.
pub(in crate::commands::lab) fn write_page(recorded: &Recorded, file: &Path) -> Result<(), Fatal> {
    let page = of(recorded)?;
    if file.exists() && !file.is_file() {
        // A device or a pipe stays what it is, and a directory says that it is one.
        let written = File::create(file).and_then(|mut there| there.write_all(page.as_bytes()));
        return written.map_err(|error| {
            let (file, reason) = (file.display(), transect::reason(&error));
            Fatal::Lab(format!("cannot write '{file}': {reason}"))
        });
    }
    Ok(put(file, page.as_bytes()).map(drop)?)
}
