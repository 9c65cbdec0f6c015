//! Questions on the terminal, before something is removed.

use std::io::{self, IsTerminal, Write};

use crate::output::stream;
use transect_program::CliError;

/// Checks that a question can be asked, before anything is read. `instead` names the options that need no answer.
pub(crate) fn check_can_ask(instead: &str) -> Result<(), CliError> {
    if io::stdin().is_terminal() && stream::stderr_is_terminal() {
        return Ok(());
    }
    Err(CliError::Failed(format!("not a terminal, so there is no way to ask; {instead}")))
}

/// Asks on the terminal. Anything but `y` or `yes` declines.
pub(crate) fn confirm(question: &str) -> io::Result<bool> {
    write!(stream::stderr(), "{question}? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
