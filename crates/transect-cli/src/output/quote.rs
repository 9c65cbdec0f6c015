//! Names that people look at. A name may hold anything but `/` and NUL: a newline, an escape
//! sequence, bytes that are no text.

use std::ffi::OsStr;

/// Returns a name that cannot steer a terminal or pass for several lines: control characters are
/// written as escapes, what is not UTF-8 as the replacement character.
pub(crate) fn for_terminal(name: &OsStr) -> String {
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

/// Returns a text of at most `width` characters. What is cut is cut from the middle: a path is
/// told by where it begins and where it ends.
pub(crate) fn shorten(text: String, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text;
    }
    let kept = width.saturating_sub(1);
    let head: String = text.chars().take(kept / 3).collect();
    let tail: String = text.chars().skip(length - (kept - kept / 3)).collect();
    format!("{head}…{tail}")
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
    fn nothing_steers_a_terminal() {
        let shown = for_terminal(OsStr::new("a\nb\x1b[31mc\u{202e}d\u{7f}é"));
        assert_eq!(shown, "a\\nb\\e[31mc\\u{202e}d\\u{7f}é");
    }
}
