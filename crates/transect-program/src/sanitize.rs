//! Filters what a terminal receives.
//!
//! File names, file contents and arguments can contain escape sequences that move the cursor, set
//! the window title, send input as if the user had typed it, or reverse the direction of text.
//! Callers quote names ([`for_terminal`](transect_text::quote::for_terminal)), but a caller can
//! forget to. [`Sanitizer`] is therefore the last step before every terminal ([`crate::stream`])
//! and trusts no caller: it passes printable text, newlines and tabs, and shows everything else as
//! a visible escape.
//!
//! The only exceptions are sequences that select a text style (SGR, `ESC [ … m`), because the
//! program's own styles arrive as bytes among the text. Only the few styles that this program uses
//! pass ([`Styles::Ours`]): an unquoted name can at worst become bold or red. Concealed text,
//! background colours and everything else that could hide text do not pass. `list` paints names in
//! the colours of `LS_COLORS`, which may be any. It quotes every name before painting it, and is
//! the only user of [`Styles::Any`]. What a command of `list --exec` prints may contain names that it
//! did not quote; letters in any colour pass ([`Styles::Foreground`]).

use std::io::{self, Write};
use std::str;

use transect_text::quote::{is_hostile, push_escaped};

/// Bytes after which a sequence that has not ended is not a style.
const LONGEST_STYLE: usize = 64;

/// The styles that pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Styles {
    No,
    /// Those of this program and of its `--help`.
    Ours,
    /// Those of commands that the user runs: no concealed or inverse text, and no backgrounds.
    Foreground,
    /// All, for text in which every name is quoted.
    Any,
}

impl Styles {
    /// Returns whether a style may pass, from its parameters: `1;31` of `ESC [1;31m`.
    fn allow(self, parameters: &[u8]) -> bool {
        match self {
            Self::No => false,
            Self::Ours => parameters.split(|&byte| byte == b';').all(|parameter| {
                // Reset, bold, dim, underlined; red, green, yellow, cyan.
                matches!(parameter, b"" | b"0" | b"1" | b"2" | b"4" | b"31" | b"32" | b"33" | b"36")
            }),
            Self::Foreground => selects_foreground(parameters),
            Self::Any => true,
        }
    }
}

/// Returns whether parameters select a weight, a decoration or the colour of letters.
fn selects_foreground(parameters: &[u8]) -> bool {
    let mut parameters = parameters.split(|&byte| byte == b';');
    while let Some(parameter) = parameters.next() {
        match parameter {
            b"" | b"0" | b"1" | b"2" | b"3" | b"4" | b"9" | b"22" | b"23" | b"24" | b"29" => {}
            [b'3', b'0'..=b'7' | b'9'] | [b'9', b'0'..=b'7'] => {}
            // Palette: one number follows. RGB: three.
            b"38" => match parameters.next() {
                Some(b"5") => drop(parameters.next()),
                Some(b"2") => drop(parameters.nth(2)),
                _ => return false,
            },
            _ => return false,
        }
    }
    true
}

/// Writes to a terminal, with control sequences escaped.
#[derive(Debug)]
pub struct Sanitizer<W: Write> {
    terminal: W,
    styles: Styles,
    /// The beginning of a character or a style whose end has not been written yet.
    held: Vec<u8>,
}

impl<W: Write> Sanitizer<W> {
    pub fn new(terminal: W, styles: Styles) -> Self {
        Self { terminal, styles, held: Vec::new() }
    }

    /// Changes the styles that pass.
    pub fn allow(&mut self, styles: Styles) {
        self.styles = styles;
    }
}

impl<W: Write> Write for Sanitizer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut text = String::with_capacity(all.len());
        let done = sanitize(&all, self.styles, &mut text);
        self.held = all.split_off(done);
        self.terminal.write_all(text.as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.terminal.flush()
    }
}

