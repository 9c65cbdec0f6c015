//! Replaces single bytes: `case`, `map`.

use crate::output::OutputBuffer;
use crate::step::{InvalidData, Shape, Step, StepError};
use crate::steps::escape::{self, ParameterByte};
use crate::steps::info::StepResult;

/// Replaces each byte independently.
struct Map {
    mapping: Mapping,
}

/// How to compute the new byte.
enum Mapping {
    /// Ranges of bytes to which the same number is added. A few ranges are compared with whole
    /// vectors of bytes at once; a table is looked up byte by byte.
    One([Range; 1]),
    Few([Range; 4]),
    Table(Box<[u8; 256]>),
}

/// A range of bytes, and the number to add to each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Range {
    first: u8,
    count: u8,
    added: u8,
}

impl Range {
    /// Returns the byte after the last, wrapping around.
    fn end(self) -> u8 {
        self.first.wrapping_add(self.count)
    }
}

/// Returns the step that changes ASCII letters to upper or lower case.
pub(super) fn case(parameter: Option<&str>) -> StepResult {
    let change = match parameter {
        Some("upper") => u8::to_ascii_uppercase,
        Some("lower") => u8::to_ascii_lowercase,
        _ => return Err("neither upper nor lower".to_owned()),
    };
    let mut table = identity();
    table.iter_mut().for_each(|byte| *byte = change(byte));
    Ok(Box::new(Map::new(table)))
}

/// Returns the step that replaces each byte of one list by that of another.
pub(super) fn map(parameter: Option<&str>) -> StepResult {
    let (from, to) = escape::parse_pair(parameter.unwrap_or_default())?;
    let (from, to) = (parse_list(&from)?, parse_list(&to)?);
    // A list of one byte replaces all bytes of the first list by it.
    let same = (to.len() == 1).then(|| vec![to[0]; from.len()]);
    let to = same.unwrap_or(to);
    if from.len() != to.len() {
        return Err(format!("{} bytes in FROM, {} in TO", from.len(), to.len()));
    }
    let mut table = identity();
    let mut seen = [false; 256];
    for (from, to) in from.into_iter().zip(to) {
        if std::mem::replace(&mut seen[usize::from(from)], true) {
            return Err(format!("'{}' is twice in FROM", from.escape_ascii()));
        }
        table[usize::from(from)] = to;
    }
    Ok(Box::new(Map::new(table)))
}

/// Returns the bytes of a list: `a-f_` is seven. A `-` at either end is literal.
fn parse_list(typed: &[ParameterByte]) -> Result<Vec<u8>, String> {
    let dash = ParameterByte { byte: b'-', plain: true };
    let mut bytes = Vec::new();
    let mut rest = typed;
    while let [first, after @ ..] = rest {
        if first.plain && !first.byte.is_ascii() {
            return Err("a character that is more than one byte; bytes are \\xNN".to_owned());
        }
        rest = match after {
            [second, last, after @ ..] if *second == dash => {
                if first.byte > last.byte {
                    let (first, last) = (first.byte.escape_ascii(), last.byte.escape_ascii());
                    return Err(format!("{first}-{last} goes backwards"));
                }
                bytes.extend(first.byte..=last.byte);
                after
            }
            _ => {
                bytes.push(first.byte);
                after
            }
        };
    }
    if bytes.is_empty() { Err("a side is empty".to_owned()) } else { Ok(bytes) }
}

fn identity() -> [u8; 256] {
    // 256 numbers from 0 up: every index is a byte.
    std::array::from_fn(|index| index as u8)
}

impl Map {
    fn new(table: [u8; 256]) -> Self {
        let ranges = ranges(&table);
        let mapping = match ranges.as_slice() {
            [range] => Mapping::One([*range]),
            few if few.len() <= 4 => {
                // An empty range adds nothing.
                let mut filled = [Range::default(); 4];
                filled[..few.len()].copy_from_slice(few);
                Mapping::Few(filled)
            }
            _ => Mapping::Table(Box::new(table)),
        };
        Self { mapping }
    }

    fn apply(&self, block: &mut [u8]) {
        match &self.mapping {
            Mapping::One(ranges) => add(block, ranges),
            Mapping::Few(ranges) => add(block, ranges),
            Mapping::Table(table) => {
                block.iter_mut().for_each(|byte| *byte = table[usize::from(*byte)]);
            }
        }
    }
}

/// Returns the ranges of bytes to which the same number is added.
fn ranges(table: &[u8; 256]) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    for (byte, &new) in identity().iter().zip(table) {
        let added = new.wrapping_sub(*byte);
        if added == 0 {
            continue;
        }
        match ranges.last_mut() {
            Some(last) if last.added == added && last.count < u8::MAX && last.end() == *byte => {
                last.count += 1;
            }
            _ => ranges.push(Range { first: *byte, count: 1, added }),
        }
    }
    ranges
}

