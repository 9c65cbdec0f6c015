//! What the programs `transect` and `transect-lab` share.
//!
//! A program calls [`start`], parses its arguments, runs a command that returns an [`ExitStatus`] or a
//! [`CliError`], and ends with [`exit::code`]. What it prints goes through [`stream`], which sanitizes what reaches a terminal.
//!
//! * [`exit`]: exit codes and errors of programs.
//! * [`interrupt`]: what Ctrl-C does.
//! * [`output`]: results, messages, and what `clap` prints; [`stream`], [`json`], [`mod@file`].
//! * [`status_line`]: progress on a terminal.
//! * [`profile`]: the settings that were measured as fastest on a file system.
//! * [`generate`]: completions and manual pages.
//! * [`sibling`]: another program of transect, found and started.
//! * [`user_dirs`]: the directories of the user.

pub mod exit;
pub mod file;
pub mod generate;
pub mod interrupt;
pub mod json;
pub mod output;
pub mod profile;
mod sanitize;
pub mod sibling;
pub mod status_line;
pub mod stream;
pub mod user_dirs;

pub use exit::{CliError, ExitStatus};
pub use interrupt::{cancel_on_signal, on_signal};

/// Prepares a program of this name: its messages begin with the name, panics print as errors do,
/// Windows shows placeholders of files as what they are, programs are looked up by absolute paths only,
/// and the limit on file sizes is an error. Called first in `main`, before there is another thread.
pub fn start(name: &'static str) {
    output::set_program(name);
    output::install_panic_hook();
    transect_sys::host::expose_placeholders();
    transect_sys::host::drop_relative_search_paths();
    // Without a handler, the limit ends the program, as it ends others.
    let _ = interrupt::survive_file_size_limit();
}
