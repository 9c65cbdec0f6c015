//! Named trees, an oracle and helpers for tests.
//!
//! The kit knows nothing of the engine: what it says about a tree is an opinion of its own, so
//! that engine and oracle cannot be wrong together.
//!
//! * [`TempDir`]: a directory that goes away, whatever was built in it.
//! * [`trees`]: trees by name, one for everything that has ever broken a walker.
//! * [`oracle`]: what a plain recursion over `std::fs` finds in a tree.
//! * [`Counts`]: what is compared, with a difference that can be read.
//! * `Browser`: a page as people see it.
//! * `faults`: faults in the system calls of a program.
//! * [`in_own_process()`], [`within()`], [`wait_until()`], [`loudly_skip`]: how a test runs and waits.

#[cfg(unix)]
mod browser;
mod counts;
#[cfg(unix)]
mod descriptors;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod faults;
#[cfg(target_os = "linux")]
mod mount;
pub mod oracle;
mod own_process;
#[cfg(windows)]
mod shell;
mod skip;
mod temp;
pub mod trees;
mod watchdog;

#[cfg(unix)]
pub use browser::Browser;
pub use counts::Counts;
#[cfg(unix)]
pub use descriptors::{limit_descriptors, raise_descriptor_limit};
#[cfg(target_os = "linux")]
pub use mount::Mount;
pub use own_process::{in_own_process, rerun};
#[cfg(windows)]
pub use shell::{has_unix_shell, unix_shell};
pub use skip::loudly_skip;
pub use temp::TempDir;
pub use watchdog::{WATCHDOG, wait_for, wait_for_ok, wait_until, within};
