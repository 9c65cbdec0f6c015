//! The loop over the blocks of a file, the same for all methods.

use std::path::Path;

use super::block::Block;
use super::diff_writer::{BlockWriter, DiffWriter, WriteSummary};
use super::method::OutputMode;
use super::options::{PassOptions, add_progress};
use crate::error::{Error, Operation, Reason};
use crate::output::OutputBuffer;
use crate::source::{Source, check_cancelled};
use crate::step::{Finding, Shape, Step, StepError};
use crate::text::is_binary;

pub(super) trait BlockReader {
    /// Returns the next block, which may be changed in place. An empty block is the end.
    fn next_block(&mut self) -> Result<&mut [u8], Error>;
}

/// Reads blocks with a function that fills as much of a block as there is.
pub(super) struct FillReader<'a, F> {
    block: &'a mut Block,
    size: usize,
    fill: F,
    ended: bool,
}

impl<'a, F: FnMut(&mut [u8]) -> Result<usize, Error>> FillReader<'a, F> {
    pub(super) fn new(block: &'a mut Block, size: usize, fill: F) -> Self {
        Self { block, size, fill, ended: false }
    }
}

impl<F: FnMut(&mut [u8]) -> Result<usize, Error>> BlockReader for FillReader<'_, F> {
    fn next_block(&mut self) -> Result<&mut [u8], Error> {
        if self.ended {
            return Ok(&mut []);
        }
        let block = self.block.first(self.size);
        let read = (self.fill)(block)?;
        // The system has reported the end: no need to read again.
        self.ended = read < block.len();
        Ok(&mut block[..read])
    }
}

/// Memory for processing a block.
#[derive(Debug, Default)]
pub(super) struct StepBuffers {
    /// The block as read, for comparing.
    original: Block,
    /// The output of a step for a block.
    result: Vec<u8>,
}

/// Runs a step on a file.
pub(super) struct StepRunner<'a, 'b> {
    pub(super) source: &'a Source,
    pub(super) step: Option<&'a mut (dyn Step + 'b)>,
    pub(super) output: OutputMode,
    pub(super) options: &'a PassOptions,
    pub(super) scratch: &'a mut StepBuffers,
}

impl StepRunner<'_, '_> {
    /// Processes blocks until the end, and writes the result.
    pub(super) fn run(
        mut self,
        input: &mut dyn BlockReader,
        writer: Option<&mut dyn BlockWriter>,
    ) -> Result<(WriteSummary, Vec<Finding>), Error> {
        let digests = self.options.read_back && self.output != OutputMode::Discard;
        let mut output = DiffWriter::new(self.source, self.output, writer, digests);
        let mut end = 0;
        loop {
            check_cancelled(&self.options.cancel, self.source)?;
            let block = input.next_block()?;
            if block.is_empty() {
                break;
            }
            let at = end;
            if self.options.text_only && at == 0 && is_binary(block) {
                let path = self.source.path();
                return Err(Error::new(Operation::Transform, path, Reason::Binary));
            }
            end += block.len() as u64;
            add_progress(self.options.progress.as_deref(), block.len());
            self.block(block, at, &mut output)?;
        }
        let findings = self.finish(end, &mut output)?;
        Ok((output.finish()?, findings))
    }

    /// Writes what the step held back, and returns its findings.
    fn finish(self, end: u64, output: &mut DiffWriter<'_, '_>) -> Result<Vec<Finding>, Error> {
        let Some(step) = self.step else {
            return Ok(Vec::new());
        };
        let result = &mut self.scratch.result;
        run_step(self.source.path(), result, &mut |piece| output.put(piece, &[], end), |out| {
            step.finish(out)
        })?;
        Ok(step.findings())
    }

    fn block(
        &mut self,
        block: &mut [u8],
        at: u64,
        output: &mut DiffWriter<'_, '_>,
    ) -> Result<(), Error> {
        let Some(step) = &mut self.step else {
            return output.put_unchanged(block);
        };
        let invalid = Error::invalid(self.source.path());
        let result = &mut self.scratch.result;
        match step.shape() {
            Shape::SameSize if output.is_comparing() => {
                let original = self.scratch.original.first(block.len());
                original.copy_from_slice(block);
                step.change(block).map_err(invalid)?;
                output.put(block, original, at)
            }
            Shape::SameSize => {
                step.change(block).map_err(invalid)?;
                output.put_unchanged(block)
            }
            Shape::Resizing => {
                let block = &*block;
                if output.is_in_step_with_input(at) && step.leaves_unchanged(block) {
                    step.accept_unchanged(block).map_err(invalid)?;
                    return output.put_unchanged(block);
                }
                let mut next = |piece: &[u8]| output.put(piece, block, at);
                run_step(self.source.path(), result, &mut next, |out| step.feed(block, out))
            }
            Shape::Reduce => {
                run_step(self.source.path(), result, &mut |_| Ok(()), |out| step.feed(block, out))?;
                output.put_unchanged(block)
            }
        }
    }
}

/// Runs a step on the content of `path`, and passes on everything it produces. Output held back
/// until the next block is read would have to be compared with an input block that is no longer in
/// memory.
pub(crate) fn run_step(
    path: &Path,
    gathered: &mut Vec<u8>,
    next: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    make: impl FnOnce(&mut OutputBuffer<'_>) -> Result<(), StepError>,
) -> Result<(), Error> {
    let mut failed = None;
    let mut hand_on = |piece: &[u8]| {
        next(piece).map_err(|error| {
            failed = Some(error);
            StepError::Closed
        })
    };
    let mut out = OutputBuffer::new(gathered, &mut hand_on);
    let made = make(&mut out).and_then(|()| out.flush());
    match (made, failed) {
        (Ok(()), _) => Ok(()),
        (Err(_), Some(error)) => Err(error),
        (Err(StepError::Invalid(error)), None) => Err(Error::invalid(path)(error)),
        (Err(StepError::Closed), None) => unreachable!("BUG: only what failed closes"),
    }
}
