//! What each system calls its own: the program that opens a file, the shell, being put to sleep.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{open_command, shell_command, suspend};
#[cfg(not(unix))]
pub(crate) use windows::{open_command, shell_command, suspend};
