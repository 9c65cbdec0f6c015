//! Turns answers into text and JSON.

pub(crate) mod clock;
pub(crate) mod columns;
pub(crate) mod file;
pub(crate) mod json;
pub(crate) mod owner;
pub(crate) mod page;
pub(crate) mod summary;

use std::fmt::Display;
use std::io::{self, IsTerminal, Stdout, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use transect::Tally;
pub(crate) use transect_tui::text::wrap::wrap;
pub(crate) use transect_tui::text::{quote, units};

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();

/// How many errors are shown unless all are asked for.
const ERRORS_SHOWN: usize = 10;

/// Returns how many characters a line of the terminal holds; `None` if there is no terminal.
pub(crate) fn terminal_width(stream: &impl IsTerminal) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    // Of whichever standard stream is a terminal: they share one.
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

/// Returns how many lines the terminal holds; `None` if there is no terminal.
pub(crate) fn terminal_height(stream: &impl IsTerminal) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(_, height)| usize::from(height.0))
}

/// Returns a buffer for stdout that takes colours only if stdout does: a terminal, no `NO_COLOR`.
pub(crate) fn buffer() -> AutoStream<Vec<u8>> {
    AutoStream::new(Vec::new(), AutoStream::choice(&io::stdout()))
}

/// Writes a buffer to stdout: in one piece, but for a Windows console without escape sequences.
pub(crate) fn print(text: AutoStream<Vec<u8>>) -> io::Result<()> {
    // Not to stdout as it is: a Windows console has to be told that escape sequences will come.
    let mut out = anstream::stdout().lock();
    out.write_all(&text.into_inner())?;
    out.flush()
}

/// Stdout for who gathers what he writes: nothing waits in a second buffer.
///
/// Not a file made of the same handle: only the standard library's own stdout writes Unicode to a
/// Windows console.
pub(crate) struct Unbuffered(Stdout);

impl Unbuffered {
    pub(crate) fn stdout() -> Self {
        Self(io::stdout())
    }
}

impl Write for Unbuffered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut out = self.0.lock();
        out.write_all(bytes)?;
        out.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes one JSON object and a newline.
pub(crate) fn write_json(out: &mut impl Write, object: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    writeln!(out)
}

/// Says what went wrong. A stderr that is closed cannot be told anything.
pub(crate) fn complain(what: &impl Display) {
    let _ = writeln!(anstream::stderr(), "{ERROR}transect:{ERROR:#} {what}");
}

/// Says what was done, where stdout is for other things.
pub(crate) fn tell(what: &str) {
    let _ = writeln!(anstream::stderr(), "transect: {what}");
}

/// Gives advice.
pub(crate) fn hint(what: &str) {
    let _ = writeln!(anstream::stderr(), "transect: hint: {what}");
}

/// Shows the errors inside the trees: all of them, or the first few and how many more.
pub(crate) fn show_errors(tally: &Tally, all: bool) {
    let shown = if all { tally.list.len() } else { ERRORS_SHOWN };
    for error in tally.list.iter().take(shown) {
        let text = quote::for_terminal(error.to_string().as_ref());
        let _ = writeln!(anstream::stderr(), "{ERROR}transect:{ERROR:#} {text}");
    }
    let more = tally.errors - shown.min(tally.list.len()) as u64;
    if more > 0 && !all {
        hint(&format!("{} more errors; --errors lists all of them", units::count(more)));
    }
}
