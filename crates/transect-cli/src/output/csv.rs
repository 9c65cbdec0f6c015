//! Comma-separated values, by RFC 4180: text is always quoted, numbers never are.
//!
//! Readers guess the dialect from the first lines (DuckDB from 20,480): if only a later line had
//! quotes, they would not expect any. The `csv` crate quotes all fields, or those that need it.

use std::fmt::Display;
use std::io::Write;

#[derive(Debug)]
pub(crate) struct Record<'a> {
    line: &'a mut Vec<u8>,
    is_empty: bool,
}

impl<'a> Record<'a> {
    /// Begins a record at the end of `line`.
    pub(crate) fn new(line: &'a mut Vec<u8>) -> Self {
        Self { line, is_empty: true }
    }

    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_empty) {
            self.line.push(b',');
        }
    }

    /// Appends text, as its exact bytes.
    pub(crate) fn text(&mut self, text: &[u8]) {
        self.separate();
        self.line.push(b'"');
        for &byte in text {
            if byte == b'"' {
                self.line.push(b'"');
            }
            self.line.push(byte);
        }
        self.line.push(b'"');
    }

    /// Appends a number, or a name of a column.
    pub(crate) fn plain(&mut self, value: impl Display) {
        self.separate();
        write!(self.line, "{value}").expect("BUG: memory that cannot be written");
    }

    pub(crate) fn unknown(&mut self) {
        self.separate();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_quotes_text_and_not_numbers() {
        let mut line = Vec::new();
        let mut record = Record::new(&mut line);
        record.unknown();
        record.plain(7);
        record.text(b"a");
        record.text(b"b,\"c\"\n\xff");
        record.text(b"");
        record.unknown();
        assert_eq!(line, b",7,\"a\",\"b,\"\"c\"\"\n\xff\",\"\",");
    }
}
