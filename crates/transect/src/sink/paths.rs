//! Paths, one after the other, as soon as they are found: what `list` shows.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use transect_sys::{FileType, Want};

use crate::dir::Dir;
use crate::error::ScanError;
use crate::sink::{Entering, Flow, Sink, SkipReason, Tally, Visit};

/// Bytes that a thread gathers before it takes the output's lock. A pipe holds 64 KiB: more would
/// make the reader wait, less would make more calls.
const FULL: usize = 32 * 1024;

/// The longest that a path waits in a thread's buffer while other paths are found.
const PATIENCE: Duration = Duration::from_millis(100);

/// Where paths go, shared by the threads.
#[derive(Debug)]
pub struct PathOutput<W> {
    state: Mutex<State<W>>,
    /// What ends a path: a newline, or NUL for names that hold newlines.
    terminator: u8,
    /// How a path is written where bytes as they are would do harm: on a terminal.
    show: Option<fn(&OsStr) -> String>,
}

#[derive(Debug)]
struct State<W> {
    out: W,
    error: Option<io::Error>,
}

impl<W: Write> PathOutput<W> {
    /// Returns an output that ends every path with `terminator`.
    pub fn new(out: W, terminator: u8) -> Self {
        Self { state: Mutex::new(State { out, error: None }), terminator, show: None }
    }

    /// Writes what `show` returns for each path, instead of the path's bytes.
    pub fn shown_by(mut self, show: fn(&OsStr) -> String) -> Self {
        self.show = Some(show);
        self
    }

    /// Flushes, and returns the first error that writing met.
    ///
    /// # Errors
    /// Whatever writing or flushing said.
    pub fn finish(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.error.take() {
            Some(error) => Err(error),
            None => state.out.flush(),
        }
    }

    fn write(&self, bytes: &[u8]) -> Flow {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.error.is_none()
            && let Err(error) = state.out.write_all(bytes)
        {
            state.error = Some(error);
        }
        if state.error.is_some() { Flow::Quit } else { Flow::Continue }
    }
}

/// Writes the path of every entry. The order is that of the walk.
#[derive(Debug)]
pub struct Paths<W: Write> {
    output: Arc<PathOutput<W>>,
    buffer: Vec<u8>,
    /// The path of the directory being visited, with a separator at its end.
    prefix: Vec<u8>,
    flushed: Instant,
    /// Entries written.
    pub entries: u64,
    /// What is not in the list.
    pub tally: Tally,
}

impl<W: Write> Paths<W> {
    /// Returns a sink that writes to `output`, and keeps the text of `errors` errors.
    pub fn new(output: Arc<PathOutput<W>>, errors: usize) -> Self {
        Self {
            output,
            buffer: Vec::new(),
            prefix: Vec::new(),
            flushed: Instant::now(),
            entries: 0,
            tally: Tally::new(errors),
        }
    }

    /// Writes what is left, and returns what is not in the list.
    pub fn into_tally(mut self) -> Tally {
        std::mem::replace(&mut self.tally, Tally::new(0))
    }

    fn flush(&mut self) -> Flow {
        let flow = self.output.write(&self.buffer);
        self.buffer.clear();
        self.flushed = Instant::now();
        flow
    }
}

impl<W: Write> Drop for Paths<W> {
    /// What is left in the buffer goes out when the walk ends, or when another sink takes over.
    fn drop(&mut self) {
        if !self.buffer.is_empty() && !std::thread::panicking() {
            // The output remembers an error; `PathOutput::finish` returns it.
            let _ = self.flush();
        }
    }
}

impl<W: Write + Send> Sink for Paths<W> {
    type Tag = ();

    fn want(&self) -> Want {
        Want::default()
    }

    fn enter(&mut self, _: Entering<'_, ()>) {}

    fn visit(&mut self, visit: Visit<'_, ()>) -> Flow {
        self.prefix.clear();
        visit.dir.write_prefix(&mut self.prefix);
        for entry in visit.batch.iter() {
            match self.output.show {
                None => {
                    self.buffer.extend_from_slice(&self.prefix);
                    self.buffer.extend_from_slice(entry.name.as_encoded_bytes());
                }
                Some(show) => {
                    let path = visit.dir.path_of(entry.name);
                    self.buffer.extend_from_slice(show(path.as_os_str()).as_bytes());
                }
            }
            self.buffer.push(self.output.terminator);
            self.entries += 1;
        }
        if self.buffer.len() >= FULL || self.flushed.elapsed() >= PATIENCE {
            return self.flush();
        }
        Flow::Continue
    }

    fn error(&mut self, _: &Dir<()>, error: ScanError) -> Flow {
        self.tally.error(error);
        Flow::Continue
    }

    fn vanished(&mut self, _: &Dir<()>, _: FileType) {
        self.tally.vanished += 1;
    }

    fn skipped(&mut self, _: &Dir<()>, reason: SkipReason) {
        self.tally.skip(reason);
    }

    fn merge(&mut self, mut other: Self) {
        self.entries += other.entries;
        self.tally.merge(std::mem::replace(&mut other.tally, Tally::new(0)));
    }
}
