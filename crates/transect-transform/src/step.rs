//! What is done with the bytes of a file.

use std::fmt;

/// What becomes of the length of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Every byte becomes one byte at the same place, and no byte needs another: blocks may be
    /// changed where they lie, in any order.
    SameSize,
    /// The result may be longer or shorter, or depends on what came before: from the beginning to
    /// the end, in order.
    Resizing,
    /// Nothing comes out but a finding, such as a digest; the bytes go on as they are.
    Reduce,
}

/// Why a file cannot be transformed: it holds what the step cannot take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where in the input of the step, in bytes; nothing if it is about its end or its whole.
    pub position: Option<u64>,
    /// What is wrong, in one line.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(position) => write!(f, "{} at byte {position}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for Refusal {}

/// What a step found out, beside what it made: a digest, counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The step, as users type it.
    pub step: String,
    /// What it is about, such as `blake3` or `lines`.
    pub name: &'static str,
    /// Its value, as text: hexadecimal for digests, decimal for counts.
    pub value: String,
}

/// One step: takes the bytes of one file, from its beginning to its end, in blocks of any size, and
/// gives those of its result. The result does not depend on how the input is cut into blocks.
pub trait Step: Send {
    /// Returns what becomes of the length.
    fn shape(&self) -> Shape;

    /// Takes the next bytes, and appends to `out` what is certain of the result. What cannot be
    /// decided before more is seen is kept: little, and never more than a part of the input that has
    /// a limit of its own.
    ///
    /// # Errors
    /// The input holds what this step cannot take. Nothing is to be fed after that.
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal>;

    /// Ends: appends what is left of the result.
    ///
    /// # Errors
    /// The input ended too early.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Refusal>;

    /// Changes a block where it lies. Only for [`Shape::SameSize`]; the others never get here.
    fn change(&mut self, block: &mut [u8]) {
        let _ = block;
        unreachable!("BUG: only steps that keep every byte at its place are called so");
    }

    /// Returns what it found out, after [`Step::finish`].
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }
}
