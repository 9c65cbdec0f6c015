//! Named trees, an oracle and helpers for tests.
//!
//! The kit does not use the engine: its results are independent, so that engine and oracle do not
//! share a mistake.
//!
//! * [`TempDir`]: a directory that is removed when dropped, whatever it contains.
//! * [`trees`]: trees by name, one for everything that has ever broken a walker.
//! * [`oracle`]: the content of a tree, by a plain recursion over `std::fs`.
//! * [`Counts`]: counts to compare, with a readable difference.
//! * `Browser`: a page in a real browser.
//! * `program`: an environment in which a program of the workspace runs.
//! * [`assert_examples_parse`]: the examples in a program's help.
//! * `faults`: faults in the system calls of a program.
//! * `WindowsProgram`: a program for Windows, run under Wine.
//! * [`python_with_packages()`], [`Python`]: a Python that reads what we write; others of this machine.
//! * [`in_own_process()`], [`within()`], [`wait_until()`], [`loudly_skip`]: run and skip tests, and
//!   wait.

#[cfg(unix)]
mod browser;
mod counts;
#[cfg(unix)]
mod descriptors;
mod examples;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod faults;
#[cfg(target_os = "linux")]
mod mount;
#[cfg(target_os = "linux")]
mod ntfs;
pub mod oracle;
mod own_process;
#[cfg(target_os = "linux")]
pub mod program;
mod python;
#[cfg(unix)]
mod script;
#[cfg(windows)]
mod shell;
mod skip;
mod temp;
pub mod trees;
mod watchdog;
#[cfg(unix)]
mod wine;

#[cfg(unix)]
pub use browser::Browser;
pub use counts::Counts;
#[cfg(unix)]
pub use descriptors::{limit_descriptors, raise_descriptor_limit};
pub use examples::assert_examples_parse;
#[cfg(target_os = "linux")]
pub use mount::Mount;
#[cfg(target_os = "linux")]
pub use ntfs::{NtfsMount, set_xattr};
pub use own_process::{in_own_process, rerun};
pub use python::{Python, python_with_packages, usual_python_with};
#[cfg(unix)]
pub use script::write_script;
#[cfg(windows)]
pub use shell::{has_unix_shell, unix_shell};
pub use skip::{loudly_skip, skip};
pub use temp::TempDir;
pub use watchdog::{WATCHDOG, wait_for, wait_for_ok, wait_until, within};
#[cfg(unix)]
pub use wine::{CROSS_COMPILER, WindowsProgram, on_drive};
