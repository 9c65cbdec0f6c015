//! Writes entries one per line, as paths or in another format, for `list`.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use transect_sys::{Attributes, Batch, EntryRef, FieldMask, Want};

use crate::dir::Dir;
use crate::lock::lock;
use crate::sink::list_totals::ListTotals;
use crate::sink::sort::{SortBuffer, SortKey, SortSpec};
use crate::sink::{Diagnostics, Flow, Omission, Sink, Visit};

/// Buffered bytes at which a thread takes the output's lock. A pipe holds 64 KiB: a larger buffer
/// makes its reader wait, and a smaller one needs more calls.
const FLUSH_BYTES: usize = 32 * 1024;

/// The maximum time that a line stays in a buffer while other entries are found.
const FLUSH_INTERVAL: Duration = Duration::from_millis(100);

/// The output of a list, shared by the threads.
#[derive(Debug)]
pub struct ListOutput<W> {
    state: Mutex<State<W>>,
    /// Ends a line: a newline, or NUL if names may contain newlines.
    terminator: u8,
    /// The format of a line, if not the path.
    pub format: Option<Box<dyn LineFormat>>,
    /// The order of the lines, and whether it is reversed, if not the order in which entries are found. All lines
    /// are kept in memory, up to the limit, and written at the end of the walk.
    pub sort: Option<(SortKey, bool)>,
    /// The maximum number of lines. The walk ends after that many entries; a sorted list holds the first of all
    /// entries.
    pub limit: Option<usize>,
    /// The lines that were written, and those that the limit did not allow.
    lines: AtomicUsize,
    /// Whether the sizes of the entries in the list are added up.
    pub with_totals: bool,
}

/// A format for the lines of a list.
pub trait LineFormat: Debug + Send + Sync {
    /// Returns the attributes that a line needs.
    fn fields(&self) -> FieldMask;

    /// Appends the line for an entry, without the terminator.
    fn write(&self, entry: &ListEntry<'_>, line: &mut Vec<u8>);
}

/// An entry to be listed.
#[derive(Debug)]
pub struct ListEntry<'a> {
    /// The directory, if it is one of a walk.
    dir: Option<&'a Dir>,
    /// The path of the directory, with a separator at the end.
    prefix: &'a [u8],
    name: &'a OsStr,
    attributes: &'a Attributes,
    remark: Option<&'static str>,
}

impl<'a> ListEntry<'a> {
    /// Returns an entry that does not come from a walk. `prefix` is the path of its directory with a separator at the
    /// end, as bytes, and empty for a root.
    pub fn new(prefix: &'a [u8], name: &'a OsStr, attributes: &'a Attributes) -> Self {
        Self { dir: None, prefix, name, attributes, remark: None }
    }

    /// Sets a word for formats that show it: what the caller knows of the entry, besides its attributes.
    pub fn with_remark(mut self, remark: Option<&'static str>) -> Self {
        self.remark = remark;
        self
    }

    /// Returns the word that the caller set.
    pub fn remark(&self) -> Option<&'static str> {
        self.remark
    }

    /// Returns the name; of a root, the path as given.
    pub fn name(&self) -> &'a OsStr {
        self.name
    }

    /// Returns the attributes that are known.
    pub fn attributes(&self) -> &'a Attributes {
        self.attributes
    }

    /// Returns the path.
    pub fn path(&self) -> PathBuf {
        if let Some(dir) = self.dir {
            return dir.path_of(self.name);
        }
        let mut path = Vec::new();
        self.write_path(&mut path);
        transect_sys::name_from_bytes(path).into()
    }

    /// Appends the bytes of the path; cheaper than [`ListEntry::path`].
    pub fn write_path(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.prefix);
        out.extend_from_slice(self.name.as_encoded_bytes());
    }
}

#[derive(Debug)]
struct State<W> {
    out: W,
    error: Option<io::Error>,
}

impl<W: Write> ListOutput<W> {
    /// Returns an output that ends every line with `terminator`.
    pub fn new(out: W, terminator: u8) -> Self {
        Self {
            state: Mutex::new(State { out, error: None }),
            terminator,
            format: None,
            sort: None,
            limit: None,
            lines: AtomicUsize::new(0),
            with_totals: false,
        }
    }

