//! Few descriptors, to see who gets along with them.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Lets this process open as many descriptors as it may without privilege, and returns how many;
/// `None` if there is no limit. For a process of its own: see [`in_own_process`](crate::in_own_process()).
///
/// # Panics
/// If the system refuses.
pub fn raise_descriptor_limit() -> Option<u64> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("it is allowed");
    maximum
}

/// Lets this process open descriptors below `limit` only. For a process of its own: see
/// [`in_own_process`](crate::in_own_process()).
///
/// # Panics
/// If the system refuses.
pub fn limit_descriptors(limit: u64) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(limit);
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).expect("less may always be asked for");
}
