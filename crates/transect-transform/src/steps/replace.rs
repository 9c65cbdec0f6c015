//! Replaces a literal text.

use memchr::memmem::Finder;

use crate::output::OutputBuffer;
use crate::step::{Finding, Step, StepError};
use crate::steps::escape;
use crate::steps::info::StepResult;

/// Replaces every occurrence of a text, leftmost first, without overlaps.
struct Replace {
    old: Finder<'static>,
    new: Vec<u8>,
    /// The end of the last block, if it may be the beginning of the old text; shorter than that.
    open: Vec<u8>,
    /// The open bytes, and as many following bytes as are needed to decide about them.
    border: Vec<u8>,
    replaced: u64,
}

pub(super) fn replace(parameter: Option<&str>) -> StepResult {
    let (old, new) = escape::parse_pair(parameter.unwrap_or_default())?;
    if old.is_empty() {
        return Err("OLD is empty".to_owned());
    }
    Ok(Box::new(Replace {
        old: Finder::new(&old).into_owned(),
        new,
        open: Vec::new(),
        border: Vec::new(),
        replaced: 0,
    }))
}

impl Replace {
    /// Decides about the open bytes of the last block. Returns the input after them, or nothing if
    /// all of it is open, too.
    fn close<'a>(
        &mut self,
        input: &'a [u8],
        out: &mut OutputBuffer<'_>,
    ) -> Result<&'a [u8], StepError> {
        let needed = self.old.needle().len() - 1;
        let (decisive, _) = input.split_at(needed.min(input.len()));
        let mut border = std::mem::take(&mut self.border);
        border.clear();
        border.extend_from_slice(&self.open);
        border.extend_from_slice(decisive);
        let open = self.open.len();
        // Bytes of the border that are decided.
        let mut done = 0;
        while done < open {
            match self.old.find(&border[done..]) {
                Some(found) if done + found < open => {
                    out.put(&border[done..done + found])?;
                    self.put_new(out)?;
                    done += found + self.old.needle().len();
                }
                // A match may start in the open bytes, but cannot end in the input.
                _ if decisive.len() < needed => {
                    let still = self.open_from(&border[done..]);
                    out.put(&border[done..border.len() - still])?;
                    self.open.clear();
                    self.open.extend_from_slice(&border[border.len() - still..]);
                    self.border = border;
                    return Ok(&[]);
                }
                _ => {
                    out.put(&border[done..open])?;
                    done = open;
                }
            }
        }
        self.open.clear();
        self.border = border;
        Ok(&input[done - open..])
    }

    fn put_new(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.replaced += 1;
        out.put(&self.new)
    }

    /// Returns how many bytes at the end may be the beginning of the old text.
    fn open_from(&self, bytes: &[u8]) -> usize {
        let old = self.old.needle();
        let end = &bytes[bytes.len().saturating_sub(old.len() - 1)..];
        let mut begins = memchr::memchr_iter(old[0], end);
        begins.find(|&at| old.starts_with(&end[at..])).map_or(0, |at| end.len() - at)
    }
}

impl Step for Replace {
    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let mut rest = input;
        if !self.open.is_empty() {
            rest = self.close(input, out)?;
        }
        while let Some(found) = self.old.find(rest) {
            out.put(&rest[..found])?;
            self.put_new(out)?;
            rest = &rest[found + self.old.needle().len()..];
        }
        let (certain, open) = rest.split_at(rest.len() - self.open_from(rest));
        self.open.extend_from_slice(open);
        out.put(certain)
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let open = std::mem::take(&mut self.open);
        out.put(&open)
    }

    fn findings(&self) -> Vec<Finding> {
        vec![Finding::new("replaced", self.replaced)]
    }

    fn reset(&mut self) {
        self.open.clear();
        self.replaced = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, cuts};

    fn oracle(input: &[u8], old: &[u8], new: &[u8]) -> (Vec<u8>, u64) {
        let (mut result, mut replaced, mut at) = (Vec::new(), 0, 0);
        while at < input.len() {
            if input[at..].starts_with(old) {
                result.extend_from_slice(new);
                replaced += 1;
                at += old.len();
            } else {
                result.push(input[at]);
                at += 1;
            }
        }
        (result, replaced)
    }

    #[test]
    fn replace_literal_text_and_escapes() {
        for (word, input, expected) in [
            ("replace=a/b", "banana", "bbnbnb"),
            ("replace=ana/", "banana", "bna"),
            (r"replace=\r\n/\n", "a\r\nb", "a\nb"),
            (r"replace=\//\\", "a/b", "a\\b"),
            ("replace=.*/x", "a.*b", "axb"),
            ("replace=aa/ab", "aaaaa", "ababa"),
        ] {
            let result = StepTester::parse(word).result(input.as_bytes(), &[1]);
            assert_eq!(result, expected.as_bytes(), "{word}");
        }
    }

    #[test]
    fn replace_empty_old_rejected() {
        for parameter in [None, Some(""), Some("a"), Some("/b"), Some("a/b/c")] {
            assert!(replace(parameter).is_err(), "{parameter:?}");
        }
    }

    #[test]
    fn replace_long_result_emitted_in_blocks() {
        let word = format!("replace=a/{}", "b".repeat(50_000));
        let result = StepTester::parse(&word).result(&[b'a'; 30], &[7]);
        assert_eq!(result, vec![b'b'; 30 * 50_000]);
    }

    proptest! {
        #[test]
        fn replace_equals_oracle(
            input in prop::collection::vec(prop::sample::select(vec![b'a', b'b']), 0..300),
            old in prop::collection::vec(prop::sample::select(vec![b'a', b'b']), 1..8),
            new in prop::collection::vec(prop::sample::select(vec![b'a', b'b']), 0..4),
            sizes in cuts(),
        ) {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            let word = format!("replace={}/{}", text(&old), text(&new));
            let outcome = StepTester::parse(&word).run(&input, &sizes).unwrap();
            let (result, replaced) = oracle(&input, &old, &new);
            prop_assert_eq!(outcome.count("replaced"), replaced);
            prop_assert_eq!(outcome.result, result);
        }
    }
}
