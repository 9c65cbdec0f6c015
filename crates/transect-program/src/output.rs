//! Prints results, and messages on standard error.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use serde::Serialize;
use transect_text::quote;
use transect_text::style::ERROR;
use transect_text::wrap::{wrap, wrap_lines};
use transect_transform::publish::LostMetadata;

use crate::{json, stream};

/// The name before messages.
static PROGRAM: OnceLock<&str> = OnceLock::new();

pub(crate) fn set_program(name: &'static str) {
    // A second name changes nothing.
    let _ = PROGRAM.set(name);
}

/// Returns the columns of the terminal at standard output; `None` if it is not a terminal.
pub fn terminal_width() -> Option<usize> {
    size_if(stream::stdout_is_terminal()).map(|(width, _)| width)
}

/// Returns the lines of the terminal at standard output.
pub fn terminal_height() -> Option<usize> {
    size_if(stream::stdout_is_terminal()).map(|(_, height)| height)
}

/// Returns the columns of the terminal at standard error.
pub fn stderr_width() -> Option<usize> {
    size_if(stream::stderr_is_terminal()).map(|(width, _)| width)
}

fn size_if(is_terminal: bool) -> Option<(usize, usize)> {
    // `terminal_size` queries any standard stream that is a terminal: they share one.
    let size = is_terminal.then(terminal_size::terminal_size).flatten();
    size.map(|(width, height)| (width.0.into(), height.0.into()))
}

/// Returns a buffer for standard output that keeps colours only for a terminal without `NO_COLOR`.
pub fn buffer() -> AutoStream<Vec<u8>> {
    buffer_with(stream::stdout_colours())
}

fn buffer_with(colours: ColorChoice) -> AutoStream<Vec<u8>> {
    AutoStream::new(Vec::new(), colours)
}

/// Writes a buffer to standard output in one piece.
pub fn print(text: AutoStream<Vec<u8>>) -> io::Result<()> {
    stream::stdout().write_all(&text.into_inner())
}

/// Writes text for people to standard output in one piece; on a terminal, lines that end between words.
pub fn print_wrapped(text: AutoStream<Vec<u8>>) -> io::Result<()> {
    print_text(&String::from_utf8_lossy(&text.into_inner()))
}

/// The same for text without styles.
pub fn print_text(text: &str) -> io::Result<()> {
    stream::stdout().write_all(wrapped(text).as_bytes())
}

/// Returns text for people; on a terminal, with lines that end between words.
pub fn wrapped(text: &str) -> Cow<'_, str> {
    match terminal_width().filter(|&width| width > 0) {
        Some(width) => Cow::Owned(wrap_lines(text, width)),
        None => Cow::Borrowed(text),
    }
}

/// Writes one JSON object and a newline to standard output, in one piece.
pub fn print_json(object: &impl Serialize) -> io::Result<()> {
    stream::stdout().write_all(json::line(object).as_bytes())
}

/// Writes one JSON object and a newline.
pub fn write_json(out: &mut impl Write, object: &impl Serialize) -> io::Result<()> {
    json::write(out, object)?;
    writeln!(out)
}

/// Prints an error message.
pub fn error(what: &(impl Display + ?Sized)) {
    message(ERROR, what);
}

/// Prints an error for each attribute that a new file could not take over from the old one.
pub fn report_lost_metadata(target: &Path, lost: &[LostMetadata]) {
    for LostMetadata { what, reason } in lost {
        let (target, reason) = (target.display(), transect::reason(reason));
        error(&format_args!("cannot preserve {what} of '{target}': {reason}"));
    }
}

/// Prints a message that is neither an error nor a result.
pub fn note(what: &str) {
    message(Style::new(), what);
}

/// Prints what the user can do, after `hint: `.
pub fn hint(what: &str) {
    message(Style::new(), &format_args!("hint: {what}"));
}

/// Writes one line to standard error; on a terminal, lines that end between words. Errors and hints
/// quote names, arguments and contents of files, so the text is quoted here. A closed standard error is
/// ignored.
fn message(style: Style, what: &(impl Display + ?Sized)) {
    let program = format!("{}:", PROGRAM.get().unwrap_or(&"transect"));
    let text = quote::for_terminal(what.to_string().as_ref());
    let mut text = format!("{program} {text}");
    if let Some(width) = stderr_width().filter(|&width| width > 0) {
        text = wrap(&text, width).join("\n");
    }
    let mut line = buffer_with(stream::stderr_colours());
    let _ = writeln!(line, "{style}{program}{style:#}{}", &text[program.len()..]);
    let _ = stream::stderr().write_all(&line.into_inner());
}

/// Prints the help, the version or the error that `clap` returns in place of arguments. Returns the
/// exit code.
pub fn print_clap_error(instead: &clap::Error) -> u8 {
    let is_wrong = instead.use_stderr();
    let colours = if is_wrong { stream::stderr_colours() } else { stream::stdout_colours() };
    let mut text = buffer_with(colours);
    // What the standard library says of a number is about its parser.
    let shown = instead.render().ansi().to_string();
    let shown = shown.replace("invalid digit found in string", "not a whole number");
    // `clap` wraps options, but neither errors nor usage nor groups of commands. Without a terminal it asks
    // the environment for the width of help.
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let width = if is_wrong { stderr_width() } else { terminal_width().or_else(columns) };
    let width = width.filter(|&width| width > 0);
    let shown = width.map_or(shown.clone(), |width| wrap_lines(&shown, width));
    let _ = write!(text, "{shown}");
    let text = text.into_inner();
    // If the stream is closed, the exit code remains.
    let _ = match is_wrong {
        true => stream::stderr().write_all(&text),
        false => stream::stdout().write_all(&text),
    };
    if is_wrong { 2 } else { 0 }
}

/// Makes panics print like other errors, because their messages may quote names, too.
pub(crate) fn install_panic_hook() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
        let reason = panic.payload_as_str().unwrap_or("no message");
        error(&format_args!("panicked{place}: {reason}"));
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            let _ = writeln!(stream::stderr(), "{trace}");
        }
    }));
}
