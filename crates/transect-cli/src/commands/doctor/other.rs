//! A system of which nothing more is known than the standard library says.

use std::path::Path;

use super::{Ability, FileSystem};
use crate::exit::Fatal;

pub(super) fn open_file_limit() -> Option<u64> {
    None
}

pub(super) fn abilities() -> Vec<Ability> {
    Vec::new()
}

pub(super) fn file_system(_: &Path) -> Result<Option<FileSystem>, Fatal> {
    Ok(None)
}
