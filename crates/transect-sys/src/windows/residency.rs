//! Residency on Windows: pages of a file can be dropped, but not counted.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use windows_sys::Win32::Foundation::GENERIC_READ;

use super::caching::{open_unbuffered, reopen_unbuffered};
use crate::residency::{Residency, unsupported};

/// Opens without buffering: if no other handle is open, the system then drops the pages.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_unbuffered(path)
}

/// Used only to count pages, which are never reported here.
pub(crate) fn page_size() -> u64 {
    4096
}

pub(crate) fn residency(_: &File, _: Range<u64>) -> io::Result<Residency> {
    Err(unsupported())
}

pub(crate) fn is_memory_only(_: &File) -> bool {
    false
}

/// Opens the file again without buffering, and closes that handle.
pub(crate) fn drop_pages(file: &File, _: u64) -> io::Result<()> {
    reopen_unbuffered(file, GENERIC_READ).map(drop)
}
