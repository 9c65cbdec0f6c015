//! Version of the kernel, and limits and permissions of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Returns how many file descriptors this process may have; `None` if there is no limit.
pub fn open_file_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Raises the limit on open files as far as possible without privileges.
pub(crate) fn raise_open_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        // If this is refused, the old limit holds.
        let _ = setrlimit(Resource::Nofile, raised);
    }
}

/// Returns the name, release and architecture of the kernel.
pub fn kernel_version() -> String {
    let name = rustix::system::uname();
    let (system, release) = (name.sysname().to_string_lossy(), name.release().to_string_lossy());
    format!("{system} {release} {}", name.machine().to_string_lossy())
}

/// Returns whether this process may drop the kernel's caches. Drops nothing.
pub fn can_drop_caches() -> bool {
    std::fs::OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches").is_ok()
}