    /// Returns whether the lines are paths, of all entries in the order in which they are found.
    fn is_plain(&self) -> bool {
        self.format.is_none() && self.sort.is_none() && self.limit.is_none() && !self.with_totals
    }

    fn sorted(&self) -> Option<SortBuffer<SortedLine>> {
        let (key, reverse) = self.sort?;
        Some(SortBuffer::new(SortSpec { key, reverse, limit: self.limit }))
    }

    /// Returns whether one more line may be written.
    fn reserve_line(&self) -> bool {
        self.limit.is_none_or(|limit| self.lines.fetch_add(1, Ordering::Relaxed) < limit)
    }

    fn limit_reached(&self) -> bool {
        self.limit.is_some_and(|limit| self.lines.load(Ordering::Relaxed) >= limit)
    }

    /// Flushes the output and returns the first write error.
    ///
    /// # Errors
    /// The error of a write or of the flush.
    pub fn finish(&self) -> io::Result<()> {
        let mut state = lock(&self.state);
        match state.error.take() {
            Some(error) => Err(error),
            None => state.out.flush(),
        }
    }

    fn write(&self, bytes: &[u8]) -> Flow {
        let mut state = lock(&self.state);
        if state.error.is_none()
            && let Err(error) = state.out.write_all(bytes)
        {
            state.error = Some(error);
        }
        if state.error.is_some() { Flow::Quit } else { Flow::Continue }
    }
}

/// The line to write, if not the path; and for totals, the attributes.
type SortedLine = (Option<Vec<u8>>, Option<Box<Attributes>>);

/// Writes a line per entry, in the format and order of its [`ListOutput`].
#[derive(Debug)]
pub struct ListSink<W: Write> {
    output: Arc<ListOutput<W>>,
    buffer: Vec<u8>,
    sorted: Option<SortBuffer<SortedLine>>,
    /// The path of the directory being visited, with a separator at the end.
    prefix: Vec<u8>,
    flushed: Instant,
    totals: Option<ListTotals>,
    follow: bool,
    /// The number of entries written.
    pub entries: u64,
    /// Errors, and counts of entries that are not in the list.
    pub diagnostics: Diagnostics,
}

impl<W: Write> ListSink<W> {
    /// Returns a sink that writes to `output` and keeps the text of `errors` errors.
    pub fn new(output: Arc<ListOutput<W>>, errors: usize) -> Self {
        Self {
            sorted: output.sorted(),
            totals: output.with_totals.then(ListTotals::default),
            follow: false,
            output,
            buffer: Vec::new(),
            prefix: Vec::new(),
            flushed: Instant::now(),
            entries: 0,
            diagnostics: Diagnostics::new(errors),
        }
    }

    /// Writes the remaining lines, and returns the diagnostics; and the totals, if the output has them.
    pub fn finish(mut self) -> (Diagnostics, Option<ListTotals>) {
        let sorted = self.sorted.take().into_iter().flat_map(SortBuffer::into_sorted);
        for (path, (line, attributes)) in sorted {
            if let (Some(totals), Some(attributes)) = (&mut self.totals, attributes) {
                totals.add(&attributes, self.follow);
            }
            self.buffer.extend_from_slice(&line.unwrap_or(path));
            self.buffer.push(self.output.terminator);
            // `ListOutput::finish` returns the error.
            if self.buffer.len() >= FLUSH_BYTES && self.flush() == Flow::Quit {
                break;
            }
        }
        (std::mem::take(&mut self.diagnostics), self.totals.take())
    }

    /// Adds an entry that does not come from a walk. Returns [`Flow::Quit`] if no more can be written.
    pub fn add(&mut self, entry: &ListEntry<'_>) -> Flow {
        self.add_line(entry);
        if self.buffer.len() < FLUSH_BYTES && !self.output.limit_reached() {
            return Flow::Continue;
        }
        self.flush_if_due()
    }