impl<W: Write> Drop for Sanitizer<W> {
    /// Writes the held bytes: they remain incomplete.
    fn drop(&mut self) {
        if !self.held.is_empty() {
            let mut text = String::new();
            self.held.iter().for_each(|&byte| push_byte(byte, &mut text));
            // A closed terminal is ignored.
            let _ = self.terminal.write_all(text.as_bytes());
        }
    }
}

/// Escapes a text for a terminal, without any style.
pub(crate) fn sanitized(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    sanitize_text(text, Styles::No, false, &mut safe);
    safe
}

/// Appends `bytes` with escapes, and returns the number of bytes used: all except an incomplete
/// character or style at the end.
fn sanitize(bytes: &[u8], styles: Styles, text: &mut String) -> usize {
    let mut done = 0;
    for chunk in bytes.utf8_chunks() {
        let (valid, invalid) = (chunk.valid(), chunk.invalid());
        let is_last = done + valid.len() + invalid.len() == bytes.len();
        let passed = sanitize_text(valid, styles, is_last && invalid.is_empty(), text);
        done += passed;
        if passed < valid.len() {
            return done;
        }
        if is_last && str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none()) {
            return done;
        }
        invalid.iter().for_each(|&byte| push_byte(byte, text));
        done += invalid.len();
    }
    done
}

/// The same for valid UTF-8; a style at the end may be incomplete if `goes_on`.
fn sanitize_text(input: &str, styles: Styles, goes_on: bool, text: &mut String) -> usize {
    let mut rest = input;
    while let Some(at) = rest.find(|c: char| is_hostile(c) && c != '\n' && c != '\t') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        match style(rest.as_bytes()) {
            Style::Complete(length) if styles.allow(&rest.as_bytes()[2..length - 1]) => {
                text.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            Style::Incomplete if goes_on => return input.len() - rest.len(),
            _ => {
                let mut characters = rest.chars();
                characters.next().into_iter().for_each(|c| push_escaped(c, text));
                rest = characters.as_str();
            }
        }
    }
    text.push_str(rest);
    input.len()
}

/// A style at the beginning of bytes.
enum Style {
    /// A style of this many bytes.
    Complete(usize),
    /// The beginning of a style.
    Incomplete,
    No,
}

fn style(bytes: &[u8]) -> Style {
    let is_begun = bytes.starts_with(b"\x1b[") || bytes == b"\x1b";
    let parameters = bytes.iter().skip(2).take(LONGEST_STYLE);
    match parameters.clone().position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':')) {
        _ if !is_begun => Style::No,
        Some(end) if bytes[2 + end] == b'm' => Style::Complete(2 + end + 1),
        None if parameters.len() < LONGEST_STYLE => Style::Incomplete,
        _ => Style::No,
    }
}

