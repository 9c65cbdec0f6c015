//! Windows, and systems that nothing is known of.

use std::io;
use std::path::Path;
use std::process::Command;

/// Returns the command that opens a file with the program for it. Not `start`, which is a word of
/// the shell: that would read the name once more.
pub(crate) fn open_command(path: &Path) -> Command {
    let mut command = Command::new("explorer.exe");
    command.arg(path);
    command
}

/// Returns the command that starts a shell.
pub(crate) fn shell_command() -> Command {
    Command::new(std::env::var_os("COMSPEC").unwrap_or_else(|| "cmd.exe".into()))
}

/// Returns an error: nobody could wake it.
///
/// # Errors
/// Always.
pub(crate) fn suspend() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system puts no program to sleep"))
}
