//! Unix.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{Signal, kill_current_process_group};

const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Returns the command that opens a file with the program for it. The path is absolute, so that
/// nobody takes it for an option.
pub(crate) fn open_command(path: &Path) -> Command {
    let mut command = Command::new(OPENER);
    // A program that is closed by Ctrl-C in the terminal would have been opened in vain.
    command.arg(path).process_group(0);
    command
}

/// Returns the command that starts a shell.
pub(crate) fn shell_command() -> Command {
    Command::new(std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into()))
}

/// Sleeps, with all that a shell started together with it, until somebody says `fg`.
///
/// # Errors
/// The system does not let it.
pub(crate) fn suspend() -> io::Result<()> {
    Ok(kill_current_process_group(Signal::TSTP)?)
}
