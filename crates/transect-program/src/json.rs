//! JSON that a terminal can show, and paths in it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use transect_text::quote;

/// Writes a value as JSON. Its strings escape all control characters, so that a terminal can show
/// JSON unchanged. Pipes get the same bytes: they may end up on a terminal later.
pub fn write(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, TerminalSafe))?)
}

/// Returns a value as a line of JSON.
pub fn line(value: &impl Serialize) -> String {
    let mut line = Vec::new();
    write(&mut line, value).expect("BUG: nothing in it cannot be written");
    line.push(b'\n');
    String::from_utf8(line).expect("BUG: JSON is UTF-8")
}

/// Escapes characters that JSON allows unescaped: DEL, C1 controls, bidirectional marks.
struct TerminalSafe;

impl Formatter for TerminalSafe {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        // Fast path: of ASCII, only DEL is left to escape.
        while rest.bytes().any(|byte| byte >= 0x7f)
            && let Some((at, hostile)) = rest.char_indices().find(|(_, c)| quote::is_hostile(*c))
        {
            out.write_all(&rest.as_bytes()[..at])?;
            // All of them fit into 16 bits.
            write!(out, "\\u{:04x}", u32::from(hostile))?;
            rest = &rest[at + hostile.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }
}

/// A path that is a value of its own.
#[derive(Serialize)]
pub struct PathKey<'a>(Cow<'a, str>);

impl<'a> From<&'a Path> for PathKey<'a> {
    fn from(path: &'a Path) -> Self {
        Self(path.to_string_lossy())
    }
}

/// A path, and its bytes in hexadecimal where it is not UTF-8.
#[derive(Serialize)]
pub struct PathEntry<'a> {
    path: PathKey<'a>,
    path_raw: Option<String>,
}

impl<'a> From<&'a Path> for PathEntry<'a> {
    fn from(path: &'a Path) -> Self {
        let path_raw = path.to_str().is_none().then(|| hex(path.as_os_str().as_encoded_bytes()));
        Self { path: path.into(), path_raw }
    }
}

impl<'a> From<&'a [u8]> for PathEntry<'a> {
    fn from(path: &'a [u8]) -> Self {
        let text = String::from_utf8_lossy(path);
        let path_raw = matches!(text, Cow::Owned(_)).then(|| hex(path));
        Self { path: PathKey(text), path_raw }
    }
}

/// Returns bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_object_keys_in_order_without_missing_ones() {
        let name = String::from("a");
        let object = transect_text::json_object! {
            schema: "x/1",
            size?: None::<u64>,
            ..path: PathEntry::from(Path::new(&name)),
            r#type: transect_text::json_object! { bits?: Some(7) },
        };
        let expected = r#"{"schema":"x/1","path":"a","path_raw":null,"type":{"bits":7}}"#;
        assert_eq!(line(&object).trim_end(), expected);
    }

    #[test]
    fn json_hostile_characters_are_escaped_and_round_trip() {
        let hostile = "\x1b]0;t\x07\0\u{7f}\u{80}\u{9b}\u{9f}\u{202e}\u{2066}\u{200f}\u{61c}";
        for text in [hostile, "plain \"quoted\" \\", "é\u{a0}日本語\u{1f600}", ""] {
            let text = format!("{text}é{text}");
            let line = line(&text);
            assert!(!line.trim_end().contains(quote::is_hostile), "{line:?}");
            assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
        assert_eq!(line(&"é\u{9b}"), "\"é\\u009b\"\n");
    }
}
