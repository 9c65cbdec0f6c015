//! Writes HTML pages.

use std::path::Path;

use transect_program::exit::CliError;

/// Writes a page to a file, as [`write`](super::file::write) does.
pub(crate) fn write(page: &str, file: &Path) -> Result<(), CliError> {
    super::file::write(file, |out| out.write_all(page.as_bytes()))
}
