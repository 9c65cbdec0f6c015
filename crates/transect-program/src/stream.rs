//! Standard output and standard error. Everything that this program prints goes through here, and on
//! a terminal through a `Sanitizer`. A lint (`clippy.toml`) forbids `std::io::stdout` elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::LazyLock;

use anstream::stream::{AsLockedWrite, RawStream};
use anstream::{AutoStream, ColorChoice};

use crate::sanitize::{Sanitizer, Styles, sanitized};

/// Standard output or standard error, unbuffered. A pipe or a file receives bytes unchanged, a
/// terminal sanitized.
pub enum Stream<S: RawStream + AsLockedWrite> {
    /// A pipe or a file.
    Raw(S),
    /// A terminal. `AutoStream` enables escape sequences on a Windows console.
    Terminal(Sanitizer<AutoStream<S>>),
}

#[expect(clippy::disallowed_methods, reason = "the one place that sanitizes them")]
fn stdio() -> (io::Stdout, io::Stderr) {
    (io::stdout(), io::stderr())
}

/// Returns standard output.
pub fn stdout() -> Stream<io::Stdout> {
    Stream::with(stdio().0, stdout_is_terminal())
}

/// Returns standard output for painted names, which a terminal gets even with `NO_COLOR`. All names must
/// be quoted.
pub fn painted_stdout() -> Stream<io::Stdout> {
    let stdout = stdio().0;
    match stdout_is_terminal() {
        true => Stream::Terminal(Sanitizer::new(AutoStream::always(stdout), Styles::Any)),
        false => Stream::Raw(stdout),
    }
}

/// Returns standard error.
pub fn stderr() -> Stream<io::Stderr> {
    Stream::with(stdio().1, stderr_is_terminal())
}

/// Returns whether standard output is a terminal. The system is asked once.
pub fn stdout_is_terminal() -> bool {
    static IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| stdio().0.is_terminal());
    *IS_TERMINAL
}

/// Returns whether standard error is a terminal.
pub fn stderr_is_terminal() -> bool {
    static IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| stdio().1.is_terminal());
    *IS_TERMINAL
}

/// Returns whether standard output takes colours: it is a terminal, and `NO_COLOR` is not set.
pub fn stdout_colours() -> ColorChoice {
    static CHOICE: LazyLock<ColorChoice> = LazyLock::new(|| AutoStream::choice(&stdio().0));
    *CHOICE
}

/// Returns whether standard error takes colours.
pub fn stderr_colours() -> ColorChoice {
    static CHOICE: LazyLock<ColorChoice> = LazyLock::new(|| AutoStream::choice(&stdio().1));
    *CHOICE
}

impl<S: RawStream + AsLockedWrite + IsTerminal> Stream<S> {
    /// Wraps a stream, with a sanitizer if it is a terminal.
    pub fn new(stream: S) -> Self {
        let is_terminal = IsTerminal::is_terminal(&stream);
        Self::with(stream, is_terminal)
    }
}

impl<S: RawStream + AsLockedWrite> Stream<S> {
    fn with(stream: S, is_terminal: bool) -> Self {
        match is_terminal {
            true => Self::Terminal(Sanitizer::new(AutoStream::auto(stream), Styles::Ours)),
            false => Self::Raw(stream),
        }
    }

    /// Allows the styles of commands that the user runs.
    pub fn allow_styles_of_commands(mut self) -> Self {
        if let Self::Terminal(terminal) = &mut self {
            terminal.allow(Styles::Foreground);
        }
        self
    }
}

/// Overwrites the current line of standard error, and erases the rest of it with `erase`. Only `line`
/// is sanitized. Written directly: on a Windows console without escape sequences, `AutoStream` would
/// drop the backspaces.
pub fn write_over(line: &str, erase: &str) -> io::Result<()> {
    stdio().1.write_all(format!("\r{}{erase}", sanitized(line)).as_bytes())
}

impl<S: RawStream + AsLockedWrite> Write for Stream<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Raw(stream) => stream.write_all(bytes)?,
            Self::Terminal(terminal) => terminal.write_all(bytes)?,
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Raw(stream) => stream.flush(),
            Self::Terminal(terminal) => terminal.flush(),
        }
    }
}
