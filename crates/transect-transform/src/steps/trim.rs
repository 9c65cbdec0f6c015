//! Removes blanks at the ends of lines.

use memchr::memchr;

use crate::output::OutputBuffer;
use crate::step::{Finding, InvalidData, Step, StepError};
use crate::steps::clean::{SPAN, any_of_three, clean_prefix};
use crate::steps::line_ends::{CR, LF};

/// Maximum number of adjacent blanks: they must be kept until the next byte is known, and more of
/// them are not text.
const MAX_BLANKS: usize = 16 << 20;

/// Removes spaces and tabs before the end of every line: LF, CRLF or the end of the file.
#[derive(Default)]
pub(super) struct Trim {
    /// Number of bytes in earlier blocks.
    before: u64,
    /// Blanks at the end of the input so far, to be removed if the line ends there.
    open: Vec<u8>,
    /// Whether a CR follows them.
    open_cr: bool,
    /// Lines that had blanks at their end.
    trimmed: u64,
}

fn is_blank(byte: u8) -> bool {
    // Without a short circuit, the compiler vectorises this.
    (byte == b' ') | (byte == b'\t')
}

/// Returns whether no line of a span ends with a blank. Treats every CR as a line ending; lone CRs
/// are handled line by line.
fn has_no_blank_at_an_end(span: &[u8]) -> bool {
    let begins_right = match span {
        [first, second, ..] => !is_blank(*first) || (*second != LF && *second != CR),
        _ => true,
    };
    begins_right && !any_of_three(span, |_, b, c| is_blank(b) & ((c == LF) | (c == CR)))
}

impl Trim {
    /// Processes lines after a byte that is not a blank. Returns the blanks at the end, with a CR
    /// after them: the next bytes decide about them.
    fn trim<'a>(
        &mut self,
        lines: &'a [u8],
        out: &mut OutputBuffer<'_>,
    ) -> Result<&'a [u8], StepError> {
        // The bytes not written yet, and where the line begins in them.
        let (mut rest, mut line) = (lines, 0);
        loop {
            let end = memchr(LF, &rest[line..]).map(|at| line + at);
            let text = &rest[..end.unwrap_or(rest.len())];
            let text = text.strip_suffix(&[CR]).unwrap_or(text);
            let blanks = text.iter().rev().take_while(|byte| is_blank(**byte)).count();
            match end {
                Some(end) if blanks == 0 => line = end + 1,
                Some(end) => {
                    self.trimmed += 1;
                    out.put(&text[..text.len() - blanks])?;
                    line = end + 1 - text.len();
                    rest = &rest[text.len()..];
                }
                None if blanks == 0 => {
                    out.put(rest)?;
                    return Ok(&[]);
                }
                None => {
                    let (certain, open) = rest.split_at(text.len() - blanks);
                    out.put(certain)?;
                    return Ok(open);
                }
            }
        }
    }

    /// Processes blanks and the bytes that decide about them. Returns the rest. `at` is the offset
    /// of the input in the file.
    fn close<'a>(
        &mut self,
        input: &'a [u8],
        at: u64,
        out: &mut OutputBuffer<'_>,
    ) -> Result<&'a [u8], StepError> {
        let mut rest = input;
        while let [first, after @ ..] = rest {
            if is_blank(*first) && !self.open_cr {
                let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
                if self.open.len() + blanks > MAX_BLANKS {
                    let begin = at + (input.len() - rest.len()) as u64 - self.open.len() as u64;
                    let reason =
                        format!("more than {} MiB of blanks side by side", MAX_BLANKS >> 20);
                    return Err(InvalidData::at(begin, reason).into());
                }
                self.open.extend_from_slice(&rest[..blanks]);
                rest = &rest[blanks..];
            } else if *first == CR && !self.open_cr {
                self.open_cr = true;
                rest = after;
            } else {
                self.put_open(*first == LF, out)?;
                break;
            }
        }
        Ok(rest)
    }

    /// Writes the open bytes, without the blanks if the line ends here.
    fn put_open(&mut self, line_ends: bool, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        if line_ends {
            self.trimmed += 1;
        } else {
            out.put(&self.open)?;
        }
        self.open.clear();
        if std::mem::take(&mut self.open_cr) { out.put(&[CR]) } else { Ok(()) }
    }
}

