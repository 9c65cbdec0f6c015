//! The pages of a file in memory: not told, but they can be dropped.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::Path;

use windows_sys::Win32::Foundation::{GENERIC_READ, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_NO_BUFFERING, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, ReOpenFile,
};

use crate::residency::{Residency, not_told};

/// Opens without buffering: if nobody else has the file open, the system then drops what it holds.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let path = super::verbatim(path)?;
    OpenOptions::new().read(true).custom_flags(FILE_FLAG_NO_BUFFERING).open(path)
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
    let share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    // SAFETY: the handle is borrowed, hence open during the call; the rest are numbers.
    let handle =
        unsafe { ReOpenFile(file.as_raw_handle(), GENERIC_READ, share, FILE_FLAG_NO_BUFFERING) };
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the handle is open, and nobody else has it.
    drop(unsafe { OwnedHandle::from_raw_handle(handle) });
    Ok(())
}
