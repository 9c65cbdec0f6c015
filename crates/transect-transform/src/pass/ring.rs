//! Read-ahead and write-behind without threads, with `io_uring`.
//!
//! ```text
//!          ┌───────────────────── free ◄──────────────────────┐
//!          ▼                                                  │
//! reads in flight ─► completed, in order ─► the block ─► writes in flight
//!                                               └ other bytes are collected first
//! ```
//!
//! A block that is written as it was read is written from its own buffer, without a copy. The write
//! is scheduled while the steps have the block, and submitted when they take the next one. At most
//! half of the buffers are used for read-ahead, so that writing always finds one.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::IoMethod;
use super::block::ALIGNMENT;
use super::direct::{DirectFile, DirectHandle};
use super::file_writer::PositionedWriter;
use super::step_runner::BlockReader;
use crate::error::Error;
use crate::publish::Replacement;
use crate::source::Source;
use crate::system::{self, Buffer, Ring, Transfer};

/// Blocks to read ahead, and to write behind. Through the cache, more blocks only cost time.
const DEPTH: usize = 4;

/// The same for direct I/O: devices are faster with more requests queued.
const DIRECT_DEPTH: usize = 8;

/// A ring that one reader and one writer share on one thread.
#[derive(Clone, Debug)]
pub(super) struct SharedRing(Arc<Mutex<RingState>>);

/// Requests in flight, and completed reads.
#[derive(Debug)]
struct RingState {
    ring: Ring,
    method: IoMethod,
    size: usize,
    free: Vec<Buffer>,
    /// The request of each buffer in flight, by buffer index.
    requests: Vec<Option<Request>>,
    /// Blocks that were read, by offset.
    completed: BTreeMap<u64, (Buffer, io::Result<usize>)>,
    /// Offset of the next block to read.
    ahead: u64,
    /// Addresses of the block that the steps have.
    current: Range<usize>,
    /// Parts of it to write, and their offsets.
    scheduled: BufferParts,
    input: Option<DirectFile>,
    output: Option<File>,
    /// The first write error.
    failed: Option<io::Error>,
}

/// The request that a buffer is used for.
#[derive(Debug)]
enum Request {
    /// Read at `begin`; `filled` bytes are already there.
    Read { begin: u64, filled: usize },
    /// Write the parts one after the other; the first is in flight.
    Write(BufferParts),
}

/// Parts of a buffer, with their offsets in the file.
type BufferParts = VecDeque<(Range<usize>, u64)>;

impl SharedRing {
    /// Returns a ring for blocks of `size` bytes, rounded up to the alignment.
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

    /// Returns whether the ring can be reused for this method and block size.
    pub(super) fn matches(&self, method: IoMethod, size: usize) -> bool {
        let state = self.state();
        (state.method, state.size) == (method, size.next_multiple_of(ALIGNMENT))
    }

    /// Ends a pass: waits for all requests, discards blocks read ahead, and closes the files.
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
    /// Returns the maximum number of blocks to read ahead, which is the minimum left for writing.
    fn depth(&self) -> usize {
        self.requests.len() / 2
    }

    /// Submits a read of a block, or of the rest of a partly filled block.
    fn read(&mut self, buffer: Buffer, begin: u64, filled: usize) -> io::Result<()> {
        let at = begin + filled as u64;
        let file = self.input.as_ref().expect("BUG: who reads has set it").at(at);
        self.requests[buffer.index()] = Some(Request::Read { begin, filled });
        self.ring.submit(Transfer::Read, file, buffer, filled..self.size, at)
    }

    /// Submits a write of the first of some parts of a buffer.
    fn write(&mut self, buffer: Buffer, parts: BufferParts) -> io::Result<()> {
        let Some((part, at)) = parts.front().cloned() else {
            self.free.push(buffer);
            return Ok(());
        };
        let file = self.output.as_ref().expect("BUG: who writes has set it");
        self.requests[buffer.index()] = Some(Request::Write(parts));
        self.ring.submit(Transfer::Write, file, buffer, part, at)
    }

