//! The terminal, which is given back as it was, whatever happens: also by a panic.
//!
//! What is drawn here are cells. `ratatui` puts no control character and no mark of direction into
//! one (`Buffer::set_stringn`), and names are quoted before (`text::quote`).

#![expect(clippy::disallowed_methods, reason = "a screen is drawn by moving the cursor")]

use std::io::{self, IsTerminal};

use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, enable_raw_mode};
use ratatui::{DefaultTerminal, Frame};

/// A screen of our own above what the terminal shows.
pub(crate) struct Screen {
    terminal: DefaultTerminal,
}

impl Screen {
    /// Returns whether there is a terminal to draw on, and to type in.
    pub(crate) fn is_available() -> bool {
        let can_draw = std::env::var_os("TERM").is_none_or(|kind| kind != "dumb");
        can_draw && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Takes the terminal. From here on a panic gives it back before it says anything.
    pub(crate) fn enter() -> io::Result<Self> {
        let taken = ratatui::try_init().and_then(|terminal| {
            execute!(io::stdout(), EnableBracketedPaste)?;
            Ok(Self { terminal })
        });
        if taken.is_err() {
            let _ = ratatui::try_restore();
        }
        taken
    }

    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(drop)
    }

    /// Draws everything anew with the next frame: somebody else wrote on the screen.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }

    /// Lets somebody else have the terminal.
    pub(crate) fn leave_during<T>(&mut self, run: impl FnOnce() -> T) -> io::Result<T> {
        restore()?;
        let value = run();
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)?;
        self.clear()?;
        Ok(value)
    }
}

fn restore() -> io::Result<()> {
    execute!(io::stdout(), DisableBracketedPaste, Show)?;
    ratatui::try_restore()
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone takes nothing back.
        let _ = restore();
    }
}
