//! Names that people look at. A name may hold anything but `/` and NUL: a newline, an escape
//! sequence, bytes that are no text.

use std::ffi::OsStr;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns a name that cannot steer a terminal or pass for several lines: control characters are
/// written as escapes, what is not UTF-8 as the replacement character.
pub fn for_terminal(name: &OsStr) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.to_string_lossy().chars() {
        match character {
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            '\u{1b}' => text.push_str("\\e"),
            // Right-to-left overrides make one name look like another.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                text.push_str(&character.escape_unicode().to_string());
            }
            c if c.is_control() => text.push_str(&c.escape_unicode().to_string()),
            c => text.push(c),
        }
    }
    text
}

/// Returns how many columns of a terminal a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Returns a text of at most `width` columns. What is cut is cut from the middle: a path is told by
/// where it begins and where it ends.
pub fn shorten(text: String, width: usize) -> String {
    if text.width() <= width {
        return text;
    }
    let kept = width.saturating_sub(1);
    let head = head(&text, kept / 3);
    let tail = tail(&text, kept - kept / 3);
    format!("{head}…{tail}")
}

/// Returns as much of the beginning of a text as `room` columns hold.
fn head(text: &str, room: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|(_, character)| {
        taken += character.width().unwrap_or(0);
        taken > room
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// Returns as much of the end of a text as `room` columns hold; it begins with nothing that belongs
/// to the character before.
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
    fn a_path_is_cut_in_the_middle() {
        assert_eq!(shorten("abc".into(), 3), "abc");
        assert_eq!(shorten("abcdefghij".into(), 7), "ab…ghij");
        assert_eq!(shorten("éééééééééé".into(), 7).chars().count(), 7);
        assert_eq!(shorten("abc".into(), 0), "…");
    }

    #[test]
    fn what_is_wide_takes_two_columns_and_an_accent_none() {
        assert_eq!(shorten("日本語の名前".into(), 12), "日本語の名前");
        assert_eq!(shorten("日本語の名前".into(), 8), "日…名前");
        let accents = "e\u{301}".repeat(10);
        assert_eq!(shorten(accents.clone(), 10), accents);
        assert_eq!(width(&shorten(accents, 7)), 7);
    }

    #[test]
    fn nothing_steers_a_terminal() {
        let shown = for_terminal(OsStr::new("a\nb\x1b[31mc\u{202e}d\u{7f}é"));
        assert_eq!(shown, "a\\nb\\e[31mc\\u{202e}d\\u{7f}é");
    }
}
