//! Reads lines of a file of any length in little memory. Another byte than a newline may end them.

use std::io::{self, BufRead, Read};

/// Bytes of a line to keep: longer than any digest with a path, escapes included.
const MAX_LINE_LENGTH: usize = 256 << 10;

#[derive(Clone, Copy, Debug)]
pub(crate) struct RawLine<'a> {
    /// Line number, from 1.
    pub(crate) number: usize,
    /// Offset in the file.
    pub(crate) start: u64,
    /// The line with its end, which the last line may lack. Cut off if the line is too long.
    pub(crate) text: &'a [u8],
    pub(crate) is_too_long: bool,
}

/// Reads lines one by one. Holds only one line in memory, and at most [`MAX_LINE_LENGTH`] bytes of
/// it.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    pub(crate) from: R,
    pub(crate) end: u8,
    text: Vec<u8>,
    number: usize,
    offset: u64,
    /// The last line was too long, and its rest was not read.
    is_inside: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, end: b'\n', text: Vec::new(), number: 0, offset: 0, is_inside: false }
    }

    /// Returns the next line; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<RawLine<'_>>> {
        // Skip the rest only now: a caller that stops at a long line need not wait for its end.
        if std::mem::take(&mut self.is_inside) {
            self.offset += self.from.skip_until(self.end)? as u64;
        }
        self.text.clear();
        let start = self.offset;
        let mut limited = self.from.by_ref().take(MAX_LINE_LENGTH as u64 + 1);
        let read = limited.read_until(self.end, &mut self.text)?;
        if read == 0 {
            return Ok(None);
        }
        self.offset += read as u64;
        self.number += 1;
        let is_too_long = read > MAX_LINE_LENGTH && !self.text.ends_with(&[self.end]);
        self.is_inside = is_too_long;
        Ok(Some(RawLine { number: self.number, start, text: &self.text, is_too_long }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_any_length_with_offsets() {
        let longest = vec![b'x'; MAX_LINE_LENGTH];
        let text = [b"a\n\n", &longest[..], b"\n", &longest, b"yz\n", b"end"].concat();
        let mut lines = Lines::new(io::BufReader::with_capacity(100, &text[..]));
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push((line.number, line.start, line.text.len(), line.is_too_long));
        }
        let long = MAX_LINE_LENGTH as u64;
        let expected = [
            (1, 0, 2, false),
            (2, 2, 1, false),
            (3, 3, MAX_LINE_LENGTH + 1, false),
            (4, 4 + long, MAX_LINE_LENGTH + 1, true),
            (5, 7 + 2 * long, 3, false),
        ];
        assert_eq!(seen, expected);
    }
}
