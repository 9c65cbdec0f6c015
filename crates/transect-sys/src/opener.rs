//! The system's own opener of files.

use std::path::Path;
use std::process::Command;

/// Returns the command that opens a file with its default program. The path must be absolute, so that
/// it is never parsed as an option.
pub fn open_command(path: &Path) -> Command {
    // Not `start`: that is a command of the shell of Windows, which would parse the name again.
    let opener = match () {
        () if cfg!(windows) => "explorer.exe",
        () if cfg!(target_os = "macos") => "open",
        () => "xdg-open",
    };
    let mut command = Command::new(opener);
    command.arg(path);
    // In a process group of its own, so that Ctrl-C in this terminal does not end it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}
