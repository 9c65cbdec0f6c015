//! The error number of calls through libc.

use rustix::io::Errno;

/// Returns the error number of the last call.
pub(super) fn last_errno() -> Errno {
    std::io::Error::last_os_error().raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}
