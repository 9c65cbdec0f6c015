//! Adds a missing newline at the end of a file.

use memchr::memrchr;

use crate::output::OutputBuffer;
use crate::step::{Finding, Step, StepError};
use crate::steps::line_ends::{CR, LF};

/// Ends the last line if it has no line ending: with that of the line before, or LF. An empty file
/// has no line.
#[derive(Default)]
pub(super) struct FinalNewline {
    /// The last byte so far.
    last: Option<u8>,
    /// Whether the last line ending was CRLF.
    crlf: bool,
    added: bool,
}

impl Step for FinalNewline {
    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        if let Some(end) = memrchr(LF, input) {
            let before = if end > 0 { Some(input[end - 1]) } else { self.last };
            self.crlf = before == Some(CR);
        }
        self.last = input.last().copied().or(self.last);
        out.put(input)
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.added = self.last.is_some_and(|last| last != LF);
        match self.last {
            None | Some(LF) => Ok(()),
            // Half of the ending is there.
            Some(CR) => out.put(b"\n"),
            Some(_) if self.crlf => out.put(b"\r\n"),
            Some(_) => out.put(b"\n"),
        }
    }

    fn findings(&self) -> Vec<Finding> {
        vec![Finding::new("added", u8::from(self.added))]
    }

    fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::test_support::{StepTester, cuts, made_of};

    fn oracle(input: &[u8]) -> &'static [u8] {
        let lines: Vec<_> = input.split_inclusive(|byte| *byte == b'\n').collect();
        match lines.as_slice() {
            [] | [.., [.., b'\n']] => b"",
            [.., [.., b'\r']] => b"\n",
            [.., [.., b'\r', b'\n'], _] => b"\r\n",
            _ => b"\n",
        }
    }

    #[test]
    fn final_newline_same_as_line_before() {
        for (input, expected) in [
            ("", ""),
            ("a", "a\n"),
            ("a\n", "a\n"),
            ("a\n\n", "a\n\n"),
            ("a\nb", "a\nb\n"),
            ("a\r\nb", "a\r\nb\r\n"),
            ("a\r\nb\r", "a\r\nb\r\n"),
            ("a\r\nb\nc", "a\r\nb\nc\n"),
        ] {
            let result = StepTester::parse("final-newline").result(input.as_bytes(), &[1]);
            assert_eq!(result, expected.as_bytes(), "{input:?}");
        }
    }

    proptest! {
        #[test]
        fn final_newline_equals_oracle(
            input in made_of(&[b"\r", b"\n", b"\r\n", b"a"]),
            sizes in cuts(),
        ) {
            let outcome = StepTester::parse("final-newline").run(&input, &sizes).unwrap();
            let added = oracle(&input);
            prop_assert_eq!(outcome.count("added"), u64::from(!added.is_empty()));
            prop_assert_eq!(outcome.result, [&input[..], added].concat());
        }
    }
}
