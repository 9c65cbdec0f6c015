//! Line endings.
//!
//! A line ends with LF or CRLF. Any number of CRs before an LF belong to the line ending: CRCRLF,
//! which programs produce by converting CRLF as if it were LF, becomes one ending again. A CR
//! without an LF after it is not a line ending. It is kept, and counted.

use memchr::{memchr, memchr2};

use crate::output::OutputBuffer;
use crate::step::{Finding, InvalidData, Step, StepError};
use crate::steps::clean::{SPAN, clean_prefix};
use crate::steps::eol_report::LineEndReport;
use crate::steps::info::StepResult;
use crate::steps::line_ends::{CR, LF, count_lone_cr, has_crlf_only};

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Lf,
    CrLf,
}

/// Gives all lines the same ending.
struct Eol {
    end: LineEnd,
    state: State,
}

#[derive(Default)]
struct State {
    /// CRs at the end of the input so far: part of a line ending if an LF follows.
    open: u64,
    /// Line endings that were changed.
    changed: u64,
    /// CRs that are not part of a line ending.
    alone: u64,
}

pub(super) fn eol(parameter: Option<&str>) -> StepResult {
    let end = match parameter {
        Some("lf") => LineEnd::Lf,
        Some("crlf") => LineEnd::CrLf,
        Some("report") => return Ok(Box::new(LineEndReport::default())),
        _ => return Err("neither lf nor crlf nor report".to_owned()),
    };
    Ok(Box::new(Eol { end, state: State::default() }))
}

impl Eol {
    /// Returns how many bytes at the beginning need no change. The byte before them is not a CR.
    fn unchanged_prefix(&self, bytes: &[u8]) -> usize {
        match self.end {
            LineEnd::Lf => memchr(CR, bytes).unwrap_or(bytes.len()),
            LineEnd::CrLf => clean_prefix(bytes, |byte| byte == CR, has_crlf_only),
        }
    }

    /// Processes bytes that may need changes.
    fn change(&mut self, bytes: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let mut rest = bytes;
        while let [first, after @ ..] = rest {
            match *first {
                CR => {
                    self.state.open += 1;
                    rest = after;
                }
                LF => {
                    self.put_end(out)?;
                    rest = after;
                }
                _ => {
                    self.put_alone(out)?;
                    let span = memchr2(CR, LF, rest).unwrap_or(rest.len());
                    let (line, after) = rest.split_at(span);
                    out.put(line)?;
                    rest = after;
                }
            }
        }
        Ok(())
    }

    /// Writes a line ending, at its LF.
    fn put_end(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let (end, right): (&[u8], _) = match self.end {
            LineEnd::Lf => (b"\n", 0),
            LineEnd::CrLf => (b"\r\n", 1),
        };
        self.state.changed += u64::from(self.state.open != right);
        self.state.open = 0;
        out.put(end)
    }

    /// Writes CRs that no LF follows.
    fn put_alone(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.state.alone += self.state.open;
        for _ in 0..std::mem::take(&mut self.state.open) {
            out.put(&[CR])?;
        }
        Ok(())
    }
}

impl Step for Eol {
    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let mut rest = input;
        while !rest.is_empty() {
            if self.state.open == 0 {
                let (right, after) = rest.split_at(self.unchanged_prefix(rest));
                self.state.alone += match self.end {
                    LineEnd::Lf => 0,
                    LineEnd::CrLf => count_lone_cr(right),
                };
                out.put(right)?;
                rest = after;
            }
            let (part, after) = rest.split_at(rest.len().min(SPAN));
            self.change(part, out)?;
            rest = after;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.put_alone(out)
    }

    fn leaves_unchanged(&self, input: &[u8]) -> bool {
        self.state.open == 0 && self.unchanged_prefix(input) == input.len()
    }

    fn accept_unchanged(&mut self, input: &[u8]) -> Result<(), InvalidData> {
        if self.end == LineEnd::CrLf {
            self.state.alone += count_lone_cr(input);
        }
        Ok(())
    }

    fn findings(&self) -> Vec<Finding> {
        vec![Finding::new("changed", self.state.changed), Finding::new("cr", self.state.alone)]
    }

    fn reset(&mut self) {
        self.state = State::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, cuts, made_of};

    /// Returns the result for a line ending, the endings changed, and the lone CRs.
    fn oracle(input: &[u8], end: &[u8]) -> (Vec<u8>, u64, u64) {
        let (mut result, mut changed, mut alone) = (Vec::new(), 0, 0);
        let mut at = 0;
        while at < input.len() {
            let open = input[at..].iter().take_while(|byte| **byte == CR).count();
            match input.get(at + open) {
                Some(&LF) => {
                    changed += u64::from(&input[at..=at + open] != end);
                    result.extend_from_slice(end);
                }
                other => {
                    alone += open as u64;
                    result.extend_from_slice(&input[at..at + open]);
                    result.extend(other);
                }
            }
            at += open + 1;
        }
        (result, changed, alone)
    }

    #[test]
    fn eol_all_endings_converted() {
        for (input, lf, crlf) in [
            ("", "", ""),
            ("a", "a", "a"),
            ("a\nb\r\nc", "a\nb\nc", "a\r\nb\r\nc"),
            ("\n\n", "\n\n", "\r\n\r\n"),
            ("\r\n\r\n", "\n\n", "\r\n\r\n"),
            ("a\r\r\nb\r\r\r\n", "a\nb\n", "a\r\nb\r\n"),
            ("a\rb\r", "a\rb\r", "a\rb\r"),
            ("\r\r", "\r\r", "\r\r"),
            ("\n\r", "\n\r", "\r\n\r"),
        ] {
            let (input, lf, crlf) = (input.as_bytes(), lf.as_bytes(), crlf.as_bytes());
            assert_eq!(StepTester::parse("eol=lf").result(input, &[1]), lf, "{input:?}");
            assert_eq!(StepTester::parse("eol=crlf").result(input, &[1]), crlf, "{input:?}");
        }
    }

    #[test]
    fn eol_unknown_parameter_rejected() {
        for parameter in [None, Some(""), Some("cr"), Some("LF")] {
            assert!(eol(parameter).is_err(), "{parameter:?}");
        }
    }

    proptest! {
        #[test]
        fn eol_equals_oracle(
            input in made_of(&[b"\r", b"\n", b"\r\n", b"a", b"text "]),
            sizes in cuts(),
        ) {
            for (word, end) in [("eol=lf", &b"\n"[..]), ("eol=crlf", b"\r\n")] {
                let (result, changed, alone) = oracle(&input, end);
                let outcome = StepTester::parse(word).run(&input, &sizes).unwrap();
                prop_assert_eq!(&outcome.result, &result);
                prop_assert_eq!((outcome.count("changed"), outcome.count("cr")), (changed, alone));
                // A second run changes nothing.
                let again = StepTester::parse(word).run(&result, &sizes).unwrap();
                prop_assert_eq!(&again.result, &result);
                prop_assert_eq!((again.count("changed"), again.count("cr")), (0, alone));
            }
        }
    }
}
