//! Replaces tabs by spaces.

use memchr::{memchr, memrchr};

use crate::output::OutputBuffer;
use crate::step::{Finding, Shape, Step, StepError};
use crate::steps::info::StepResult;
use crate::steps::line_ends::LF;

/// Maximum number of columns between tab stops.
const MAX_TAB_WIDTH: usize = 256;

const TAB: u8 = b'\t';

/// Replaces a tab by the spaces up to the next tab stop. Every character counts as one column;
/// continuation bytes of UTF-8 count as none.
struct Tabs {
    /// Columns between two tab stops.
    every: usize,
    /// Columns since the last tab stop.
    column: usize,
    replaced: u64,
}

/// Returns the step that replaces tabs by spaces.
pub(super) fn tabs(parameter: Option<&str>) -> StepResult {
    Ok(Box::new(Tabs { every: stops(parameter)?, column: 0, replaced: 0 }))
}

/// Parses the number of columns between tab stops.
fn stops(parameter: Option<&str>) -> Result<usize, String> {
    let every = parameter.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    match every.and_then(|text| text.parse().ok()) {
        Some(every) if (1..=MAX_TAB_WIDTH).contains(&every) => Ok(every),
        _ => Err(format!("not a number from 1 to {MAX_TAB_WIDTH}")),
    }
}

impl Tabs {
    /// Advances the column over bytes that are not tabs.
    fn advance(&mut self, span: &[u8]) {
        let line = match memrchr(LF, span) {
            Some(end) => {
                self.column = 0;
                &span[end + 1..]
            }
            None => span,
        };
        // Bytes 10xxxxxx continue a character in UTF-8.
        let characters = line.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        self.column = (self.column + characters) % self.every;
    }
}

impl Step for Tabs {
    fn shape(&self) -> Shape {
        Shape::Resizing
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let mut rest = input;
        while let Some(tab) = memchr(TAB, rest) {
            self.advance(&rest[..tab]);
            out.put(&rest[..tab])?;
            out.put(&[b' '; MAX_TAB_WIDTH][..self.every - self.column])?;
            self.column = 0;
            self.replaced += 1;
            rest = &rest[tab + 1..];
        }
        self.advance(rest);
        out.put(rest)
    }

    fn finish(&mut self, _out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        Ok(())
    }

    fn findings(&self) -> Vec<Finding> {
        vec![Finding::new("tabs", self.replaced)]
    }

    fn reset(&mut self) {
        self.column = 0;
        self.replaced = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, cuts, made_of};

    fn oracle(input: &str, every: usize) -> String {
        let (mut result, mut column) = (String::new(), 0);
        for character in input.chars() {
            match character {
                '\t' => loop {
                    result.push(' ');
                    column += 1;
                    if column % every == 0 {
                        break;
                    }
                },
                '\n' => {
                    result.push('\n');
                    column = 0;
                }
                other => {
                    result.push(other);
                    column += 1;
                }
            }
        }
        result
    }

    #[test]
    fn tabs_expand_to_next_stop() {
        for (word, input, expected) in [
            ("tabs=8", "\ta", "        a"),
            ("tabs=4", "a\tb\tc", "a   b   c"),
            ("tabs=4", "abcd\te", "abcd    e"),
            ("tabs=4", "ab\n\tc", "ab\n    c"),
            ("tabs=1", "a\tb", "a b"),
            ("tabs=4", "\u{e9}\u{1f600}\tb", "\u{e9}\u{1f600}  b"),
        ] {
            let result = StepTester::parse(word).result(input.as_bytes(), &[1]);
            assert_eq!(String::from_utf8(result).unwrap(), expected, "{word}");
        }
    }

    #[test]
    fn tabs_parameter_range() {
        for parameter in [None, Some(""), Some("0"), Some("257"), Some("+4"), Some("four")] {
            assert!(tabs(parameter).is_err(), "{parameter:?}");
        }
    }

    proptest! {
        #[test]
        fn tabs_equals_oracle(
            input in made_of(&[b"\t", b"\n", b"a", b"abcdefg", b"\xc3\xa9"]),
            sizes in cuts(),
            every in 1..12_usize,
        ) {
            let outcome = StepTester::parse(&format!("tabs={every}")).run(&input, &sizes).unwrap();
            let text = std::str::from_utf8(&input).unwrap();
            prop_assert_eq!(outcome.count("tabs"), text.matches('\t').count() as u64);
            prop_assert_eq!(String::from_utf8(outcome.result).unwrap(), oracle(text, every));
        }
    }
}
