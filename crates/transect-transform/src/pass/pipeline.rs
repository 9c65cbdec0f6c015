//! Three threads: one reads, one does the steps, one writes.
//!
//! ```text
//! reader ── full blocks ─► steps ── results ─► writer
//!    ▲                       │ ▲                  │
//!    └──── empty blocks ─────┘ └─ empty results ──┘
//! ```
//!
//! Each ring has four blocks, so nobody runs ahead further than that. Who ends early, for whatever
//! reason, drops its ends of the channels, and the others end as well; the error is found by joining.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use super::diff_writer::BlockWriter;
use super::step_runner::BlockReader;
use crate::error::Error;
use crate::source::Source;

/// How many blocks a ring has.
const BLOCKS: usize = 4;

/// What the steps tell the writer.
enum WriteCommand {
    Start(u64),
    Write(Vec<u8>),
}

/// Runs `work` between a thread that reads and one that writes.
pub(super) fn run<T: Send>(
    source: &Source,
    writer: Option<&mut (dyn BlockWriter + Send)>,
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
        // Without its channel the writer ends; who waits for room in a ring, too.
        drop((input, output));
        let wrote = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // If the writer failed, the work only knows that nobody listens.
        wrote.and(worked)
    })
}

/// A block and how much of it was read.
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
    writer: &mut (dyn BlockWriter + Send),
    to_do: &Receiver<WriteCommand>,
    done: &Sender<Vec<u8>>,
) -> Result<(), Error> {
    for command in to_do {
        match command {
            WriteCommand::Start(prefix) => writer.start(prefix)?,
            WriteCommand::Write(bytes) => {
                writer.write(&bytes)?;
                // Nobody takes it if all is done.
                let _ = done.send(bytes);
            }
        }
    }
    Ok(())
}

/// Blocks that another thread reads.
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
            // Nobody takes it if all was read.
            let _ = self.empty.send(used);
        }
        // The reader ends behind the last block.
        (self.current, self.length) = self.blocks.recv().unwrap_or_else(|_| Ok((Vec::new(), 0)))?;
        Ok(&mut self.current[..self.length])
    }
}

/// Writing that another thread does.
struct ChannelWriter {
    commands: SyncSender<WriteCommand>,
    written: Receiver<Vec<u8>>,
}

impl ChannelWriter {
    fn send(&self, command: WriteCommand) -> Result<(), Error> {
        // Nobody listens: the writer failed, and its error is what is told.
        self.commands
            .send(command)
            .map_err(|_| Error::Unsupported("pipeline", "its writer has ended"))
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
