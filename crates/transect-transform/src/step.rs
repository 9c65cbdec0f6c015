//! What is done with the bytes of a file.

use std::fmt;

use crate::manifest::Algorithm;
use crate::output::OutputBuffer;

/// What becomes of the length of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The result is as long, every word of it stands where it stood, and no word needs another:
    /// blocks may be changed where they lie ([`Step::change`]).
    SameSize {
        /// Bytes in a word, a power of two. Blocks to be changed begin and end between words; a file
        /// with a broken word at its end is refused, which its length tells beforehand.
        word: usize,
        /// Whether blocks have to come from the beginning to the end, as a digest looks at them on
        /// the way.
        in_order: bool,
    },
    /// The result may be longer or shorter, or depends on what came before: from the beginning to
    /// the end, in order.
    Resizing,
    /// Nothing comes out but a finding, such as a digest: the step gives no result, and whoever
    /// feeds it hands the same bytes on.
    Reduce,
}

impl Shape {
    /// What changes single bytes, each alone.
    pub const BYTES: Self = Self::SameSize { word: 1, in_order: false };

    /// Returns the shape of two steps, one after the other.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::Resizing, _) | (_, Self::Resizing) => Self::Resizing,
            (Self::Reduce, Self::Reduce) => Self::Reduce,
            (Self::SameSize { word, .. }, Self::Reduce)
            | (Self::Reduce, Self::SameSize { word, .. }) => {
                Self::SameSize { word, in_order: true }
            }
            (
                Self::SameSize { word: one, in_order: one_in_order },
                Self::SameSize { word: other, in_order: other_in_order },
            ) => {
                // Powers of two: the larger is a whole number of the smaller.
                Self::SameSize { word: one.max(other), in_order: one_in_order || other_in_order }
            }
        }
    }
}

/// What a step costs beside reading and writing.
///
/// In nanoseconds per byte of the input, least of several runs of `examples/costs.rs` (November 2026,
/// EPYC with SHA and AVX-512 instructions, two cores that others used as well): crc32c and xxh3 0.1,
/// case, map and swap 0.1, blake3 0.2, sha256 0.6, trim, tabs, eol, encode and decode up to 0.6,
/// replace 0.02 to 4, as often as the first byte is met; against that gunzip 8, unzstd 4, zstd=1 5,
/// zstd 6, gzip=1 30, gzip 40.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Less than about 1 ns per byte: other threads would cost more than they save.
    #[default]
    Light,
    /// More: reading and writing can be done meanwhile.
    Heavy,
}

/// Why a file cannot be transformed: it holds what the step cannot take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidData {
    /// The step, as users type it. A step does not know how it was typed: a chain fills this in.
    pub step: String,
    /// Where in the input of the step, in bytes; nothing if it is about its end or its whole.
    pub position: Option<u64>,
    /// What is wrong, in one line.
    pub reason: String,
}

impl InvalidData {
    /// Returns a refusal of what stands at a place in the input of the step.
    pub fn at(position: u64, reason: impl Into<String>) -> Self {
        Self { step: String::new(), position: Some(position), reason: reason.into() }
    }

    /// Returns a refusal of the input's end, or of its whole.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { step: String::new(), position: None, reason: reason.into() }
    }
}

impl fmt::Display for InvalidData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.step.is_empty() {
            write!(f, "{}: ", self.step)?;
        }
        match self.position {
            Some(position) => write!(f, "{} at byte {position}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for InvalidData {}

/// Why a step came to no end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepError {
    /// The input holds what a step cannot take.
    Invalid(InvalidData),
    /// Whoever takes the result takes no more, and knows why: a device is full, a user has given up.
    Closed,
}

impl From<InvalidData> for StepError {
    fn from(error: InvalidData) -> Self {
        Self::Invalid(error)
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(error) => error.fmt(f),
            Self::Closed => f.write_str("the result is not taken any more"),
        }
    }
}

impl std::error::Error for StepError {}

/// Which bytes a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Those of the input: nothing was changed before the step.
    Input,
    /// Those between two steps that change something: no file holds them.
    Between,
    /// Those of the result: something was changed before the step, and nothing after it.
    Result,
}

impl Stage {
    /// Returns the word for the stage, as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Between => "between",
            Self::Result => "result",
        }
    }
}

/// What a step found out, beside what it made: a digest, counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The step, as users type it. A step does not know how it was typed: a chain fills this in.
    pub step: String,
    /// Which bytes it is about. A step does not know what is before it: a chain fills this in.
    pub stage: Stage,
    /// What it is about, such as `blake3` or `lines`.
    pub name: &'static str,
    /// Its value, as text: hexadecimal for digests, decimal for counts.
    pub value: String,
}

