//! Unix.

use std::io;
use std::path::Path;
use std::process::Command;

use rustix::process::{Signal, kill_current_process_group};
use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// Returns the command that starts the user's shell. A relative path would be looked up in the directory that the
/// shell starts in, whose owner may be another user.
pub(crate) fn shell_command() -> Command {
    let shell = std::env::var_os("SHELL").filter(|shell| Path::new(shell).is_absolute());
    Command::new(shell.unwrap_or_else(|| "/bin/sh".into()))
}

/// Suspends the process group until the shell continues it (`fg`).
///
/// # Errors
/// The signal could not be sent.
pub(crate) fn suspend() -> io::Result<()> {
    Ok(kill_current_process_group(Signal::TSTP)?)
}

/// Makes the terminal report again that there is input.
///
/// crossterm 0.29 waits with an edge-triggered epoll. If the window is resized and then a key is
/// pressed between two waits, it returns the resize and drops the report of the key, which would be
/// read together with the next key. Setting the attributes of a terminal, even to the same ones, wakes
/// up all its waiters (`n_tty_set_termios` in Linux' `drivers/tty/n_tty.c`).
pub(crate) fn report_input_again() {
    // Without a terminal there is no input that could be late.
    if let Ok(attributes) = tcgetattr(stdin()) {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &attributes);
    }
}
