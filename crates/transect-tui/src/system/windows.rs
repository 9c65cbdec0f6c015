//! Windows, and all other systems.

use std::io;
use std::process::Command;

/// Returns the command that starts the user's shell.
pub(crate) fn shell_command() -> Command {
    Command::new(std::env::var_os("COMSPEC").unwrap_or_else(|| "cmd.exe".into()))
}

/// Returns an error: suspending is not supported.
///
/// # Errors
/// Always.
pub(crate) fn suspend() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system cannot suspend programs"))
}

/// Does nothing: no report of a key is lost here.
pub(crate) fn report_input_again() {}
