//! Steps: what a pass does to the bytes of a file.

mod error;

use std::fmt;

pub use error::{InvalidData, StepError};

use crate::manifest::Algorithm;
use crate::output::OutputBuffer;

/// How a step affects the length of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The result is as long as the input, every byte stays at its offset, and none depends on
    /// another. Blocks can be changed in place ([`Step::change`]).
    SameSize,
    /// The length may change, or the result depends on earlier bytes. Blocks are passed in order,
    /// from beginning to end.
    Resizing,
    /// The step produces no result, only a finding such as a digest. The caller passes the same
    /// bytes on.
    Reduce,
}

impl Shape {
    /// Returns the shape of two steps run one after the other.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::Resizing, _) | (_, Self::Resizing) => Self::Resizing,
            (Self::Reduce, Self::Reduce) => Self::Reduce,
            _ => Self::SameSize,
        }
    }
}

/// What a step costs in addition to reading and writing.
///
/// In nanoseconds per byte of input, the minimum of several runs of `examples/costs.rs` (November
/// 2026, EPYC with SHA and AVX-512 instructions, two shared cores): crc32c, xxh3 and
/// case 0.1; blake3 0.2; sha256 0.6; trim, eol, encode and decode up to 0.6; replace 0.02
/// to 4, depending on how often the first byte occurs; but gunzip 8, unzstd 4, zstd=1 5, zstd 6,
/// gzip=1 30, gzip 40.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Less than about 1 ns per byte: more threads would cost more than they save.
    #[default]
    Light,
    /// More: reading and writing can run on other threads meanwhile.
    Heavy,
}

transect_sys::words! {
    /// Which bytes a finding describes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Stage {
        /// The input: no earlier step changes anything.
        Input = "input",
        /// Bytes between two steps that change something; no file contains them.
        Between = "between",
        /// The result: an earlier step changes something, and no later step does.
        Result = "result",
    }
}

/// A value that a step computes in addition to its result, such as a digest or a count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The step, as typed. Set by the chain; a single step leaves it empty.
    pub step: String,
    /// The bytes that it describes. Set by the chain, which depends on the steps before.
    pub stage: Stage,
    /// What was computed, such as `blake3` or `lines`.
    pub name: &'static str,
    /// The value as text: hexadecimal for digests, decimal for counts.
    pub value: String,
}

impl Finding {
    /// Returns a finding with a name and a value.
    pub fn new(name: &'static str, value: impl fmt::Display) -> Self {
        Self { step: String::new(), stage: Stage::Input, name, value: value.to_string() }
    }

    /// Returns the digest algorithm; `None` if the finding is not a digest.
    pub fn algorithm(&self) -> Option<Algorithm> {
        Algorithm::ALL.iter().copied().find(|algorithm| algorithm.as_str() == self.name)
    }
}

/// One step: reads the bytes of a file from beginning to end, in blocks of any size, and writes the
/// bytes of the result. Neither the result, nor the findings, nor the position of an error depend
/// on how the input is split into blocks.
pub trait Step: Send {
    /// Returns how the step affects the length. Most steps may change it.
    fn shape(&self) -> Shape {
        Shape::Resizing
    }

    /// Returns the cost, as measured by `examples/costs.rs` on typical input.
    fn cost(&self) -> Cost {
        Cost::Light
    }

    /// Prepares for a file of `size` bytes, so that a slow step can process it on several threads.
    /// Called at most once, before the first block. `another` reserves an idle thread until the end
    /// of the file, and returns whether there was one. The result may depend on `size`, but not on
    /// the number of threads.
    ///
    /// # Errors
    /// There is not enough memory.
    fn use_threads(
        &mut self,
        size: u64,
        another: &mut dyn FnMut() -> bool,
    ) -> Result<(), InvalidData> {
        let _ = (size, another);
        Ok(())
    }

    /// Processes the next bytes, and writes to `out` every byte of the result that is already
    /// certain. The step keeps undecided bytes: a few, and never more than a fixed limit.
    ///
    /// # Errors
    /// The step cannot process the input, or `out` accepts no more. After an error, only another
    /// file may be fed, after [`Step::reset`].
    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError>;

    /// Ends the file: writes the rest of the result, if the step keeps any.
    ///
    /// # Errors
    /// The input ended too early, or `out` accepts no more.
    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let _ = out;
        Ok(())
    }

    /// Changes a block in place. Called only for [`Shape::SameSize`].
    ///
    /// # Errors
    /// A step of the chain that only inspects the block rejects it.
    fn change(&mut self, block: &mut [u8]) -> Result<(), InvalidData> {
        let _ = block;
        unreachable!("BUG: only steps that keep every byte at its place are called so");
    }

    /// Returns whether feeding `input` next would write exactly `input` and nothing before it. If
    /// so, [`Step::accept_unchanged`] can replace [`Step::feed`], and the block is neither copied
    /// nor compared. In most trees, most files need no change.
    fn leaves_unchanged(&self, input: &[u8]) -> bool {
        let _ = input;
        false
    }

    /// Processes `input`, for which [`Step::leaves_unchanged`] has just returned `true`.
    ///
    /// # Errors
    /// The errors of [`Step::feed`].
    fn accept_unchanged(&mut self, input: &[u8]) -> Result<(), InvalidData> {
        let _ = input;
        Ok(())
    }

    /// Returns the slot for the BLAKE3 digest of the whole input, if computing that is all the step
    /// does. Several threads can then compute it from parts of the file, and the step is fed
    /// nothing.
    fn blake3_slot(&mut self) -> Option<&mut Option<[u8; 32]>> {
        None
    }

    /// Returns the findings, after [`Step::finish`].
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }

    /// Returns to the state before the first file, keeping allocated memory, so that one step can
    /// process many files. Can be called at any time.
    fn reset(&mut self);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_then_is_more_demanding_shape() {
        for (one, other, both) in [
            (Shape::Reduce, Shape::Reduce, Shape::Reduce),
            (Shape::SameSize, Shape::SameSize, Shape::SameSize),
            (Shape::SameSize, Shape::Reduce, Shape::SameSize),
            (Shape::Resizing, Shape::SameSize, Shape::Resizing),
            (Shape::Resizing, Shape::Reduce, Shape::Resizing),
            (Shape::Resizing, Shape::Resizing, Shape::Resizing),
        ] {
            assert_eq!(one.then(other), both);
            assert_eq!(other.then(one), both);
        }
    }
}