impl Step for Trim {
    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let mut rest = input;
        while let [first, ..] = rest {
            if !self.open.is_empty() || is_blank(*first) {
                let at = self.before + (input.len() - rest.len()) as u64;
                rest = self.close(rest, at, out)?;
                continue;
            }
            let (right, after) =
                rest.split_at(clean_prefix(rest, is_blank, has_no_blank_at_an_end));
            out.put(right)?;
            rest = after;
            // The rest may begin with a blank that the last span left open.
            if !rest.first().copied().is_some_and(is_blank) {
                let (lines, after) = rest.split_at(rest.len().min(SPAN));
                let open = self.trim(lines, out)?;
                rest = &rest[rest.len() - after.len() - open.len()..];
            }
        }
        self.before += input.len() as u64;
        Ok(())
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        if self.open.is_empty() {
            return Ok(());
        }
        // After a lone CR, the line continues.
        self.put_open(!self.open_cr, out)
    }

    fn findings(&self) -> Vec<Finding> {
        vec![Finding::new("trimmed", self.trimmed)]
    }

    fn reset(&mut self) {
        self.before = 0;
        self.open.clear();
        self.open_cr = false;
        self.trimmed = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, cuts, made_of};

    fn oracle(input: &[u8]) -> (Vec<u8>, u64) {
        let (mut result, mut trimmed) = (Vec::new(), 0);
        for line in input.split_inclusive(|byte| *byte == LF) {
            let ends: [&[u8]; 3] = [b"\r\n", b"\n", b""];
            let end = ends.into_iter().find(|end| line.ends_with(end)).unwrap();
            let text = &line[..line.len() - end.len()];
            let mut kept = text;
            while let [before @ .., b' ' | b'\t'] = kept {
                kept = before;
            }
            trimmed += u64::from(kept != text);
            result.extend_from_slice(kept);
            result.extend_from_slice(end);
        }
        (result, trimmed)
    }

    #[test]
    fn trim_blanks_at_line_ends_only() {
        for (input, expected) in [
            ("", ""),
            (" \t ", ""),
            ("a \nb\t\r\nc \t", "a\nb\r\nc"),
            (" a b \n", " a b\n"),
            ("a \rb", "a \rb"),
            ("a \r\r\n", "a \r\r\n"),
            ("a \r \n", "a \r\n"),
            ("a \r", "a \r"),
            ("\n \n\r\n \r\n", "\n\n\r\n\r\n"),
        ] {
            let result = StepTester::parse("trim").result(input.as_bytes(), &[1]);
            assert_eq!(result, expected.as_bytes(), "{input:?}");
        }
    }

    #[test]
    fn trim_too_many_blanks_rejected() {
        let most = [&b"a"[..], &vec![b' '; MAX_BLANKS], b"b"].concat();
        assert_eq!(StepTester::parse("trim").result(&most, &[100_000]), most);
        let more = [&b"a"[..], &vec![b' '; MAX_BLANKS + 1], b"b"].concat();
        let error = StepTester::parse("trim").run(&more, &[100_000]).unwrap_err();
        assert_eq!(error.to_string(), "trim: more than 16 MiB of blanks side by side at byte 1");
    }

    proptest! {
        #[test]
        fn trim_equals_oracle(
            input in made_of(&[b" ", b"\t", b"   ", b"\r", b"\n", b"\r\n", b"a", b"a b"]),
            sizes in cuts(),
        ) {
            let outcome = StepTester::parse("trim").run(&input, &sizes).unwrap();
            let (result, trimmed) = oracle(&input);
            prop_assert_eq!(outcome.count("trimmed"), trimmed);
            prop_assert_eq!(outcome.result, result);
        }
    }
}
