//! The two calls that list an open directory, with one interface.

use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle};
use std::ptr::{null, null_mut};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_INFORMATION_CLASS, FileBothDirectoryInformation, FileFullDirectoryInformation,
    FileIdBothDirectoryInformation, FileIdFullDirectoryInformation, NtQueryDirectoryFile,
};
use windows_sys::Win32::Foundation::{
    ERROR_CALL_NOT_IMPLEMENTED, ERROR_FILE_NOT_FOUND, ERROR_INVALID_FUNCTION, ERROR_INVALID_LEVEL,
    ERROR_INVALID_PARAMETER, ERROR_MORE_DATA, ERROR_NO_MORE_FILES, ERROR_NOT_SUPPORTED,
    STATUS_BUFFER_OVERFLOW, STATUS_BUFFER_TOO_SMALL, STATUS_INVALID_DEVICE_REQUEST,
    STATUS_INVALID_INFO_CLASS, STATUS_INVALID_PARAMETER, STATUS_NO_MORE_FILES, STATUS_NO_SUCH_FILE,
    STATUS_NOT_IMPLEMENTED, STATUS_NOT_SUPPORTED,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_INFO_BY_HANDLE_CLASS, FileFullDirectoryInfo, FileFullDirectoryRestartInfo,
    FileIdBothDirectoryInfo, FileIdBothDirectoryRestartInfo, GetFileInformationByHandleEx,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::status::error_from_status;
use crate::attributes::FieldMask;
use crate::record::dirinfo::Layout;

/// The call that lists an open directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryCall {
    /// `NtQueryDirectoryFile`, on which all other calls are based.
    NtQuery,
    /// `GetFileInformationByHandleEx`: the documented Win32 equivalent, with two of the four
    /// layouts.
    ByHandle,
}

/// Why a call returned no records.
#[derive(Debug)]
pub(super) enum Stop {
    End,
    /// A record was longer than the buffer. It was truncated and will not be returned again.
    TooSmall,
    /// The file system does not support this layout.
    Refused,
    /// Any other error.
    Failed(io::Error),
}

impl DirectoryCall {
    /// Returns the layouts to try, in order: first the shortest with all wanted fields, then those
    /// with fewer fields in case the file system does not support it.
    pub(super) fn layouts(self, want: FieldMask) -> &'static [Layout] {
        let id = want.contains(FieldMask::INODE);
        let short_name = want.contains(FieldMask::SHORT_NAME);
        match (self, id, short_name) {
            (_, false, false) => &[Layout::Full],
            (Self::NtQuery, true, false) => &[Layout::IdFull, Layout::Full],
            (Self::NtQuery, true, true) => &[Layout::IdBoth, Layout::Both, Layout::Full],
            (Self::NtQuery, false, true) => &[Layout::Both, Layout::Full],
            (Self::ByHandle, _, _) => &[Layout::IdBoth, Layout::Full],
        }
    }

    /// Fills `buffer` with the next records, from the beginning of the directory if `restart`.
    /// Returns the number of bytes that may hold records.
    pub(super) fn list(
        self,
        directory: BorrowedHandle<'_>,
        layout: Layout,
        restart: bool,
        buffer: &mut [u64],
    ) -> Result<usize, Stop> {
        match self {
            Self::NtQuery => nt_query(directory, class_of(layout), restart, buffer),
            Self::ByHandle => by_handle(directory, info_of(layout, restart), buffer),
        }
    }
}

fn class_of(layout: Layout) -> FILE_INFORMATION_CLASS {
    match layout {
        Layout::Full => FileFullDirectoryInformation,
        Layout::Both => FileBothDirectoryInformation,
        Layout::IdFull => FileIdFullDirectoryInformation,
        Layout::IdBoth => FileIdBothDirectoryInformation,
    }
}

fn info_of(layout: Layout, restart: bool) -> FILE_INFO_BY_HANDLE_CLASS {
    match (layout.has_file_id(), restart) {
        (false, true) => FileFullDirectoryRestartInfo,
        (false, false) => FileFullDirectoryInfo,
        (true, true) => FileIdBothDirectoryRestartInfo,
        (true, false) => FileIdBothDirectoryInfo,
    }
}

fn nt_query(
    directory: BorrowedHandle<'_>,
    class: FILE_INFORMATION_CLASS,
    restart: bool,
    buffer: &mut [u64],
) -> Result<usize, Stop> {
    let mut status_block = IO_STATUS_BLOCK::default();
    // SAFETY:
    // - the directory was opened for synchronous work, so the call is complete when it returns, and
    //   needs neither an event nor a routine: both are null;
    // - the buffer is ours to write, aligned to eight bytes, and as long as we say;
    // - no pattern is given: a null pointer.
    let status = unsafe {
        NtQueryDirectoryFile(
            directory.as_raw_handle(),
            null_mut(),
            None,
            null(),
            &mut status_block,
            buffer.as_mut_ptr().cast(),
            size_of_val(buffer) as u32,
            class,
            false,
            null(),
            restart,
        )
    };
    match status {
        STATUS_NO_MORE_FILES | STATUS_NO_SUCH_FILE => Err(Stop::End),
        STATUS_BUFFER_OVERFLOW | STATUS_BUFFER_TOO_SMALL => Err(Stop::TooSmall),
        STATUS_INVALID_INFO_CLASS
        | STATUS_NOT_SUPPORTED
        | STATUS_NOT_IMPLEMENTED
        | STATUS_INVALID_PARAMETER
        | STATUS_INVALID_DEVICE_REQUEST => Err(Stop::Refused),
        status if status < 0 => Err(Stop::Failed(error_from_status(status))),
        // Some redirectors return an empty result at the end.
        _ if status_block.Information == 0 => Err(Stop::End),
        _ => Ok(status_block.Information.min(size_of_val(buffer))),
    }
}

fn by_handle(
    directory: BorrowedHandle<'_>,
    class: FILE_INFO_BY_HANDLE_CLASS,
    buffer: &mut [u64],
) -> Result<usize, Stop> {
    let size = size_of_val(buffer);
    // SAFETY: the buffer is ours to write, aligned to eight bytes, and as long as we say; the
    // handle is borrowed, hence open.
    let done = unsafe {
        GetFileInformationByHandleEx(
            directory.as_raw_handle(),
            class,
            buffer.as_mut_ptr().cast(),
            size as u32,
        )
    };
    if done != 0 {
        // The call does not report the length; the last record is marked as such.
        return Ok(size);
    }
    let error = io::Error::last_os_error();
    Err(match error.raw_os_error().map_or(0, |code| code as u32) {
        ERROR_NO_MORE_FILES | ERROR_FILE_NOT_FOUND => Stop::End,
        ERROR_MORE_DATA => Stop::TooSmall,
        ERROR_INVALID_PARAMETER
        | ERROR_NOT_SUPPORTED
        | ERROR_INVALID_LEVEL
        | ERROR_INVALID_FUNCTION
        | ERROR_CALL_NOT_IMPLEMENTED => Stop::Refused,
        _ => Stop::Failed(error),
    })
}
