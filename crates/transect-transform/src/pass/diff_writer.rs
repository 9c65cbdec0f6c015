//! The end of a pass: compares the result with the input as long as they are equal, and writes from
//! the first difference.

use super::OutputMode;
use crate::error::Error;
use crate::publish::{Digest, Digester};
use crate::source::Source;

/// The outcome of writing a result.
pub(super) struct WriteSummary {
    /// Length of the result.
    pub(super) length: u64,
    /// Whether it differs from the input, if they were compared.
    pub(super) changed: Option<bool>,
    /// Digest of the result, if requested.
    pub(super) digest: Option<Digest>,
}

/// Writes a result block by block.
pub(super) trait BlockWriter: Send {
    /// Starts the result with a copy of the first `prefix` bytes of the input.
    fn start(&mut self, prefix: u64) -> Result<(), Error>;

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error>;

    /// Appends the buffered bytes.
    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// What to do with the next bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// So far the result equals the beginning of the input. Nothing is written.
    Comparing,
    /// Everything is to be written, and no bytes have arrived yet.
    NotStarted,
    /// The result differs from the input, or is not compared with it.
    Writing,
}

/// Writes the result of a pass, from the first difference on if it is compared with the input.
pub(super) struct DiffWriter<'a, 'w> {
    source: &'a Source,
    /// `None` if the result is discarded and only compared.
    writer: Option<&'a mut (dyn BlockWriter + 'w)>,
    mode: Mode,
    compares: bool,
    length: u64,
    /// Digests the whole result, if it is to be read back from the device.
    digester: Option<Digester>,
}

impl<'a, 'w> DiffWriter<'a, 'w> {
    /// Returns a writer that compares first, unless the result goes to a new file. `digests`
    /// requests a digest of the result.
    pub(super) fn new(
        source: &'a Source,
        output: OutputMode,
        writer: Option<&'a mut (dyn BlockWriter + 'w)>,
        digests: bool,
    ) -> Self {
        let compares = output != OutputMode::NewFile;
        let mode = if compares { Mode::Comparing } else { Mode::NotStarted };
        let digester = digests.then(Digester::new);
        Self { source, writer, mode, compares, length: 0, digester }
    }

    /// Returns whether the result is still compared with the input.
    pub(super) fn is_comparing(&self) -> bool {
        self.mode == Mode::Comparing
    }

    /// Returns whether the result has as many bytes as the input before `input_at`, or is no longer
    /// compared.
    pub(super) fn is_in_step_with_input(&self, input_at: u64) -> bool {
        !self.is_comparing() || self.length == input_at
    }

    /// Appends to the result. `input` is the last block read, starting at `input_at`.
    pub(super) fn put(&mut self, result: &[u8], input: &[u8], input_at: u64) -> Result<(), Error> {
        if self.is_comparing() && !self.is_input(result, input, input_at)? {
            self.start_writing()?;
        }
        self.put_unchanged(result)
    }

    /// Appends a part of the result that is known to equal the input at the same offset, or is not
    /// compared.
    pub(super) fn put_unchanged(&mut self, result: &[u8]) -> Result<(), Error> {
        if self.mode == Mode::NotStarted {
            self.start_writing()?;
        }
        self.length += result.len() as u64;
        if let Some(digester) = &mut self.digester {
            digester.update(result);
        }
        match &mut self.writer {
            Some(writer) if self.mode == Mode::Writing => writer.write(result),
            _ => Ok(()),
        }
    }

    /// Returns whether the input has the same bytes at the same offset. Bytes that a step held back
    /// precede the last block, and are read again. Bytes beyond the block are not known yet, and
    /// count as different.
    fn is_input(&self, result: &[u8], input: &[u8], input_at: u64) -> Result<bool, Error> {
        let Some(inside) = self.length.checked_sub(input_at) else {
            let before = usize::try_from(input_at - self.length).unwrap_or(usize::MAX);
            let (before, rest) = result.split_at(before.min(result.len()));
            return Ok(input.starts_with(rest) && self.source.contains_at(before, self.length)?);
        };
        let inside = usize::try_from(inside).ok().and_then(|inside| input.get(inside..));
        Ok(inside.is_some_and(|input| input.starts_with(result)))
    }

    /// Writes everything from now on.
    fn start_writing(&mut self) -> Result<(), Error> {
        self.mode = Mode::Writing;
        match &mut self.writer {
            Some(writer) => writer.start(self.length),
            None => Ok(()),
        }
    }

    /// Ends the result.
    pub(super) fn finish(mut self) -> Result<WriteSummary, Error> {
        let shorter = self.is_comparing() && self.length != self.source.consumed();
        if shorter || self.mode == Mode::NotStarted {
            self.start_writing()?;
        }
        let differs = self.mode == Mode::Writing;
        if let (true, Some(writer)) = (differs, &mut self.writer) {
            writer.flush()?;
        }
        let changed = self.compares.then_some(differs);
        let digest = self.digester.map(|digester| digester.finalize());
        Ok(WriteSummary { length: self.length, changed, digest })
    }
}
