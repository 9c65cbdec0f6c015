//! Wraps sentences.

use crate::quote;

/// Returns lines of at most `width` terminal columns; lines after the first are indented.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    wrap_indented(text, width, "  ")
}

/// Returns lines of at most `width` terminal columns, without indentation. Styles (`ESC [ … m`) have no
/// width. A word that is longer than a line has a line of its own.
pub fn wrap_styled(text: &str, width: usize) -> Vec<String> {
    wrap_indented(text, width, "")
}

/// Returns lines, of which those after the first begin with `indent`.
fn wrap_indented(text: &str, width: usize, indent: &str) -> Vec<String> {
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
            last => {
                let indent = if last.is_some() { indent } else { "" };
                lines.push(format!("{indent}{word}"));
                used = indent.len() + columns;
            }
        }
    }
    lines
}

/// Wraps each line of a text at `width` terminal columns, between words and between the columns of a table.
///
/// What continues a line is indented: as far as the last column of a table begins, if at least two fifths of the
/// width are left there; otherwise by two more columns than the line. The other columns of a table move to the
/// next line as a whole. A word that is longer than a line has a line of its own.
pub fn wrap_lines(text: &str, width: usize) -> String {
    let mut wrapped = String::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        match styled_width(line) <= width {
            true => wrapped.push_str(line),
            false => wrap_line(line, width, &mut wrapped),
        }
        wrapped.push_str(end);
    }
    wrapped
}

/// Appends a line that is too long, as several.
fn wrap_line(line: &str, width: usize, wrapped: &mut String) {
    let (cells, tail) = cells(line);
    let hangs = cells.len() > 1 && cells.last().is_some_and(|it| it.at + width * 2 / 5 <= width);
    let indent = match cells.as_slice() {
        [only] => only.at + 2,
        // Numbers are aligned to the right, so indentation differs from line to line.
        [first, ..] => first.at.min(2) + 2,
        [] => 0,
    };
    let (mut used, mut is_moved) = (0, false);
    for (place, cell) in cells.iter().enumerate() {
        let columns = styled_width(cell.text);
        let is_hanging = hangs && place + 1 == cells.len();
        if place == 0 || !is_moved && (is_hanging || cell.at + columns <= width) {
            wrapped.push_str(cell.gap);
            used = cell.at;
        } else {
            wrapped.extend(cell.gap.chars().filter(|&it| it != ' '));
            if is_moved && used + 2 + columns <= width {
                wrapped.push_str("  ");
                used += 2;
            } else {
                push_line_end(indent, wrapped);
                (used, is_moved) = (indent, true);
            }
        }
        let indent = if is_hanging && !is_moved { cell.at } else { indent };
        let fits = used + columns <= width;
        let room = if fits { usize::MAX } else { width.saturating_sub(indent.max(used)) };
        for (number, part) in wrap_styled(cell.text, room).iter().enumerate() {
            if number > 0 {
                push_line_end(indent, wrapped);
            }
            wrapped.push_str(part);
        }
        used += columns;
        is_moved |= !fits;
    }
    wrapped.extend(tail.chars().filter(|&it| it != ' '));
}

fn push_line_end(indent: usize, wrapped: &mut String) {
    wrapped.push('\n');
    wrapped.extend(std::iter::repeat_n(' ', indent));
}

/// A column of a line: text that begins the line, or follows at least two spaces.
struct Cell<'t> {
    /// The spaces before it, with styles among them.
    gap: &'t str,
    text: &'t str,
    /// The terminal columns before the text.
    at: usize,
}

/// Splits a line into its columns, and what follows them: spaces and styles.
fn cells(line: &str) -> (Vec<Cell<'_>>, &str) {
    let mut cells: Vec<Cell<'_>> = Vec::new();
    // Where the last text ends, where the next one may begin, and the columns and spaces before it.
    let (mut end, mut begin, mut column, mut spaces) = (0, 0, 0, 2);
    let (mut at, mut first) = (0, 0);
    while let Some(character) = line[at..].chars().next() {
        let style = line[at..].starts_with("\x1b[").then(|| line[at..].find('m')).flatten();
        let next = at + style.map_or(character.len_utf8(), |last| last + 1);
        match (style, character) {
            (None, ' ') => (begin, column, spaces) = (next, column + 1, spaces + 1),
            // Belongs to the text that it follows, or to the next one.
            (Some(_), _) if spaces > 0 => {}
            _ => {
                if spaces > 1 {
                    cells.push(Cell { gap: &line[end..begin], text: "", at: column });
                    first = begin;
                }
                if let Some(cell) = cells.last_mut() {
                    cell.text = &line[first..next];
                }
                if style.is_none() {
                    column += quote::width(&line[at..next]);
                }
                (end, spaces) = (next, 0);
            }
        }
        at = next;
    }
    (cells, &line[end..])
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
    fn wrap_lines_last_column_of_table_hangs() {
        let line = "  statx   yes  asks for what is needed";
        let hanging = "  statx   yes  asks for\n               what is\n               needed";
        assert_eq!(wrap_lines(line, 26), hanging);
        let styled = "\x1b[1m    0\x1b[0m  hits  \x1b[2manswers from memory\x1b[0m";
        let hanging = "\x1b[1m    0\x1b[0m  hits  \x1b[2manswers from\n             memory\x1b[0m";
        assert_eq!(wrap_lines(styled, 27), hanging);
    }

    #[test]
    fn wrap_lines_columns_without_room_move_as_a_whole() {
        let line = "   12 KiB   34 KiB  a-name  on tape";
        assert_eq!(wrap_lines(line, 24), "   12 KiB   34 KiB\n    a-name  on tape");
        assert_eq!(wrap_lines(line, 14), "   12 KiB\n    34 KiB\n    a-name\n    on tape");
        let styled = "\x1b[32mname of it     \x1b[0m  Rust";
        assert_eq!(wrap_lines(styled, 12), "\x1b[32mname of it\x1b[0m\n  Rust");
    }

    #[test]
    fn wrap_lines_loses_nothing() {
        for width in 10..60 {
            for line in
                ["  a  bb ccc   dddd eeeee  f ", "\x1b[1m  x \x1b[0m  \x1b[2m yy  z\x1b[0m  ", ""]
            {
                let wrapped = wrap_lines(line, width);
                let letters = |text: &str| text.replace([' ', '\n'], "");
                assert_eq!(letters(&wrapped), letters(line), "{width}");
                let fits = |part: &str| styled_width(part) <= width || !part.trim().contains(' ');
                assert!(wrapped.lines().all(fits), "{width}: {wrapped:?}");
            }
        }
    }

    #[test]
    fn wrap_between_words_loses_none() {
        assert_eq!(wrap("one two three", 100), ["one two three"]);
        assert_eq!(wrap("one two three", 7), ["one two", "  three"]);
        assert_eq!(wrap("one two three four", 12), ["one two", "  three four"]);
        assert_eq!(wrap("longer than wide", 3), ["longer", "  than", "  wide"]);
    }
}
