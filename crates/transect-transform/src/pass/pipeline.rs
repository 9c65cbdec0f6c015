//! Three threads: one reads, one runs the steps, one writes.
//!
//! ```text
//! reader ── full blocks ─► steps ── results ─► writer
//!    ▲                       │ ▲                  │
//!    └──── empty blocks ─────┘ └─ empty results ──┘
//! ```
//!
//! Each ring has four blocks, which limits how far a thread can run ahead. A thread that ends early
//! drops its ends of the channels, so the others end, too. Joining returns its error.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use super::diff_writer::BlockWriter;
use super::step_runner::BlockReader;
use crate::error::Error;
use crate::source::Source;

const BLOCKS: usize = 4;

/// A command from the steps to the writer.
enum WriteCommand {
    Start(u64),
    Write(Vec<u8>),
}

/// Runs `work` between a reading and a writing thread.
pub(super) fn run<T: Send>(
    source: &Source,
    writer: Option<&mut dyn BlockWriter>,
    size: usize,
    work: impl FnOnce(&mut dyn BlockReader, Option<&mut dyn BlockWriter>) -> Result<T, Error>,
) -> Result<T, Error> {
    std::thread::scope(|scope| {
        let (full, blocks) = sync_channel(BLOCKS);
        let (empty, to_fill) = channel();
        for _ in 0..BLOCKS {
            let _ = empty.send(vec![0; size]);
        }
        scope.spawn(move || read(source, &to_fill, &full));
        let mut input = ChannelReader { blocks, empty, current: Vec::new(), length: 0 };
        let Some(writer) = writer else {
            return work(&mut input, None);
        };
        let (commands, to_do) = sync_channel(BLOCKS);
        let (done, written) = channel();
        let writing = scope.spawn(move || write(writer, &to_do, &done));
        let mut output = ChannelWriter { commands, written };
        let worked = work(&mut input, Some(&mut output));
        // Closes the channels, which ends the threads, even if they wait for a full ring.
        drop((input, output));
        let wrote = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // If the writer failed, `work` only reports a closed channel.
        wrote.and(worked)
    })
}

/// A block and the number of bytes read into it.
type FilledBlock = Result<(Vec<u8>, usize), Error>;

fn read(source: &Source, to_fill: &Receiver<Vec<u8>>, full: &SyncSender<FilledBlock>) {
    for mut block in to_fill {
        let filled = source.fill(&mut block);
        let goes_on = filled.as_ref().is_ok_and(|&read| read == block.len());
        if full.send(filled.map(|read| (block, read))).is_err() || !goes_on {
            return;
        }
    }
}

fn write(
    writer: &mut dyn BlockWriter,
    to_do: &Receiver<WriteCommand>,
    done: &Sender<Vec<u8>>,
) -> Result<(), Error> {
    for command in to_do {
        match command {
            WriteCommand::Start(prefix) => writer.start(prefix)?,
            WriteCommand::Write(bytes) => {
                writer.write(&bytes)?;
                // Fails if the steps have ended.
                let _ = done.send(bytes);
            }
        }
    }
    Ok(())
}

/// Blocks read by another thread.
struct ChannelReader {
    blocks: Receiver<FilledBlock>,
    empty: Sender<Vec<u8>>,
    current: Vec<u8>,
    length: usize,
}

impl BlockReader for ChannelReader {
    fn next_block(&mut self) -> Result<&mut [u8], Error> {
        let used = std::mem::take(&mut self.current);
        if !used.is_empty() {
            // Fails if the reader has ended.
            let _ = self.empty.send(used);
        }
        // The reader ends after the last block.
        (self.current, self.length) = self.blocks.recv().unwrap_or_else(|_| Ok((Vec::new(), 0)))?;
        Ok(&mut self.current[..self.length])
    }
}

/// Sends blocks to the writing thread.
struct ChannelWriter {
    commands: SyncSender<WriteCommand>,
    written: Receiver<Vec<u8>>,
}

impl ChannelWriter {
    fn send(&self, command: WriteCommand) -> Result<(), Error> {
        // Fails if the writer failed; `run` returns the writer's error instead.
        self.commands
            .send(command)
            .map_err(|_| Error::unsupported("pipeline", "its writer has ended"))
    }
}

impl BlockWriter for ChannelWriter {
    fn start(&mut self, prefix: u64) -> Result<(), Error> {
        self.send(WriteCommand::Start(prefix))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut block = self.written.try_recv().unwrap_or_default();
        block.clear();
        block.extend_from_slice(bytes);
        self.send(WriteCommand::Write(block))
    }
}
