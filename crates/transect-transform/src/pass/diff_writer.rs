//! What becomes of a result: compared with the input while they are the same, written from where
//! they differ.

use super::OutputMode;
use crate::error::Error;
use crate::publish::{Digest, Digester};
use crate::source::Source;

/// What came out.
pub(super) struct WriteSummary {
    /// The length of the result.
    pub(super) length: u64,
    /// Whether it differs from the input, if that was looked at.
    pub(super) changed: Option<bool>,
    /// Its digest, if that was asked for.
    pub(super) digest: Option<Digest>,
}

/// Who writes a result: itself, or through something in between.
pub(super) trait BlockWriter {
    /// Begins with what the input begins with: its first `prefix` bytes.
    fn start(&mut self, prefix: u64) -> Result<(), Error>;

    /// Appends to the result.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error>;

    /// Appends what was kept back.
    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// What an outlet does with the next bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// So far, the result is what the input begins with. Nothing is written.
    Comparing,
    /// All is to be written, and nothing has come yet.
    NotStarted,
    /// They differ, or nobody asked.
    Writing,
}

/// The end of a pass.
pub(super) struct DiffWriter<'a, 'w> {
    source: &'a Source,
    /// Nothing if nobody wants the result, but to know whether it differs.
    writer: Option<&'a mut (dyn BlockWriter + 'w)>,
    mode: Mode,
    compares: bool,
    length: u64,
    /// Sees all of the result, if it is to be compared with what the device has of it.
    digester: Option<Digester>,
}

impl<'a, 'w> DiffWriter<'a, 'w> {
    /// Returns an outlet that writes all it is given, or compares first.
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

    /// Returns whether it still matters what the input was.
    pub(super) fn is_comparing(&self) -> bool {
        self.mode == Mode::Comparing
    }

    /// Returns whether the result is as long as the input before `input_at`, or its length is nothing
    /// to be compared any more.
    pub(super) fn is_in_step_with_input(&self, input_at: u64) -> bool {
        !self.is_comparing() || self.length == input_at
    }

    /// Takes a part of the result. `input` is what was read last, from `input_at` on.
    pub(super) fn put(&mut self, result: &[u8], input: &[u8], input_at: u64) -> Result<(), Error> {
        if self.is_comparing() && !self.is_input(result, input, input_at)? {
            self.start_writing()?;
        }
        self.append(result)
    }

    /// Takes a part of the result that is what the input has at this place.
    pub(super) fn put_unchanged(&mut self, result: &[u8]) -> Result<(), Error> {
        self.append(result)
    }

    fn append(&mut self, result: &[u8]) -> Result<(), Error> {
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

    /// Returns whether the input has the same at the same place. What a step keeps back lies before
    /// the last block, and is read once more; what would lie behind it is not known to be the same.
    fn is_input(&self, result: &[u8], input: &[u8], input_at: u64) -> Result<bool, Error> {
        let Some(inside) = self.length.checked_sub(input_at) else {
            let before = usize::try_from(input_at - self.length).unwrap_or(usize::MAX);
            let (before, rest) = result.split_at(before.min(result.len()));
            return Ok(input.starts_with(rest) && self.source.contains_at(before, self.length)?);
        };
        let inside = usize::try_from(inside).ok().and_then(|inside| input.get(inside..));
        Ok(inside.is_some_and(|input| input.starts_with(result)))
    }

    /// From now on all is written.
    fn start_writing(&mut self) -> Result<(), Error> {
        self.mode = Mode::Writing;
        match &mut self.writer {
            Some(writer) => writer.start(self.length),
            None => Ok(()),
        }
    }

    /// Ends.
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
