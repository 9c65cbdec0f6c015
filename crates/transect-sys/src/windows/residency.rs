//! Residency on Windows: pages of a file can be dropped, but not counted.

use std::fs::File;
use std::io;
use std::path::Path;

use windows_sys::Win32::Foundation::GENERIC_READ;

use super::caching::{open_unbuffered, reopen_unbuffered};
pub(crate) use crate::residency::unreported::{is_memory_only, residency};

/// Opens without buffering: if no other handle is open, the system then drops the pages.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_unbuffered(path)
}

/// Opens the file again without buffering, and closes that handle.
pub(crate) fn drop_pages(file: &File, _: u64) -> io::Result<()> {
    reopen_unbuffered(file, GENERIC_READ).map(drop)
}
