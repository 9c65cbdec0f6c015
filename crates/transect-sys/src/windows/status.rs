//! Conversion of kernel statuses and errors.

use std::io;
use std::os::windows::io::{FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::{
    ERROR_CANT_ACCESS_FILE, ERROR_CANT_RESOLVE_FILENAME, ERROR_DELETE_PENDING, HANDLE,
    INVALID_HANDLE_VALUE, NTSTATUS, RtlNtStatusToDosError, STATUS_DELETE_PENDING,
};
use windows_sys::core::BOOL;

use crate::fault::{Fault, FaultKind};

/// Returns the error of the thread's last call if it answered that it failed.
pub(super) fn done(answer: BOOL) -> io::Result<()> {
    if answer == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Takes the handle that the thread's last call returned: a null or invalid one if it failed.
///
/// # Safety
/// If it did not fail, the handle is new: nothing else owns it.
pub(super) unsafe fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the handle is open; the rest is required above.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Returns the Win32 error for a status of the kernel.
pub(super) fn error_from_status(status: NTSTATUS) -> io::Error {
    // The system's own table maps a file that is being deleted to "access denied".
    if status == STATUS_DELETE_PENDING {
        return io::Error::from_raw_os_error(ERROR_DELETE_PENDING as i32);
    }
    // SAFETY: the function takes any status and reads nothing else.
    let error = unsafe { RtlNtStatusToDosError(status) };
    io::Error::from_raw_os_error(error as i32)
}

/// Distinguishes an entry that is gone since it was listed from an error.
pub(super) fn fault_of_entry(error: io::Error) -> Fault {
    match FaultKind::of(&error) {
        FaultKind::NotFound | FaultKind::NotADirectory => Fault::Vanished,
        _ => Fault::Failed(error),
    }
}

/// Returns whether the error means a broken link (also a loop, or a reparse point that no driver
/// handles). Such a link is reported as itself.
pub(super) fn is_broken_link(error: &io::Error) -> bool {
    matches!(FaultKind::of(error), FaultKind::NotFound | FaultKind::NotADirectory | FaultKind::Loop)
        || matches!(
            error.raw_os_error().map(|code| code as u32),
            Some(ERROR_CANT_ACCESS_FILE | ERROR_CANT_RESOLVE_FILENAME)
        )
}
