//! Wraps sentences.

use crate::quote;

/// Returns lines of at most `width` characters; lines after the first are indented.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns lines of at most `width` terminal columns, without indentation. Styles (`ESC [ … m`) have no
/// width. A word that is longer than a line has a line of its own.
pub fn wrap_styled(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for word in text.split(' ') {
        let columns = styled_width(word);
        match lines.last_mut() {
            Some(line) if used + 1 + columns <= width => {
                line.push(' ');
                line.push_str(word);
                used += 1 + columns;
            }
            _ => {
                lines.push(word.to_owned());
                used = columns;
            }
        }
    }
    lines
}

/// Wraps each line of a text at `width` terminal columns. A line keeps its indentation; what continues
/// it is indented by two more columns.
pub fn wrap_lines(text: &str, width: usize) -> String {
    let mut wrapped = String::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let words = line.trim_start_matches(' ');
        let indent = line.len() - words.len();
        // All lines have the room of a continued one, unless one line is enough.
        let fits = indent + styled_width(words) <= width;
        let room = if fits { usize::MAX } else { width.saturating_sub(indent + 2) };
        for (number, part) in wrap_styled(words, room).iter().enumerate() {
            if number > 0 {
                wrapped.push('\n');
            }
            let indent = if number > 0 { indent + 2 } else { indent };
            wrapped.extend(std::iter::repeat_n(' ', indent));
            wrapped.push_str(part);
        }
        wrapped.push_str(end);
    }
    wrapped
}

/// Returns the terminal columns of a text without its styles.
fn styled_width(text: &str) -> usize {
    let mut parts = text.split("\x1b[");
    let first = parts.next().map_or(0, quote::width);
    let others = parts.map(|part| part.split_once('m').map_or(0, |(_, text)| quote::width(text)));
    first + others.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrap_styled_counts_columns_of_letters_only() {
        let text = "\x1b[1mone two\x1b[0m \x1b[2mthree\x1b[0m";
        assert_eq!(wrap_styled(text, 13), [text]);
        assert_eq!(wrap_styled(text, 12), ["\x1b[1mone two\x1b[0m", "\x1b[2mthree\x1b[0m"]);
        assert_eq!(wrap_styled("日本 日本", 8), ["日本", "日本"]);
        assert_eq!(wrap_styled("日本 日本", 9), ["日本 日本"]);
        assert_eq!(wrap_styled("longer than it", 3), ["longer", "than", "it"]);
    }

    #[test]
    fn wrap_lines_keeps_indentation() {
        assert_eq!(wrap_lines("one two\n\n  tip: three\n", 20), "one two\n\n  tip: three\n");
        let narrow = "one two\n  three\n\n  tip:\n    three";
        assert_eq!(wrap_lines("one two three\n\n  tip: three", 10), narrow);
        let styled = "\x1b[1mone two\x1b[0m three";
        assert_eq!(wrap_lines(styled, 9), "\x1b[1mone two\x1b[0m\n  three");
        assert_eq!(wrap_lines(styled, 13), styled);
        assert_eq!(wrap_lines("too-long-for-this is", 3), "too-long-for-this\n  is");
    }

    #[test]
    fn wrap_between_words_loses_none() {
        assert_eq!(wrap("one two three", 100), ["one two three"]);
        assert_eq!(wrap("one two three", 7), ["one two", "  three"]);
        assert_eq!(wrap("one two three four", 12), ["one two", "  three four"]);
        assert_eq!(wrap("longer than wide", 3), ["longer", "  than", "  wide"]);
    }
}
