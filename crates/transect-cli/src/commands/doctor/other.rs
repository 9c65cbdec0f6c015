//! Other systems, where only the standard library is available.

use std::path::Path;

use super::{Capability, FileSystem};
use transect_program::CliError;

pub(super) fn open_file_limit() -> Option<u64> {
    None
}

pub(super) fn capabilities() -> Vec<Capability> {
    Vec::new()
}

pub(super) fn file_system(_: &Path) -> Result<Option<FileSystem>, CliError> {
    Ok(None)
}