    /// Waits for one request, and submits what follows from it.
    fn advance(&mut self) -> io::Result<()> {
        let (buffer, done) = self.ring.wait()?;
        let again = matches!(&done, Err(error) if error.kind() == io::ErrorKind::Interrupted);
        let done = if again { Ok(None) } else { done.map(Some) };
        let request = self.requests[buffer.index()].take();
        match (request.expect("BUG: it was on its way for something"), done) {
            (Request::Read { begin, filled }, Ok(None)) => self.read(buffer, begin, filled),
            (Request::Read { begin, filled }, Ok(Some(read))) => {
                let now = filled + read;
                // As for any file, only a read of 0 bytes is the end.
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

    /// Returns how many buffers hold, or will hold, blocks that were read.
    fn blocks_ahead(&self) -> usize {
        let reads = |request: &&Option<Request>| matches!(request, Some(Request::Read { .. }));
        self.requests.iter().filter(reads).count() + self.completed.len()
    }

    /// Submits reads as far as the known end of the file, but at least one.
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

    /// Returns a free buffer, waiting for one if needed. Half of the buffers are never used for
    /// read-ahead, so one becomes free.
    fn free_buffer(&mut self) -> io::Result<Buffer> {
        loop {
            match self.free.pop() {
                Some(buffer) => return Ok(buffer),
                None => self.advance()?,
            }
        }
    }

    /// Waits until everything is written.
    fn finish_writing(&mut self) -> io::Result<()> {
        while self.requests.iter().any(|request| matches!(request, Some(Request::Write(_)))) {
            self.advance()?;
        }
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Returns the range of `bytes` within the block that the steps have, if it lies there.
    fn part_of_current(&self, bytes: &[u8]) -> Option<Range<usize>> {
        let start = bytes.as_ptr().addr().checked_sub(self.current.start)?;
        let part = start..start + bytes.len();
        (part.end <= self.current.len()).then_some(part)
    }
}

/// Reads blocks of a ring, in order.
pub(super) struct RingReader<'a> {
    source: &'a Source,
    ring: SharedRing,
    /// Offset of the next block.
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

    /// Submits the scheduled writes of the last block, and waits for the next block.
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
        let read = self.advance().map_err(self.source.read_error())?;
        self.source.add_consumed(read as u64);
        Ok(self.current.as_mut().map_or(&mut [], |buffer| &mut buffer[..read]))
    }
}

pub(super) struct RingWriter {
    ring: SharedRing,
    method: IoMethod,
    /// Set when the file exists.
    handle: Option<DirectHandle>,
    /// Bytes that do not fill a block yet, their number, and their offset.
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
            return Err(out.write_error()(error));
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
        state.finish_writing().map_err(out.write_error())?;
        // The rest of the file is written through the cache.
        self.handle.as_mut().map_or(Ok(()), |handle| handle.set_direct(out, self.method, false))
    }
}

impl RingWriter {
    /// Opens the file for the ring, once it exists.
    fn begin(&mut self, state: &mut RingState, out: &Replacement) -> Result<(), Error> {
        if self.handle.is_none() {
            state.output = Some(out.file().try_clone().map_err(out.write_error())?);
            let mut handle = DirectHandle::of(out, self.method)?;
            handle.set_direct(out, self.method, true)?;
            self.handle = Some(handle);
        }
        Ok(())
    }

    /// Schedules bytes to be written from their own buffer. Returns `false` if they are not part of
    /// the block that the steps have, or not aligned.
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

    /// Copies the first bytes into a buffer, or writes them through the cache up to an aligned
    /// offset. Returns how many.
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
                state.free_buffer().map_err(out.write_error())?
            }
        };
        let taken = bytes.len().min(buffer.len() - self.filled);
        buffer[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
        self.filled += taken;
        if self.filled < buffer.len() {
            self.gathered = Some(buffer);
        } else {
            let whole = (0..std::mem::take(&mut self.filled), self.at);
            state.write(buffer, VecDeque::from([whole])).map_err(out.write_error())?;
        }
        Ok(taken)
    }

    fn handle(&self) -> &DirectHandle {
        self.handle.as_ref().expect("BUG: it is made before anything is placed")
    }

    /// Writes an incomplete block, its end through the cache if it is not aligned.
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
        state.write(buffer, parts.into_iter().collect()).map_err(out.write_error())
    }

    /// Writes through the cache, after all direct writes have completed.
    fn write_cached(
        &mut self,
        state: &mut RingState,
        out: &Replacement,
        bytes: &[u8],
        at: u64,
    ) -> Result<(), Error> {
        state.finish_writing().map_err(out.write_error())?;
        let handle = self.handle.as_mut().expect("BUG: it is made before anything is placed");
        handle.set_direct(out, self.method, false)?;
        system::write_all_at(out.file(), bytes, at).map_err(out.write_error())?;
        handle.set_direct(out, self.method, true)
    }
}
