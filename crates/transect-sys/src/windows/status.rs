//! Conversion of kernel statuses and errors.

use std::io;

use windows_sys::Win32::Foundation::{
    ERROR_CANT_ACCESS_FILE, ERROR_CANT_RESOLVE_FILENAME, ERROR_DELETE_PENDING, NTSTATUS,
    RtlNtStatusToDosError, STATUS_DELETE_PENDING,
};

use crate::fault::{Fault, FaultKind};

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
