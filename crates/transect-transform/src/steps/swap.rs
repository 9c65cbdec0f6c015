//! Swaps the byte order of words.

use crate::output::OutputBuffer;
use crate::step::{InvalidData, Shape, Step, StepError};
use crate::steps::info::StepResult;
use crate::steps::pending::carry_over;

/// Reverses the bytes of every word.
struct Swap {
    /// Bytes in a word: 2, 4 or 8.
    word: usize,
    /// An incomplete word at the end of the last block.
    broken: Vec<u8>,
}

/// Returns the step that swaps words of this many bits.
pub(super) fn swap(parameter: Option<&str>) -> StepResult {
    let word = match parameter {
        Some("16") => 2,
        Some("32") => 4,
        Some("64") => 8,
        _ => return Err("neither 16 nor 32 nor 64".to_owned()),
    };
    Ok(Box::new(Swap { word, broken: Vec::with_capacity(word) }))
}

impl Swap {
    /// Swaps whole words. As numbers of a fixed size, the compiler vectorises the loop.
    fn apply(&self, words: &mut [u8]) {
        match self.word {
            2 => swap_each(words, |word| u16::from_ne_bytes(word).swap_bytes().to_ne_bytes()),
            4 => swap_each(words, |word| u32::from_ne_bytes(word).swap_bytes().to_ne_bytes()),
            _ => swap_each(words, |word| u64::from_ne_bytes(word).swap_bytes().to_ne_bytes()),
        }
    }

    fn invalid(&self, left: usize) -> InvalidData {
        let (bits, word) = (self.word * 8, self.word);
        InvalidData::new(format!(
            "{left} bytes are left over at the end: a word of {bits} bits is {word}"
        ))
    }
}

fn swap_each<const BYTES: usize>(words: &mut [u8], swapped: impl Fn([u8; BYTES]) -> [u8; BYTES]) {
    let (words, rest) = words.as_chunks_mut();
    debug_assert!(rest.is_empty(), "whole words");
    words.iter_mut().for_each(|word| *word = swapped(*word));
}

impl Step for Swap {
    fn shape(&self) -> Shape {
        Shape::SameSize { word: self.word, in_order: false }
    }

    fn feed(&mut self, mut input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        if !self.broken.is_empty() {
            input = carry_over(&mut self.broken, self.word, input);
            if self.broken.len() < self.word {
                return Ok(());
            }
            self.broken.reverse();
            out.put(&self.broken)?;
            self.broken.clear();
        }
        let (whole, broken) = input.split_at(input.len() - input.len() % self.word);
        self.broken.extend_from_slice(broken);
        out.put_changed(whole, self.word, |piece| self.apply(piece))
    }

    fn finish(&mut self, _out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        match self.broken.len() {
            0 => Ok(()),
            left => Err(self.invalid(left).into()),
        }
    }

    fn change(&mut self, block: &mut [u8]) -> Result<(), InvalidData> {
        match block.len() % self.word {
            0 => {
                self.apply(block);
                Ok(())
            }
            left => Err(self.invalid(left)),
        }
    }

    fn reset(&mut self) {
        self.broken.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chain::Chain;
    use crate::test_support::{StepTester, any_bytes, cuts};

    #[test]
    fn swap_16_32_64_bits() {
        for parameter in [None, Some(""), Some("8"), Some("16bit")] {
            assert!(swap(parameter).is_err(), "{parameter:?}");
        }
        let input = b"12345678";
        for (word, expected) in
            [("swap=16", b"21436587"), ("swap=32", b"43218765"), ("swap=64", b"87654321")]
        {
            assert_eq!(StepTester::parse(word).result(input, &[3]), expected, "{word}");
        }
    }

    #[test]
    fn swap_incomplete_word_rejected() {
        let error = StepTester::parse("swap=32").run(b"123456", &[1]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "swap=32: 2 bytes are left over at the end: a word of 32 bits is 4"
        );
        let mut chain: Chain = "swap=32".parse().unwrap();
        assert_eq!(chain.change(&mut b"123456".to_vec()), Err(error));
    }

    proptest! {
        #[test]
        fn swap_equals_reversed_words(mut input in any_bytes(), sizes in cuts()) {
            input.truncate(input.len() / 8 * 8);
            for (word, bytes) in [("swap=16", 2), ("swap=32", 4), ("swap=64", 8)] {
                let expected: Vec<u8> =
                    input.chunks(bytes).flat_map(|word| word.iter().rev().copied()).collect();
                prop_assert_eq!(&StepTester::parse(word).result(&input, &sizes), &expected);
                let mut changed = input.clone();
                word.parse::<Chain>().unwrap().change(&mut changed).unwrap();
                prop_assert_eq!(changed, expected);
                let twice = format!("{word} {word}");
                prop_assert_eq!(&StepTester::parse(&twice).result(&input, &sizes), &input);
            }
        }
    }
}
