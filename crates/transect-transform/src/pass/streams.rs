//! The buffered readers and writers of the standard library, with their default buffers.

use std::io::{BufReader, BufWriter, Read, Write};

use super::block::Block;
use super::diff_writer::BlockWriter;
use super::step_runner::{BlockReader, FillReader};
use crate::error::Error;
use crate::source::{Source, fill};

/// Returns a reader of blocks through a buffer.
pub(super) fn reader<'a>(
    source: &'a Source,
    block: &'a mut Block,
    size: usize,
) -> impl BlockReader + 'a {
    let mut buffered = BufReader::new(source);
    FillReader::new(block, size, move |block| {
        fill(block, |rest, _| buffered.read(rest)).map_err(source.read_error())
    })
}

/// Writes through a buffer.
pub(super) struct StreamWriter<'a>(BufWriter<IoAdapter<'a>>);

impl<'a> StreamWriter<'a> {
    pub(super) fn new(writer: &'a mut dyn BlockWriter) -> Self {
        Self(BufWriter::new(IoAdapter { writer, failed: None }))
    }

    /// Returns the error of the underlying writer. The buffer replaces it by a system error.
    fn restore_error(&mut self, answer: std::io::Result<()>) -> Result<(), Error> {
        match answer {
            Ok(()) => Ok(()),
            Err(_) => Err(self.0.get_mut().failed.take().expect("BUG: only it can fail")),
        }
    }
}

impl BlockWriter for StreamWriter<'_> {
    fn start(&mut self, prefix: u64) -> Result<(), Error> {
        self.0.get_mut().writer.start(prefix)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let answer = self.0.write_all(bytes);
        self.restore_error(answer)
    }

    fn flush(&mut self) -> Result<(), Error> {
        let answer = self.0.flush();
        self.restore_error(answer)
    }
}

/// Adapts a block writer to [`Write`].
struct IoAdapter<'a> {
    writer: &'a mut dyn BlockWriter,
    failed: Option<Error>,
}

impl Write for IoAdapter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.writer.write(bytes).map_err(|error| {
            self.failed = Some(error);
            std::io::ErrorKind::Other
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
