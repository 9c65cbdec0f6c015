//! Standard output and standard error. Everything that this program prints goes through here, and on
//! a terminal through a [`Sanitizer`]. A lint refuses `std::io::stdout` and its like elsewhere
//! (`clippy.toml`), so that no message can forget it.

use std::io::{self, IsTerminal, Write};

use anstream::stream::{AsLockedWrite, RawStream};
use anstream::{AutoStream, ColorChoice};

use super::sanitize::{Sanitizer, Styles, sanitized};

/// One of the two streams. Bytes reach a pipe or a file as they are, a terminal sanitized; nothing
/// waits in a buffer.
pub(crate) enum Stream<S: RawStream + AsLockedWrite> {
    /// A pipe or a file.
    Raw(S),
    /// A terminal. `AutoStream` tells a Windows console that escape sequences will come.
    Terminal(Sanitizer<AutoStream<S>>),
}

#[expect(clippy::disallowed_methods, reason = "the one place that sanitizes them")]
fn stdio() -> (io::Stdout, io::Stderr) {
    (io::stdout(), io::stderr())
}

/// Returns standard output.
pub(crate) fn stdout() -> Stream<io::Stdout> {
    Stream::new(stdio().0)
}

/// Returns standard error.
pub(crate) fn stderr() -> Stream<io::Stderr> {
    Stream::new(stdio().1)
}

/// Returns whether standard output is a terminal.
pub(crate) fn stdout_is_terminal() -> bool {
    stdio().0.is_terminal()
}

/// Returns whether standard error is a terminal.
pub(crate) fn stderr_is_terminal() -> bool {
    stdio().1.is_terminal()
}

/// Returns whether standard output takes colours: a terminal, no `NO_COLOR`.
pub(crate) fn stdout_colours() -> ColorChoice {
    AutoStream::choice(&stdio().0)
}

/// Returns whether standard error takes colours.
pub(crate) fn stderr_colours() -> ColorChoice {
    AutoStream::choice(&stdio().1)
}

impl<S: RawStream + AsLockedWrite + IsTerminal> Stream<S> {
    /// Returns what writes to a stream, whatever it is.
    pub(crate) fn new(stream: S) -> Self {
        match IsTerminal::is_terminal(&stream) {
            true => Self::Terminal(Sanitizer::new(AutoStream::auto(stream), Styles::Ours)),
            false => Self::Raw(stream),
        }
    }
}

impl<S: RawStream + AsLockedWrite> Stream<S> {
    /// Returns a stream that lets all styles pass, for text in which every name is quoted.
    pub(crate) fn allow_any_style(mut self) -> Self {
        if let Self::Terminal(terminal) = &mut self {
            terminal.allow(Styles::Any);
        }
        self
    }
}

/// Writes a line over the one that the cursor of standard error is in, and what erases the rest of
/// that. The line is sanitized; `erase` is a sequence of our own, and is not. A Windows console that
/// takes no escape sequences would lose the steps back if it were written like other text.
pub(crate) fn write_over(line: &str, erase: &str) -> io::Result<()> {
    stdio().1.write_all(format!("\r{}{erase}", sanitized(line)).as_bytes())
}

impl<S: RawStream + AsLockedWrite> Write for Stream<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Raw(stream) => {
                stream.write_all(bytes)?;
                stream.flush()
            }
            Self::Terminal(terminal) => {
                terminal.write_all(bytes)?;
                terminal.flush()
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Raw(stream) => stream.flush(),
            Self::Terminal(terminal) => terminal.flush(),
        }
    }
}