/// Adds to every byte the number of its range. Without branches and tables and with a constant
/// number of ranges, the compiler vectorises the loop.
fn add<const RANGES: usize>(block: &mut [u8], ranges: &[Range; RANGES]) {
    for byte in block {
        let mut added = 0;
        for range in ranges {
            let inside = byte.wrapping_sub(range.first) < range.count;
            added |= if inside { range.added } else { 0 };
        }
        *byte = byte.wrapping_add(added);
    }
}

impl Step for Map {
    fn shape(&self) -> Shape {
        Shape::SameSize
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        out.put_changed(input, |piece| self.apply(piece))
    }

    fn finish(&mut self, _out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        Ok(())
    }

    fn change(&mut self, block: &mut [u8]) -> Result<(), InvalidData> {
        self.apply(block);
        Ok(())
    }

    fn reset(&mut self) {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chain::Chain;
    use crate::test_support::{StepTester, any_bytes, cuts};

    #[test]
    fn map_lists_ranges_and_escapes() {
        for (word, input, expected) in [
            ("map=a/b", &b"abc"[..], &b"bbc"[..]),
            ("map=a-z/A-Z", b"Hello, world", b"HELLO, WORLD"),
            ("map=A-Za-z/N-ZA-Mn-za-m", b"Why did it?", b"Jul qvq vg?"),
            ("map=a-c-/1234", b"a-b-c", b"14243"),
            ("map=-a/_b", b"a-", b"b_"),
            (r"map=a\x2dc/123", b"abc-", b"1b32"),
            (r"map=\//\\", b"a/b", b"a\\b"),
            (r"map=\x00-\xff/.", b"\x00a\xff", b"..."),
            (r"map=\x80-\xff/\x00-\x7f", b"a\x80\xff", b"a\x00\x7f"),
            (r"map=\x00-\xff/\x01-\xff\x00", b"\x00a\xff", b"\x01b\x00"),
            ("map=acegikmoqs/bdfhjlnprt", b"abcdefs", b"bbddfft"),
        ] {
            assert_eq!(StepTester::parse(word).result(input, &[1]), expected, "{word}");
        }
    }

    #[test]
    fn map_invalid_lists_rejected() {
        for parameter in [
            None,
            Some(""),
            Some("a"),
            Some("/"),
            Some("a/"),
            Some("/a"),
            Some("ab/abc"),
            Some("z-a/a"),
            Some("aa/bc"),
            Some("a-cb/d"),
            Some("\u{e9}/e"),
        ] {
            assert!(map(parameter).is_err(), "{parameter:?}");
        }
        for parameter in [None, Some(""), Some("title")] {
            assert!(case(parameter).is_err(), "{parameter:?}");
        }
    }

    #[test]
    fn map_few_ranges_without_table() {
        let mut table = identity();
        assert_eq!(ranges(&table), []);
        table.make_ascii_uppercase();
        assert_eq!(ranges(&table), [Range { first: b'a', count: 26, added: 224 }]);
        // 256 bytes that all change alike do not fit into one range.
        let all = identity().map(|byte| byte.wrapping_add(1));
        assert_eq!(ranges(&all).len(), 2);
    }

    proptest! {
        #[test]
        fn map_equals_table_lookup(
            input in any_bytes(),
            sizes in cuts(),
            from in prop::collection::btree_set(any::<u8>(), 1..20),
            to in prop::collection::vec(any::<u8>(), 20),
        ) {
            let hex = |byte: &u8| format!("\\x{byte:02x}");
            let word = format!(
                "map={}/{}",
                from.iter().map(hex).collect::<String>(),
                to[..from.len()].iter().map(hex).collect::<String>(),
            );
            let expected: Vec<u8> = input
                .iter()
                .map(|byte| from.iter().position(|from| from == byte).map_or(*byte, |at| to[at]))
                .collect();
            prop_assert_eq!(&StepTester::parse(&word).result(&input, &sizes), &expected);
            let mut changed = input.clone();
            let mut chain: Chain = word.parse().unwrap();
            chain.change(&mut changed).unwrap();
            prop_assert_eq!(changed, expected);
        }

        #[test]
        fn case_equals_standard_library(input in any_bytes(), sizes in cuts()) {
            let upper = StepTester::parse("case=upper").result(&input, &sizes);
            prop_assert_eq!(upper, input.to_ascii_uppercase());
            let lower = StepTester::parse("case=lower").result(&input, &sizes);
            prop_assert_eq!(lower, input.to_ascii_lowercase());
        }
    }
}
