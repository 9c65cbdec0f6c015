//! The pages of a file in memory: not told, but they can be dropped.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use windows_sys::Win32::Foundation::GENERIC_READ;

use super::caching::{open_unbuffered, reopen_unbuffered};
use crate::residency::{Residency, not_told};

/// Opens without buffering: if nobody else has the file open, the system then drops what it holds.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_unbuffered(path)
}

/// Only what is told in pages depends on it.
pub(crate) fn page_size() -> u64 {
    4096
}

pub(crate) fn residency(_: &File, _: Range<u64>) -> io::Result<Residency> {
    Err(not_told())
}

pub(crate) fn is_memory_only(_: &File) -> bool {
    false
}

/// Opens the file once more without buffering, and closes it.
pub(crate) fn drop_pages(file: &File, _: u64) -> io::Result<()> {
    reopen_unbuffered(file, GENERIC_READ).map(drop)
}
