//! The terminal, which is restored on exit, also after a panic.
//!
//! Everything is drawn as cells. `ratatui` puts no control characters and no direction marks into
//! cells (`Buffer::set_stringn`), and names are quoted before (`text::quote`).

#![expect(clippy::disallowed_methods, reason = "a screen is drawn by moving the cursor")]

use std::io::{self, IsTerminal};

use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, enable_raw_mode};
use ratatui::{DefaultTerminal, Frame};

pub(crate) struct Screen {
    terminal: DefaultTerminal,
    /// The terminal reports the mouse.
    mouse: bool,
}

impl Screen {
    /// Returns whether standard input and output are a terminal that can position the cursor.
    pub(crate) fn is_available() -> bool {
        let can_draw = std::env::var_os("TERM").is_none_or(|kind| kind != "dumb");
        can_draw && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Enters the alternate screen. A panic from here on restores the terminal before its message
    /// is printed. With `mouse`, the terminal reports clicks and the wheel, and selects text only with
    /// Shift.
    pub(crate) fn enter(mouse: bool) -> io::Result<Self> {
        let taken = ratatui::try_init().and_then(|terminal| {
            execute!(io::stdout(), EnableBracketedPaste)?;
            let screen = Self { terminal, mouse };
            screen.report_mouse()?;
            Ok(screen)
        });
        if taken.is_err() {
            let _ = ratatui::try_restore();
        }
        taken
    }

    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(drop)
    }

    /// Redraws everything with the next frame, because another program wrote to the screen.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }

    /// Restores the terminal, calls `run`, and enters the screen again.
    pub(crate) fn leave_during<T>(&mut self, run: impl FnOnce() -> T) -> io::Result<T> {
        self.restore()?;
        let value = run();
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)?;
        self.report_mouse()?;
        self.clear()?;
        Ok(value)
    }

    fn report_mouse(&self) -> io::Result<()> {
        if self.mouse { execute!(io::stdout(), EnableMouseCapture) } else { Ok(()) }
    }

    fn restore(&self) -> io::Result<()> {
        if self.mouse {
            execute!(io::stdout(), DisableMouseCapture)?;
        }
        execute!(io::stdout(), DisableBracketedPaste, Show)?;
        ratatui::try_restore()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Errors are ignored: the terminal may be gone.
        let _ = self.restore();
    }
}
