//! Reading ahead and writing behind, without threads: a ring of operations that the kernel does.
//!
//! ```text
//!          ┌───────────────────── free ◄──────────────────────┐
//!          ▼                                                  │
//! reads on their way ─► read, in order ─► the block ─► writes on their way
//!                                             └ bytes from elsewhere are gathered first
//! ```
//!
//! A block that is written as it was read is written from where it lies: it takes its way round, and
//! nothing is copied. That is noted while the block is with the steps, and done when they take the
//! next one. At most half of the buffers are read ahead, so that writing always finds one.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::IoMethod;
use super::block::ALIGNMENT;
use super::direct::{DirectFile, DirectHandle};
use super::positioned_writer::PositionedWriter;
use super::step_runner::BlockReader;
use crate::error::{Error, Operation};
use crate::publish::Replacement;
use crate::source::Source;
use crate::system::{self, Buffer, Ring};

/// How many blocks are read ahead, and how many written behind. Through the cache more only cost.
const DEPTH: usize = 4;

/// The same for devices, which like to have work at hand.
const DIRECT_DEPTH: usize = 8;

/// A ring that one input and one output share, on the same thread.
#[derive(Clone, Debug)]
pub(super) struct SharedRing(Arc<Mutex<RingState>>);

/// What is on its way, and what has arrived.
#[derive(Debug)]
struct RingState {
    ring: Ring,
    method: IoMethod,
    /// The size of a buffer.
    size: usize,
    free: Vec<Buffer>,
    /// What the buffers that are on their way are for, by their index.
    requests: Vec<Option<Request>>,
    /// Blocks that have been read, by where they begin.
    completed: BTreeMap<u64, (Buffer, io::Result<usize>)>,
    /// Where the first block begins that nobody reads yet.
    ahead: u64,
    /// The block that is with the steps: where it lies in memory.
    current: Range<usize>,
    /// Parts of it that are to be written, and where.
    scheduled: BufferParts,
    /// The file that is read.
    input: Option<DirectFile>,
    /// The file that is written to.
    output: Option<File>,
    /// The first write that failed.
    failed: Option<io::Error>,
}

/// What a buffer is on its way for.
#[derive(Debug)]
enum Request {
    /// To be filled with what begins at a place; so much is there.
    Read { begin: u64, filled: usize },
    /// To bring the parts to their places, one after the other: the first is on its way.
    Write(BufferParts),
}

/// Parts of a buffer, and where they belong in a file.
type BufferParts = VecDeque<(Range<usize>, u64)>;