/// Appends a byte that is not part of a character, or of an allowed style.
fn push_byte(byte: u8, text: &mut String) {
    match char::from(byte) {
        c if !byte.is_ascii() => text.push_str(&format!("\\x{:02x}", u32::from(c))),
        c if is_hostile(c) => push_escaped(c, text),
        c => text.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_text::style;

    /// Returns the text that a terminal receives for bytes written in these pieces.
    fn shown<'p>(pieces: impl IntoIterator<Item = &'p [u8]>, styles: Styles) -> String {
        let mut terminal = Vec::new();
        let mut sanitizer = Sanitizer::new(&mut terminal, styles);
        pieces.into_iter().for_each(|piece| sanitizer.write_all(piece).unwrap());
        drop(sanitizer);
        String::from_utf8(terminal).expect("a terminal gets UTF-8 only")
    }

    /// Bytes that control terminals, and the text shown for them.
    const HOSTILE: &[(&[u8], &str)] = &[
        (b"\x1b]0;title\x07", "\\e]0;title\\u{7}"),
        (b"\x1b[2J\x1b[H", "\\e[2J\\e[H"),
        (b"\x1b[6n\x1bP$q\x1b\\", "\\e[6n\\eP$q\\e\\"),
        ("\u{9b}2J\u{90}\u{9d}".as_bytes(), "\\u{9b}2J\\u{90}\\u{9d}"),
        (b"a\x9b2J\x90", "a\\x9b2J\\x90"),
        (b"\x7f\x08\r\0", "\\u{7f}\\u{8}\\r\\0"),
        ("\u{202e}gpj\u{200f}\u{2066}\u{61c}".as_bytes(), "\\u{202e}gpj\\u{200f}\\u{2066}\\u{61c}"),
        // Truncated within a character, and within a style.
        (b"caf\xc3", "caf\\xc3"),
        (b"caf\xc3\x1b[1", "caf\\xc3\\e[1"),
        (b"\x1b", "\\e"),
        (b"\x1b[", "\\e["),
        // Styles that hide text, or that the program does not use.
        (b"\x1b[8mhidden\x1b[1;30;40m\x1b[7m", "\\e[8mhidden\\e[1;30;40m\\e[7m"),
        (b"\x1b[?25l\x1b[>4m\x1b[1 m", "\\e[?25l\\e[>4m\\e[1 m"),
        ("\x1b[1\u{9b}m".as_bytes(), "\\e[1\\u{9b}m"),
    ];

    #[test]
    fn sanitizer_hostile_bytes_escaped() {
        for (bytes, expected) in HOSTILE {
            assert_eq!(shown([*bytes], Styles::Ours), *expected);
        }
        let endless = [b"\x1b[".as_slice(), &b"1".repeat(1000)].concat();
        assert!(shown([endless.as_slice()], Styles::Any).starts_with("\\e[111"));
    }

    #[test]
    fn sanitizer_text_unchanged_in_any_pieces() {
        let plain = "plain\ttext\n日本語 \u{200d}é\u{a0}\x1b[1mbold\x1b[0m";
        let all = HOSTILE.iter().map(|(bytes, _)| *bytes).chain([plain.as_bytes()]);
        for bytes in all {
            let whole = shown([bytes], Styles::Ours);
            for at in 0..=bytes.len() {
                let (head, tail) = bytes.split_at(at);
                assert_eq!(shown([head, tail], Styles::Ours), whole, "cut at {at}");
            }
            assert_eq!(shown(bytes.chunks(1), Styles::Ours), whole);
        }
        assert_eq!(shown([plain.as_bytes()], Styles::Ours), plain);
    }

    #[test]
    fn sanitizer_own_styles_pass() {
        let of_clap = clap::builder::Styles::styled();
        let of_clap = [
            of_clap.get_header(),
            of_clap.get_usage(),
            of_clap.get_literal(),
            of_clap.get_placeholder(),
            of_clap.get_error(),
            of_clap.get_valid(),
            of_clap.get_invalid(),
            of_clap.get_context(),
            of_clap.get_context_value(),
        ];
        for style in style::ALL.iter().chain(of_clap) {
            let text = format!("{style}text{style:#}");
            assert_eq!(shown([text.as_bytes()], Styles::Ours), text);
        }
    }

    #[test]
    fn sanitizer_of_commands_passes_colours_of_letters() {
        for painted in ["\x1b[m", "\x1b[1;35m", "\x1b[38;5;8mgrey\x1b[39m", "\x1b[38;2;8;8;8;94m"] {
            assert_eq!(shown([painted.as_bytes()], Styles::Foreground), painted);
        }
        for hidden in ["[8m", "[1;8m", "[7m", "[41m", "[48;5;1m", "[38;5;1;8m", "[38m", "[100m"] {
            let shown = shown([format!("\x1b{hidden}").as_bytes()], Styles::Foreground);
            assert_eq!(shown, format!("\\e{hidden}"));
        }
    }

    #[test]
    fn sanitizer_any_style_passes_if_allowed() {
        let painted = b"\x1b[1;38;2;255;128;0;48;5;17mname\x1b[0m";
        assert_eq!(shown([painted.as_slice()], Styles::Any).as_bytes(), painted);
        assert_eq!(shown([b"\x1b[2J\x1b]0;t\x07".as_slice()], Styles::Any), "\\e[2J\\e]0;t\\u{7}");
    }
}
