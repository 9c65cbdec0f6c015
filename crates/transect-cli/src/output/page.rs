//! Pages, which are whole or not there.

use std::path::Path;

use crate::exit::CliError;

/// Writes a page where somebody wants it, as [`write`](super::file::write) does.
pub(crate) fn write(page: &str, file: &Path) -> Result<(), CliError> {
    super::file::write(file, |out| out.write_all(page.as_bytes()))
}