impl SharedRing {
    /// Returns a ring for blocks of `size` bytes, or a little more.
    pub(super) fn new(method: IoMethod, size: usize) -> io::Result<Self> {
        let size = size.next_multiple_of(ALIGNMENT);
        let depth = if method == IoMethod::DirectUring { DIRECT_DEPTH } else { DEPTH };
        let (ring, free) = Ring::new(2 * depth, size)?;
        let requests = free.iter().map(|_| None).collect();
        let state = RingState {
            ring,
            method,
            size,
            free,
            requests,
            completed: BTreeMap::new(),
            ahead: 0,
            current: 0..0,
            scheduled: VecDeque::new(),
            input: None,
            output: None,
            failed: None,
        };
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    /// Returns whether it can be used again, for another file: by this method, with such blocks.
    pub(super) fn matches(&self, method: IoMethod, size: usize) -> bool {
        let state = self.state();
        (state.method, state.size) == (method, size.next_multiple_of(ALIGNMENT))
    }

    /// Comes to rest after a pass: what was read too far is forgotten, and the files are closed.
    pub(super) fn drain(&self) -> io::Result<()> {
        let mut state = self.state();
        while state.ring.in_flight() > 0 {
            state.advance()?;
        }
        let completed = std::mem::take(&mut state.completed);
        state.free.extend(completed.into_values().map(|(buffer, _)| buffer));
        state.ahead = 0;
        (state.input, state.output) = (None, None);
        debug_assert_eq!(state.free.len(), state.requests.len(), "all buffers are back");
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, RingState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RingState {
    /// Returns how many blocks are read ahead at most, and how many written behind at least.
    fn depth(&self) -> usize {
        self.requests.len() / 2
    }

    /// Begins to read a block, or goes on with one that is not full.
    fn read(&mut self, buffer: Buffer, begin: u64, filled: usize) -> io::Result<()> {
        let at = begin + filled as u64;
        let file = self.input.as_ref().expect("BUG: who reads has set it").at(at);
        self.requests[buffer.index()] = Some(Request::Read { begin, filled });
        self.ring.read(file, buffer, filled..self.size, at)
    }

    /// Begins to write the first of some parts of a buffer.
    fn write(&mut self, buffer: Buffer, parts: BufferParts) -> io::Result<()> {
        let Some((part, at)) = parts.front().cloned() else {
            self.free.push(buffer);
            return Ok(());
        };
        let file = self.output.as_ref().expect("BUG: who writes has set it");
        self.requests[buffer.index()] = Some(Request::Write(parts));
        self.ring.write(file, buffer, part, at)
    }

    /// Waits for one operation, and does what follows from it.
    fn advance(&mut self) -> io::Result<()> {
        let (buffer, done) = self.ring.wait()?;
        let again = matches!(&done, Err(error) if error.kind() == io::ErrorKind::Interrupted);
        let done = if again { Ok(None) } else { done.map(Some) };
        let request = self.requests[buffer.index()].take();
        match (request.expect("BUG: it was on its way for something"), done) {
            (Request::Read { begin, filled }, Ok(None)) => self.read(buffer, begin, filled),
            (Request::Read { begin, filled }, Ok(Some(read))) => {
                let now = filled + read;
                // As from any file: only nothing is the end.
                if read > 0 && now < self.size {
                    return self.read(buffer, begin, now);
                }
                self.completed.insert(begin, (buffer, Ok(now)));
                Ok(())
            }
            (Request::Read { begin, .. }, Err(error)) => {
                self.completed.insert(begin, (buffer, Err(error)));
                Ok(())
            }
            (Request::Write(parts), Ok(None)) => self.write(buffer, parts),
            (Request::Write(mut parts), Ok(Some(written @ 1..))) => {
                let (part, at) = parts.front_mut().expect("BUG: one was on its way");
                part.start += written;
                *at += written as u64;
                if part.start == part.end {
                    parts.pop_front();
                }
                self.write(buffer, parts)
            }
            (Request::Write(_), failed) => {
                let error = failed.err().unwrap_or_else(|| io::ErrorKind::WriteZero.into());
                self.failed.get_or_insert(error);
                self.free.push(buffer);
                Ok(())
            }
        }
    }

    /// Returns how many buffers hold what was read, or will.
    fn blocks_ahead(&self) -> usize {
        let reads = |request: &&Option<Request>| matches!(request, Some(Request::Read { .. }));
        self.requests.iter().filter(reads).count() + self.completed.len()
    }

    /// Keeps the kernel reading, as far as the file is known to go, but at least one block.
    fn fill_read_ahead(&mut self, size: u64) -> io::Result<()> {
        loop {
            let ahead = self.blocks_ahead();
            if ahead > 0 && (ahead >= self.depth() || self.ahead >= size) {
                return Ok(());
            }
            let buffer = match self.free.pop() {
                Some(buffer) => buffer,
                None if ahead > 0 => return Ok(()),
                None => self.free_buffer()?,
            };
            self.read(buffer, self.ahead, 0)?;
            self.ahead += self.size as u64;
        }
    }

    /// Returns a buffer that nobody needs, when there is one: half of them are never read ahead, and
    /// those come back.
    fn free_buffer(&mut self) -> io::Result<Buffer> {
        loop {
            match self.free.pop() {
                Some(buffer) => return Ok(buffer),
                None => self.advance()?,
            }
        }
    }

    /// Waits until all is written.
    fn finish_writing(&mut self) -> io::Result<()> {
        while self.requests.iter().any(|request| matches!(request, Some(Request::Write(_)))) {
            self.advance()?;
        }
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Returns which part of the block that is with the steps `bytes` are.
    fn part_of_current(&self, bytes: &[u8]) -> Option<Range<usize>> {
        let start = bytes.as_ptr().addr().checked_sub(self.current.start)?;
        let part = start..start + bytes.len();
        (part.end <= self.current.len()).then_some(part)
    }
}

/// Blocks of a ring, in order.
pub(super) struct RingReader<'a> {
    source: &'a Source,
    ring: SharedRing,
    /// Where the next block begins.
    begin: u64,
    current: Option<Buffer>,
    ended: bool,
}

impl<'a> RingReader<'a> {
    pub(super) fn new(
        source: &'a Source,
        method: IoMethod,
        ring: SharedRing,
    ) -> Result<Self, Error> {
        let file = match method {
            IoMethod::DirectUring => DirectFile::of(source, method)?,
            _ => DirectFile::cached(source)?,
        };
        ring.state().input = Some(file);
        Ok(Self { source, ring, begin: 0, current: None, ended: false })
    }

    /// Sends the block that was with the steps on its way, and waits for the next one.
    fn advance(&mut self) -> io::Result<usize> {
        let mut state = self.ring.state();
        state.current = 0..0;
        if let Some(buffer) = self.current.take() {
            let scheduled = std::mem::take(&mut state.scheduled);
            state.write(buffer, scheduled)?;
        }
        if self.ended {
            return Ok(0);
        }
        state.fill_read_ahead(self.source.size())?;
        let (buffer, read) = loop {
            match state.completed.remove(&self.begin) {
                Some(completed) => break completed,
                None => state.advance()?,
            }
        };
        let read = read?;
        self.begin += state.size as u64;
        self.ended = read < state.size;
        if read == 0 {
            state.free.push(buffer);
            return Ok(0);
        }
        let start = buffer.as_ptr().addr();
        state.current = start..start + read;
        self.current = Some(buffer);
        Ok(read)
    }
}

impl BlockReader for RingReader<'_> {
    fn next_block(&mut self) -> Result<&mut [u8], Error> {
        let read = self.advance().map_err(Error::system(Operation::Read, self.source.path()))?;
        self.source.add_consumed(read as u64);
        Ok(self.current.as_mut().map_or(&mut [], |buffer| &mut buffer[..read]))
    }
}

/// Writes by a ring.
pub(super) struct RingWriter {
    ring: SharedRing,
    method: IoMethod,
    /// Known when the file is there.
    handle: Option<DirectHandle>,
    /// What makes no block yet, how much of it there is, and where it belongs.
    gathered: Option<Buffer>,
    filled: usize,
    at: u64,
}

impl RingWriter {
    pub(super) fn new(method: IoMethod, ring: SharedRing) -> Self {
        Self { ring, method, handle: None, gathered: None, filled: 0, at: 0 }
    }
}

impl PositionedWriter for RingWriter {
    fn write_at_end(&mut self, out: &Replacement, mut bytes: &[u8]) -> Result<(), Error> {
        let ring = self.ring.clone();
        let mut at = out.length();
        if self.filled > 0 && self.at + self.filled as u64 != at {
            // A hole is in between.
            self.flush_gathered(out)?;
        }
        let mut state = ring.state();
        if let Some(error) = state.failed.take() {
            return Err(failed(out)(error));
        }
        self.begin(&mut state, out)?;
        if self.schedule(&mut state, bytes, at) {
            return Ok(());
        }
        while !bytes.is_empty() {
            let taken = self.take(&mut state, out, bytes, at)?;
            at += taken as u64;
            bytes = &bytes[taken..];
        }
        Ok(())
    }

    fn finish(&mut self, out: &Replacement) -> Result<(), Error> {
        self.flush_gathered(out)?;
        let ring = self.ring.clone();
        let mut state = ring.state();
        assert!(state.scheduled.is_empty(), "BUG: the block that it is part of was not sent on");
        state.finish_writing().map_err(failed(out))?;
        // Whoever writes the rest of the file does it as always.
        self.handle.as_mut().map_or(Ok(()), |handle| handle.set_direct(out, self.method, false))
    }
}

impl RingWriter {
    /// Learns what there is to know of the file, when it is there.
    fn begin(&mut self, state: &mut RingState, out: &Replacement) -> Result<(), Error> {
        if self.handle.is_none() {
            state.output = Some(out.file().try_clone().map_err(failed(out))?);
            let mut handle = DirectHandle::of(out, self.method)?;
            handle.set_direct(out, self.method, true)?;
            self.handle = Some(handle);
        }
        Ok(())
    }

    /// Notes that bytes are to be written from where they lie, if they are a part of the block that is
    /// with the steps, and all is aligned.
    fn schedule(&mut self, state: &mut RingState, bytes: &[u8], at: u64) -> bool {
        let is_aligned = |length| self.handle().aligned_length(length) == length;
        match state.part_of_current(bytes) {
            Some(part)
                if self.filled == 0
                    && !bytes.is_empty()
                    && self.handle().unaligned_prefix(at) == 0
                    && is_aligned(part.start)
                    && is_aligned(part.len()) =>
            {
                state.scheduled.push_back((part, at));
                true
            }
            _ => false,
        }
    }

    /// Takes the first of some bytes: into a buffer, or through the cache up to an aligned place.
    /// Returns how many.
    fn take(
        &mut self,
        state: &mut RingState,
        out: &Replacement,
        bytes: &[u8],
        at: u64,
    ) -> Result<usize, Error> {
        let mut buffer = match self.gathered.take() {
            Some(buffer) => buffer,
            None => {
                let lead = self.handle().unaligned_prefix(at).min(bytes.len());
                if lead > 0 {
                    self.write_cached(state, out, &bytes[..lead], at)?;
                    return Ok(lead);
                }
                self.at = at;
                state.free_buffer().map_err(failed(out))?
            }
        };
        let taken = bytes.len().min(buffer.len() - self.filled);
        buffer[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
        self.filled += taken;
        if self.filled < buffer.len() {
            self.gathered = Some(buffer);
        } else {
            let whole = (0..std::mem::take(&mut self.filled), self.at);
            state.write(buffer, VecDeque::from([whole])).map_err(failed(out))?;
        }
        Ok(taken)
    }

    fn handle(&self) -> &DirectHandle {
        self.handle.as_ref().expect("BUG: it is made before anything is placed")
    }

    /// Writes what makes no block, its end through the cache if it is not aligned.
    fn flush_gathered(&mut self, out: &Replacement) -> Result<(), Error> {
        let ring = self.ring.clone();
        let mut state = ring.state();
        let Some(buffer) = self.gathered.take() else {
            return Ok(());
        };
        let filled = std::mem::take(&mut self.filled);
        let whole = self.handle().aligned_length(filled);
        if whole < filled {
            self.write_cached(&mut state, out, &buffer[whole..filled], self.at + whole as u64)?;
        }
        let parts = (whole > 0).then_some((0..whole, self.at));
        state.write(buffer, parts.into_iter().collect()).map_err(failed(out))
    }

    /// Writes through the cache, when nothing is on its way past it.
    fn write_cached(
        &mut self,
        state: &mut RingState,
        out: &Replacement,
        bytes: &[u8],
        at: u64,
    ) -> Result<(), Error> {
        state.finish_writing().map_err(failed(out))?;
        let handle = self.handle.as_mut().expect("BUG: it is made before anything is placed");
        handle.set_direct(out, self.method, false)?;
        system::write_all_at(out.file(), bytes, at).map_err(failed(out))?;
        handle.set_direct(out, self.method, true)
    }
}

fn failed(out: &Replacement) -> impl FnOnce(io::Error) -> Error {
    Error::system(Operation::Write, out.path())
}
