//! What this kernel is, and what this process may do.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Returns how many file descriptors this process may have, `None` if there is no limit.
pub fn open_file_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Raises the limit on open files as far as it may go without privilege, and returns it.
///
/// For programs, not for libraries: it changes the whole process, and children inherit it.
pub fn raise_open_file_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        // A refusal leaves the old limit, which is then what is returned.
        let _ = setrlimit(Resource::Nofile, raised);
    }
    open_file_limit()
}

/// Returns the name and release of the kernel.
pub fn kernel_version() -> String {
    let name = rustix::system::uname();
    let (system, release) = (name.sysname().to_string_lossy(), name.release().to_string_lossy());
    format!("{system} {release} {}", name.machine().to_string_lossy())
}

/// Returns the number of the user that this process acts as.
pub(crate) fn effective_user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns whether this process may drop the kernel's caches. Nothing is dropped by asking.
pub fn can_drop_caches() -> bool {
    std::fs::OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches").is_ok()
}
