//! Platform specifics: shell, suspend.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{report_input_again, shell_command, suspend};
#[cfg(not(unix))]
pub(crate) use windows::{report_input_again, shell_command, suspend};
