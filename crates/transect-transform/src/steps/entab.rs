//! Replaces leading spaces by tabs.

use memchr::memchr;

use crate::output::OutputBuffer;
use crate::step::{Finding, Shape, Step, StepError};
use crate::steps::info::StepResult;
use crate::steps::line_ends::LF;
use crate::steps::tabs::{MAX_TAB_WIDTH, TAB, stops};

/// Replaces leading blanks by tabs up to the last tab stop, and spaces for the rest. Blanks inside
/// a line are kept, because only leading blanks are certain to be indentation.
struct Entab {
    /// Columns between two tab stops.
    every: usize,
    /// Whether the line so far has only blanks.
    at_beginning: bool,
    /// Spaces since the last tab stop: not enough to reach the next.
    spaces: usize,
    replaced: u64,
}

/// Returns the step that replaces leading spaces by tabs.
pub(super) fn entab(parameter: Option<&str>) -> StepResult {
    let every = stops(parameter)?;
    Ok(Box::new(Entab { every, at_beginning: true, spaces: 0, replaced: 0 }))
}

impl Entab {
    /// Processes leading blanks. Returns what follows them.
    fn blanks<'a>(
        &mut self,
        text: &'a [u8],
        out: &mut OutputBuffer<'_>,
    ) -> Result<&'a [u8], StepError> {
        for (at, &byte) in text.iter().enumerate() {
            match byte {
                b' ' => self.spaces += 1,
                TAB => {}
                _ => return Ok(&text[at..]),
            }
            // A tab leads to the next stop, whatever precedes it.
            if byte == TAB || self.spaces == self.every {
                self.replaced += self.spaces as u64;
                self.spaces = 0;
                out.put(&[TAB])?;
            }
        }
        Ok(&[])
    }

    /// Writes the spaces that did not reach a tab stop.
    fn put_spaces(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let spaces = std::mem::take(&mut self.spaces);
        out.put(&[b' '; MAX_TAB_WIDTH][..spaces])
    }
}

impl Step for Entab {
    fn shape(&self) -> Shape {
        Shape::Resizing
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let mut rest = input;
        loop {
            if self.at_beginning {
                rest = self.blanks(rest, out)?;
                if rest.is_empty() {
                    return Ok(());
                }
                self.put_spaces(out)?;
                self.at_beginning = false;
            }
            let Some(end) = memchr(LF, rest) else {
                return out.put(rest);
            };
            let (line, after) = rest.split_at(end + 1);
            out.put(line)?;
            self.at_beginning = true;
            rest = after;
        }
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.put_spaces(out)
    }

    fn findings(&self) -> Vec<Finding> {
        vec![Finding::new("spaces", self.replaced)]
    }

    fn reset(&mut self) {
        self.at_beginning = true;
        self.spaces = 0;
        self.replaced = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, cuts, made_of};

    /// Computes the column of each line's indentation, and writes it anew.
    fn oracle(input: &str, every: usize) -> String {
        let line = |line: &str| {
            let text = line.trim_start_matches([' ', '\t']);
            let column = line[..line.len() - text.len()].chars().fold(0, |column, blank| {
                if blank == ' ' { column + 1 } else { (column / every + 1) * every }
            });
            "\t".repeat(column / every) + &" ".repeat(column % every) + text
        };
        input.split('\n').map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn entab_leading_spaces_up_to_stops() {
        for (word, input, expected) in [
            ("entab=4", "    a", "\ta"),
            ("entab=4", "      a    b", "\t  a    b"),
            ("entab=4", "  \ta", "\ta"),
            ("entab=4", "\t  \t   a", "\t\t   a"),
            ("entab=8", "    a\n        \n", "    a\n\t\n"),
            ("entab=2", "   ", "\t "),
            ("entab=1", " a", "\ta"),
            ("entab=4", "    \r\n", "\t\r\n"),
        ] {
            let result = StepTester::parse(word).result(input.as_bytes(), &[1]);
            assert_eq!(String::from_utf8(result).unwrap(), expected, "{word} of {input:?}");
        }
        assert!(entab(Some("0")).is_err());
    }

    proptest! {
        #[test]
        fn entab_equals_oracle(
            input in made_of(&[b" ", b"    ", b"\t", b"\n", b"\r\n", b"a", b"\xc3\xa9"]),
            sizes in cuts(),
            every in 1..12_usize,
        ) {
            let word = format!("entab={every}");
            let outcome = StepTester::parse(&word).run(&input, &sizes).unwrap();
            let text = std::str::from_utf8(&input).unwrap();
            let spaces = |text: &[u8]| text.iter().filter(|byte| **byte == b' ').count() as u64;
            let gone = spaces(&input) - spaces(&outcome.result);
            prop_assert_eq!(outcome.count("spaces"), gone);
            prop_assert_eq!(std::str::from_utf8(&outcome.result).unwrap(), oracle(text, every));
            let again = StepTester::parse(&word).run(&outcome.result, &sizes).unwrap();
            prop_assert_eq!(again.count("spaces"), 0);
            prop_assert_eq!(again.result, outcome.result);
        }

        #[test]
        fn entab_then_tabs_keeps_columns(
            input in made_of(&[b" ", b"    ", b"\t", b"\n", b"a", b"\xc3\xa9"]),
            sizes in cuts(),
            every in 1..12_usize,
        ) {
            let spaces = StepTester::parse(&format!("tabs={every}")).result(&input, &sizes);
            let both = StepTester::parse(&format!("entab={every} tabs={every}")).result(&input, &sizes);
            prop_assert_eq!(both, spaces);
        }
    }
}
