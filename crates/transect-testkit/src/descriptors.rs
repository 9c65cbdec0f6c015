//! Sets the limit of open descriptors.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit of this process as far as possible without privilege, and returns it; `None` if
/// there is none. Use it in a process of its own: see [`in_own_process`](crate::in_own_process()).
///
/// # Panics
/// If the system refuses.
pub fn raise_descriptor_limit() -> Option<u64> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("it is allowed");
    maximum
}

/// Limits this process to descriptors below `limit`. Use it in a process of its own: see
/// [`in_own_process`](crate::in_own_process()).
///
/// # Panics
/// If the system refuses.
pub fn limit_descriptors(limit: u64) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(limit);
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).expect("less may always be asked for");
}