impl Finding {
    /// Returns what was found out under a name.
    pub fn new(name: &'static str, value: impl fmt::Display) -> Self {
        Self { step: String::new(), stage: Stage::Input, name, value: value.to_string() }
    }

    /// Returns which digest it is, if it is one.
    pub fn algorithm(&self) -> Option<Algorithm> {
        Algorithm::ALL.into_iter().find(|algorithm| algorithm.step() == self.name)
    }
}

/// One step: takes the bytes of one file, from its beginning to its end, in blocks of any size, and
/// gives those of its result. Neither the result nor the findings depend on how the input is cut
/// into blocks, nor does the position of a refusal.
pub trait Step: Send {
    /// Returns what becomes of the length.
    fn shape(&self) -> Shape;

    /// Returns what it costs, as it was measured (`examples/costs.rs`) with what it is made for.
    fn cost(&self) -> Cost {
        Cost::Light
    }

    /// Takes the next bytes, and puts into `out` what is certain of the result. What cannot be
    /// decided before more is seen is kept: little, and never more than a part of the input that has
    /// a limit of its own.
    ///
    /// # Errors
    /// The input holds what this step cannot take, or `out` takes no more. Nothing is to be fed after
    /// that but another file, after [`Step::reset`].
    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError>;

    /// Ends: puts what is left of the result.
    ///
    /// # Errors
    /// The input ended too early, or `out` takes no more.
    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError>;

    /// Changes a block where it lies. Only for [`Shape::SameSize`]; the others never get here.
    ///
    /// # Errors
    /// The block is no whole number of words, or a digest that it passes refuses it.
    fn change(&mut self, block: &mut [u8]) -> Result<(), InvalidData> {
        let _ = block;
        unreachable!("BUG: only steps that keep every word at its place are called so");
    }

    /// Returns whether the next bytes would come out as they are, all of them at once, and nothing
    /// before them: then [`Step::accept_unchanged`] may take them in the place of [`Step::feed`], and nobody has to
    /// copy and compare them. Most files of a tree that is in order are so.
    fn leaves_unchanged(&self, input: &[u8]) -> bool {
        let _ = input;
        false
    }

    /// Takes bytes that [`Step::leaves_unchanged`] has just been asked about.
    ///
    /// # Errors
    /// As [`Step::feed`].
    fn accept_unchanged(&mut self, input: &[u8]) -> Result<(), InvalidData> {
        let _ = input;
        Ok(())
    }

    /// Returns the place for the BLAKE3 digest of the whole input, if finding that is all the step
    /// does. Several threads can compute it from parts of a file; then nothing is fed.
    fn blake3_slot(&mut self) -> Option<&mut Option<[u8; 32]>> {
        None
    }

    /// Returns what it found out, after [`Step::finish`].
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }

    /// Returns what whoever asked for it should know, though it does what it is made for: in one line.
    fn warning(&self) -> Option<&str> {
        None
    }

    /// Goes back to where it was before the first file, and keeps what it has allocated: files one
    /// after the other need one step only. Can be called at any time.
    fn reset(&mut self);

    /// Returns another step that does the same, at its beginning, if its word alone would not make
    /// one: a key file may be gone, or another one, by the time it is read again.
    fn clone_reset(&self) -> Option<Box<dyn Step>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_two_steps_is_that_of_the_more_demanding() {
        let words = |word, in_order| Shape::SameSize { word, in_order };
        for (one, other, both) in [
            (Shape::Reduce, Shape::Reduce, Shape::Reduce),
            (Shape::BYTES, Shape::BYTES, Shape::BYTES),
            (Shape::BYTES, Shape::Reduce, words(1, true)),
            (words(1, true), Shape::BYTES, words(1, true)),
            (words(2, false), words(8, false), words(8, false)),
            (words(4, false), Shape::Reduce, words(4, true)),
            (Shape::Resizing, Shape::BYTES, Shape::Resizing),
            (Shape::Resizing, Shape::Reduce, Shape::Resizing),
            (Shape::Resizing, Shape::Resizing, Shape::Resizing),
        ] {
            assert_eq!(one.then(other), both);
            assert_eq!(other.then(one), both);
        }
    }

    #[test]
    fn a_refusal_says_which_step_what_and_where() {
        let mut error = InvalidData::at(7, "no UTF-8");
        assert_eq!(error.to_string(), "no UTF-8 at byte 7");
        error.step = "decode=utf-8".to_owned();
        assert_eq!(StepError::from(error).to_string(), "decode=utf-8: no UTF-8 at byte 7");
        assert_eq!(InvalidData::new("ends too early").to_string(), "ends too early");
    }
}
