//! Counts line endings.

use memchr::{memchr, memchr2};

use crate::output::OutputBuffer;
use crate::step::{Finding, Shape, Step, StepError};
use crate::steps::clean::{SPAN, clean_prefix};
use crate::steps::line_ends::{CR, LF, count, count_lone_cr, has_crlf_only};

/// Counts line endings by kind.
#[derive(Default)]
pub(super) struct LineEndReport {
    /// CRs at the end of the input so far: part of a line ending if an LF follows.
    open: u64,
    /// Lines that end with LF only.
    lf: u64,
    /// Lines that end with one CR and LF.
    crlf: u64,
    /// Lines that end with several CRs and LF.
    crcrlf: u64,
    /// CRs that are not part of a line ending.
    cr: u64,
}

impl LineEndReport {
    /// Counts spans of lines with the same ending, and returns the rest. The byte before them is
    /// not a CR.
    fn count_alike<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (lf, rest) = bytes.split_at(memchr(CR, bytes).unwrap_or(bytes.len()));
        self.lf += count(LF, lf);
        let (crlf, rest) = rest.split_at(clean_prefix(rest, |byte| byte == CR, has_crlf_only));
        self.crlf += count(LF, crlf);
        self.cr += count_lone_cr(crlf);
        rest
    }

    fn count_each(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let [first, after @ ..] = rest {
            match (*first, self.open) {
                (CR, _) => {
                    self.open += 1;
                    rest = after;
                    continue;
                }
                (LF, 0) => self.lf += 1,
                (LF, 1) => self.crlf += 1,
                (LF, _) => self.crcrlf += 1,
                (_, open) => self.cr += open,
            }
            self.open = 0;
            rest = &after[memchr2(CR, LF, after).unwrap_or(after.len())..];
        }
    }
}

impl Step for LineEndReport {
    fn shape(&self) -> Shape {
        Shape::Reduce
    }

    fn feed(&mut self, input: &[u8], _out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let mut rest = input;
        while !rest.is_empty() {
            if self.open == 0 {
                rest = self.count_alike(rest);
            }
            let (part, after) = rest.split_at(rest.len().min(SPAN));
            self.count_each(part);
            rest = after;
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.cr += std::mem::take(&mut self.open);
        Ok(())
    }

    fn findings(&self) -> Vec<Finding> {
        let kinds =
            [("lf", self.lf), ("crlf", self.crlf), ("crcrlf", self.crcrlf), ("cr", self.cr)];
        let mixed = kinds.iter().filter(|(_, count)| *count > 0).count() > 1;
        let counts = kinds.into_iter().map(|(name, count)| Finding::new(name, count));
        counts.chain([Finding::new("mixed", if mixed { "yes" } else { "no" })]).collect()
    }

    fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::test_support::{StepTester, cuts, made_of};

    /// Returns the counts of LF, CRLF, CRCRLF and CR, by a regular grammar instead of states.
    fn oracle(input: &[u8]) -> [u64; 4] {
        let mut counts = [0; 4];
        for line in input.split_inclusive(|byte| *byte == b'\n') {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let all = text.iter().filter(|byte| **byte == b'\r').count() as u64;
            let open = text.iter().rev().take_while(|byte| **byte == b'\r').count() as u64;
            if text.len() == line.len() {
                counts[3] += all;
            } else {
                counts[usize::try_from(open.min(2)).unwrap()] += 1;
                counts[3] += all - open;
            }
        }
        counts
    }

    #[test]
    fn eol_report_mixed_if_several_kinds() {
        for (input, mixed) in [
            ("", "no"),
            ("a\n\n", "no"),
            ("a\r\nb\r\n", "no"),
            ("a\nb\r\n", "yes"),
            ("a\r\r\nb\r\n", "yes"),
            ("a\rb\r", "no"),
            ("a\rb\n", "yes"),
        ] {
            let outcome = StepTester::parse("eol=report").run(input.as_bytes(), &[1]).unwrap();
            assert_eq!(outcome.finding("mixed"), mixed, "{input:?}");
        }
    }

    proptest! {
        #[test]
        fn eol_report_equals_oracle(
            input in made_of(&[b"\r", b"\n", b"\r\n", b"a", b"text "]),
            sizes in cuts(),
        ) {
            let outcome = StepTester::parse("eol=report").run(&input, &sizes).unwrap();
            let counts = ["lf", "crlf", "crcrlf", "cr"].map(|name| outcome.count(name));
            prop_assert_eq!(counts, oracle(&input));
            prop_assert!(outcome.result.is_empty());
        }
    }
}
