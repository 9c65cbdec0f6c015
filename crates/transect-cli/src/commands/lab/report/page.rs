//! The page, as a file.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use transect_lab::page;
use transect_lab::record::Recorded;
use transect_lab::report::Report;
use transect_lab::whole;

use crate::exit::Fatal;

/// Returns the page of a session.
pub(super) fn of(recorded: &Recorded) -> Result<String, Fatal> {
    page::html(&Report::of(recorded)).map_err(|error| Fatal::Lab(error.to_string()))
}

/// Writes the page of a session. Whoever opens the file finds the whole page, or what was there
/// before: it is written beside it, and renamed.
pub(in crate::commands::lab) fn write_page(recorded: &Recorded, file: &Path) -> Result<(), Fatal> {
    let page = of(recorded)?;
    // What a link leads to is replaced, not the link.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let written = if target.exists() && !target.is_file() {
        // A device or a pipe stays what it is, and a directory says that it is one.
        File::create(&target).and_then(|mut there| there.write_all(page.as_bytes()))
    } else {
        whole::replace(&target, page.as_bytes())
    };
    written.map_err(|error| {
        Fatal::Lab(format!("cannot write '{}': {}", file.display(), transect::reason(&error)))
    })
}
