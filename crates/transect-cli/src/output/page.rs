//! Pages, which are whole or not there.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use transect_transform::publish::put;

use crate::exit::Fatal;

/// Writes a page where somebody wants it; `-` is stdout. Whoever opens the file finds the whole page,
/// or what was there before.
pub(crate) fn write(page: &str, file: &Path) -> Result<(), Fatal> {
    if file.as_os_str() == "-" {
        let mut text = super::buffer();
        text.write_all(page.as_bytes())?;
        return Ok(super::print(text)?);
    }
    if file.exists() && !file.is_file() {
        // A device or a pipe stays what it is, and a directory says that it is one.
        let written = File::create(file).and_then(|mut there| there.write_all(page.as_bytes()));
        return written.map_err(|error| {
            let (file, reason) = (file.display(), transect::reason(&error));
            Fatal::Page(format!("cannot write '{file}': {reason}"))
        });
    }
    Ok(put(file, page.as_bytes()).map(drop)?)
}
