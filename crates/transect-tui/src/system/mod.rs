//! Platform specifics: file opener, shell, suspend.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{open_command, report_input_again, shell_command, suspend};
#[cfg(not(unix))]
pub(crate) use windows::{open_command, report_input_again, shell_command, suspend};
