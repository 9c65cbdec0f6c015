//! Text that is safe to print to a terminal. A file name may contain anything but `/` and NUL: a
//! newline, an escape sequence, bytes that are not UTF-8.

use std::ffi::OsStr;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns a name without characters that control a terminal or split it into several lines: they
/// are escaped. Bytes that are not UTF-8 become the replacement character.
pub fn for_terminal(name: &OsStr) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.to_string_lossy().chars() {
        match is_hostile(character) {
            true => push_escaped(character, &mut text),
            false => text.push(character),
        }
    }
    text
}

/// Returns whether a character controls a terminal or makes one text look like another: the control
/// characters (C0, DEL, C1, with newline and tab), and those that change the direction of text (the
/// Unicode property `Bidi_Control`).
pub fn is_hostile(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Appends a character as a visible escape: `\n`, `\e`, `\u{202e}`.
pub fn push_escaped(character: char, text: &mut String) {
    match character {
        '\0' => text.push_str("\\0"),
        '\n' => text.push_str("\\n"),
        '\t' => text.push_str("\\t"),
        '\r' => text.push_str("\\r"),
        '\u{1b}' => text.push_str("\\e"),
        other => text.extend(other.escape_unicode()),
    }
}

/// Returns the width of a text in terminal columns.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Returns a text of at most `width` columns. The middle is cut: the start and the end of a path
/// identify it best.
pub fn shorten(text: String, width: usize) -> String {
    if text.width() <= width {
        return text;
    }
    let kept = width.saturating_sub(1);
    let head = head(&text, kept / 3);
    let tail = tail(&text, kept - kept / 3);
    format!("{head}…{tail}")
}

/// Returns the start of a text that fits into `room` columns.
fn head(text: &str, room: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|(_, character)| {
        taken += character.width().unwrap_or(0);
        taken > room
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// Returns the end of a text that fits into `room` columns. It does not begin with a combining
/// character.
fn tail(text: &str, room: usize) -> &str {
    let (mut taken, mut start) = (0, text.len());
    for (at, character) in text.char_indices().rev() {
        let width = character.width().unwrap_or(0);
        taken += width;
        if taken > room {
            break;
        }
        if width > 0 {
            start = at;
        }
    }
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorten_cuts_middle() {
        assert_eq!(shorten("abc".into(), 3), "abc");
        assert_eq!(shorten("abcdefghij".into(), 7), "ab…ghij");
        assert_eq!(shorten("éééééééééé".into(), 7).chars().count(), 7);
        assert_eq!(shorten("abc".into(), 0), "…");
    }

    #[test]
    fn shorten_wide_characters_and_accents() {
        assert_eq!(shorten("日本語の名前".into(), 12), "日本語の名前");
        assert_eq!(shorten("日本語の名前".into(), 8), "日…名前");
        let accents = "e\u{301}".repeat(10);
        assert_eq!(shorten(accents.clone(), 10), accents);
        assert_eq!(width(&shorten(accents, 7)), 7);
    }

    #[test]
    fn for_terminal_control_characters_escaped() {
        let shown = for_terminal(OsStr::new("a\nb\x1b[31mc\u{202e}d\u{7f}é"));
        assert_eq!(shown, "a\\nb\\e[31mc\\u{202e}d\\u{7f}é");
    }

    #[test]
    fn for_terminal_direction_marks_escaped() {
        let controls = ('\0'..=' ').chain('\u{7f}'..='\u{a0}').filter(|c| c.is_control());
        let marks = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
        for character in controls.chain(marks.chars()) {
            let shown = for_terminal(OsStr::new(&character.to_string()));
            assert!(shown.starts_with('\\') && !shown.contains(is_hostile), "{shown:?}");
        }
        // Scripts and emoji need joiners.
        assert_eq!(for_terminal(OsStr::new("\u{200d} \u{a0}é\u{5d0}")), "\u{200d} \u{a0}é\u{5d0}");
    }
}
