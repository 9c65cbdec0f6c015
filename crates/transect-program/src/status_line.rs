//! A line of progress on a terminal.
//!
//! The line is drawn without a library: the usual one loads `libm`, which took 0.04 of 0.88 ms of
//! every small scan (600 interleaved runs, medians).

use std::time::{Duration, Instant};

use transect_text::quote;

use crate::{output, stream};

/// The time between redraws of the line.
pub const REDRAW_INTERVAL: Duration = Duration::from_millis(200);

/// One line on stderr that overwrites itself, erased on drop.
pub struct StatusLine {
    is_shown: bool,
    /// The characters of the line.
    length: usize,
    /// When it was made, or [drawn again](StatusLine::redraw).
    drawn: Instant,
}

impl StatusLine {
    /// Returns a line that is shown if stderr is a terminal.
    pub fn on_terminal() -> Self {
        Self { is_shown: stream::stderr_is_terminal(), length: 0, drawn: Instant::now() }
    }

    /// Does what [`show`](StatusLine::show) does, unless it did so within the last [`REDRAW_INTERVAL`].
    pub fn redraw(&mut self, line: impl FnOnce() -> String) {
        if self.drawn.elapsed() >= REDRAW_INTERVAL {
            self.show(line);
            self.drawn = Instant::now();
        }
    }

    /// Overwrites the last line with this one, cut to the width of the terminal. Calls nothing where no line is
    /// shown.
    pub fn show(&mut self, line: impl FnOnce() -> String) {
        if !self.is_shown {
            return;
        }
        let width = output::stderr_width().unwrap_or(80);
        let line = quote::shorten(line(), width.saturating_sub(1));
        let length = line.chars().count();
        let erase = match cfg!(windows) {
            true => blank(self.length.saturating_sub(length)),
            false => ERASE_LINE_END.to_owned(),
        };
        // A closed stderr needs no progress.
        let _ = stream::write_over(&line, &erase);
        self.length = length;
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if self.length > 0 {
            self.show(String::new);
        }
    }
}

/// Erases from the cursor to the end of the line (ECMA-48, EL).
const ERASE_LINE_END: &str = "\x1b[K";

/// Overwrites `length` characters right of the cursor with spaces, and moves back. A Windows console
/// interprets escape sequences only in a mode that depends on the other streams.
fn blank(length: usize) -> String {
    " ".repeat(length) + &"\x08".repeat(length)
}