    /// Adds a line, and returns whether the limit allowed it.
    fn add_line(&mut self, entry: &ListEntry<'_>) -> bool {
        let Self { output, buffer, sorted, totals, entries, .. } = self;
        if let Some(sorted) = sorted {
            let attributes = totals.is_some().then(|| Box::new(*entry.attributes()));
            buffer_line(sorted, entry, output.format.as_deref(), attributes);
        } else if output.reserve_line() {
            match &output.format {
                None => entry.write_path(buffer),
                Some(format) => format.write(entry, buffer),
            }
            buffer.push(output.terminator);
            if let Some(totals) = totals {
                totals.add(entry.attributes(), self.follow);
            }
        } else {
            return false;
        }
        *entries += 1;
        true
    }

    /// Adds a line for each entry of a directory whose prefix is known.
    fn add_lines(&mut self, visit: &Visit<'_>) {
        let prefix = std::mem::take(&mut self.prefix);
        for EntryRef { name, attributes, .. } in visit.batch.iter() {
            let dir = Some(&**visit.dir);
            let entry = ListEntry { dir, prefix: &prefix, name, attributes, remark: None };
            if !self.add_line(&entry) {
                break;
            }
        }
        self.prefix = prefix;
    }

    /// As [`Self::add_lines`] for lines that are paths, without the questions about formats, orders and limits.
    fn add_paths(&mut self, batch: &Batch) {
        let Self { output, buffer, prefix, entries, .. } = self;
        for entry in batch.iter() {
            let name = entry.name.as_encoded_bytes();
            buffer.extend_from_slice(prefix);
            buffer.extend_from_slice(name);
            buffer.push(output.terminator);
            *entries += 1;
        }
    }

    fn flush_if_due(&mut self) -> Flow {
        if self.sorted.is_some() {
            return Flow::Continue;
        }
        if self.output.limit_reached() {
            let _ = self.flush();
            return Flow::Quit;
        }
        if self.buffer.len() >= FLUSH_BYTES || self.flushed.elapsed() >= FLUSH_INTERVAL {
            return self.flush();
        }
        Flow::Continue
    }

    fn flush(&mut self) -> Flow {
        let flow = self.output.write(&self.buffer);
        self.buffer.clear();
        self.flushed = Instant::now();
        flow
    }
}

impl<W: Write> Drop for ListSink<W> {
    /// Writes the rest of the buffer when the walk ends or another sink takes over.
    fn drop(&mut self) {
        if !self.buffer.is_empty() && !std::thread::panicking() {
            // `ListOutput::finish` returns the error.
            let _ = self.flush();
        }
    }
}

impl<W: Write + Send> Sink for ListSink<W> {
    fn want(&self) -> Want {
        let formatted =
            self.output.format.as_ref().map_or(FieldMask::empty(), |format| format.fields());
        let sorted_by = self.output.sort.map_or(FieldMask::empty(), |(key, _)| key.field());
        let fields = formatted | sorted_by;
        let totals = if self.totals.is_some() { ListTotals::want() } else { Want::default() };
        totals.entries(fields | totals.entries).directories(fields | totals.directories)
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        self.prefix.clear();
        visit.dir.write_prefix(&mut self.prefix);
        self.follow = visit.follow;
        if self.output.is_plain() {
            self.add_paths(visit.batch);
        } else {
            self.add_lines(&visit);
        }
        self.flush_if_due()
    }

    fn omit(&mut self, _: &Dir, omission: Omission<'_>) -> Flow {
        self.diagnostics.add(omission);
        Flow::Continue
    }

    fn merge(&mut self, mut other: Self) {
        self.entries += other.entries;
        self.follow |= other.follow;
        if let (Some(totals), Some(others)) = (&mut self.totals, other.totals.take()) {
            totals.merge(others);
        }
        if let (Some(sorted), Some(others)) = (&mut self.sorted, other.sorted.take()) {
            sorted.merge(others);
        }
        self.diagnostics.merge(std::mem::take(&mut other.diagnostics));
    }
}

/// Keeps a line until all entries are known.
fn buffer_line(
    sorted: &mut SortBuffer<SortedLine>,
    entry: &ListEntry<'_>,
    format: Option<&dyn LineFormat>,
    attributes: Option<Box<Attributes>>,
) {
    let mut path = Vec::with_capacity(entry.prefix.len() + entry.name().len());
    entry.write_path(&mut path);
    let line = format.map(|format| {
        let mut line = Vec::new();
        format.write(entry, &mut line);
        line
    });
    sorted.push(entry.attributes(), path, entry.prefix.len(), (line, attributes));
}
