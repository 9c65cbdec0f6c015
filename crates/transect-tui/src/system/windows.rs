//! Windows, and all other systems.

use std::io;
use std::path::Path;
use std::process::Command;

/// Returns the command that starts the user's shell. A relative path would be looked up in the current directory.
pub(crate) fn shell_command() -> Command {
    let shell = std::env::var_os("COMSPEC").filter(|shell| Path::new(shell).is_absolute());
    Command::new(shell.unwrap_or_else(|| "cmd.exe".into()))
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
