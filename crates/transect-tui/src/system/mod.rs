//! Platform specifics: file opener, shell, suspend.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{open_command, shell_command, suspend};
#[cfg(not(unix))]
pub(crate) use windows::{open_command, shell_command, suspend};
