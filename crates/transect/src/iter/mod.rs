//! The entries of a walk as an iterator.
//!
//! ```text
//!   caller's thread                         threads of the walk
//!   next() ── step ── step ── step ─┐
//!             (one batch each)      └─ tasks ─► thread ─► thread …
//!   next() ◄── chunks ◄── bounded queue ◄─────────┴─────────┘
//! ```
//!
//! A walk begins on the caller's thread, one batch for each call that needs one; the first is small. So a
//! small tree, or a loop that ends after a few entries, starts no thread. After [`HAND_OVER`] of reading, the
//! remaining directories are handed over to the threads of the engine, which deliver in chunks
//! through a bounded queue. A walk on one thread stays on the caller's.

mod entry;
mod found;
mod queue;
mod sink;
mod sorted;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use transect_sys::Reader;

use crate::error::Error;
use crate::options::ScanOptions;
use crate::plan::ScanPlan;
use crate::reader::{AnyReader, Readers};
use crate::sink::Diagnostics;
use crate::walk::{Step, SteppedWalk, Stopper};

use queue::{CHUNK_ENTRIES, ChunkQueue};
use sink::ChunkSink;
use sorted::SortedEntries;

pub use entry::DirEntry;
pub use found::FoundEntries;

/// The reading time after which a walk is handed over to threads: several times what starting and
/// stopping them costs.
const HAND_OVER: Duration = Duration::from_micros(500);

type MakeReader<R> = Arc<dyn Fn() -> R + Send + Sync>;

/// Walks a directory tree: returns its options, over which a `for` loop iterates. The root comes first, the others
/// in no particular order, unless they are [sorted](ScanOptions::sort_by_name).
///
/// ```
/// use transect::FieldMask;
///
/// let mut bytes = 0;
/// for entry in transect::walk("src").max_depth(2).want(FieldMask::SIZE) {
///     let entry = entry?;
///     if entry.file_type().is_file() {
///         bytes += entry.attributes().size().unwrap_or(0);
///     }
/// }
/// # assert!(bytes > 0);
/// # Ok::<(), transect::Error>(())
/// ```
pub fn walk(root: impl Into<PathBuf>) -> ScanOptions {
    ScanOptions::new([root.into()])
}

/// The walk begins with the first call of [`next`](Iterator::next). Options that are wrong are its only item.
impl IntoIterator for ScanOptions {
    type Item = Result<DirEntry, Error>;
    type IntoIter = Walk;

    fn into_iter(self) -> Walk {
        match self.plan() {
            Ok(plan) => plan.into_iter(),
            Err(error) => Walk::new(State::End, Some(error)),
        }
    }
}

/// The walk begins with the first call of [`next`](Iterator::next).
impl IntoIterator for ScanPlan {
    type Item = Result<DirEntry, Error>;
    type IntoIter = Walk;

    fn into_iter(mut self) -> Walk {
        self.reader_settings.begins_small = self.options.settings.buffer_size.is_none();
        let readers = Readers::new(&self);
        self.walk_with(move || readers.reader())
    }
}

impl ScanPlan {
    /// Returns an iterator that uses readers made by `reader`, such as the fake reader of tests.
    #[doc(hidden)]
    pub fn walk_with<R: Reader>(self, reader: impl Fn() -> R + Send + Sync + 'static) -> Walk<R> {
        let make_reader: MakeReader<R> = Arc::new(reader);
        Walk::new(State::New { plan: self, make_reader }, None)
    }
}

/// An iterator over the entries of a walk: what [`ScanOptions`] and [`ScanPlan`] become in a `for` loop.
///
/// Unless they are sorted, entries come in the order in which they are found, which differs from run to run; those
/// of one directory stay together if it fits into one batch. A directory comes before everything in it. Errors
/// are items, and do not end the walk.
///
/// On several threads, some ten thousand entries may wait for the caller; after that the walk
/// waits. Dropping the iterator stops the walk and waits for its threads, each of which finishes the
/// batch that it reads.
///
/// # Panics
/// [`next`](Iterator::next) panics if the closure of [`ScanOptions::filter_entry`] panicked.
pub struct Walk<R: Reader = AnyReader> {
    state: State<R>,
    /// Entries to be returned.
    chunk: FoundEntries,
    diagnostics: Diagnostics,
    /// How long the walk reads on this thread.
    threads_after: Duration,
}

enum State<R: Reader> {
    /// The walk has not begun.
    New { plan: ScanPlan, make_reader: MakeReader<R> },
    /// The walk runs in steps on the caller's thread.
    Stepping(Stepping<R>),
    /// The walk runs on its own threads.
    Threads(Threads<R>),
    /// The walk is finished, or failed.
    End,
}

struct Stepping<R: Reader> {
    walk: SteppedWalk<R, ChunkSink>,
    make_reader: MakeReader<R>,
    /// How long the steps took.
    read_for: Duration,
    /// The walk cannot use threads of its own.
    stays_here: bool,
    sorted: Option<SortedEntries>,
}

struct Threads<R: Reader> {
    queue: Arc<ChunkQueue>,
    stopper: Stopper<R>,
    driver: Option<JoinHandle<Result<Diagnostics, Error>>>,
}

impl<R: Reader> Walk<R> {
    fn new(state: State<R>, error: Option<Error>) -> Self {
        let mut chunk = FoundEntries::default();
        error.into_iter().for_each(|error| chunk.add_error(error));
        Self { state, chunk, diagnostics: Diagnostics::default(), threads_after: HAND_OVER }
    }

    /// Sets how long the walk reads on its caller's thread before it starts others: zero to start them at once,
    /// [`Duration::MAX`] for never. For callers that hand a walk over to a thread of their own, such as the package
    /// for Python.
    #[doc(hidden)]
    pub fn threads_after(mut self, reading: Duration) -> Self {
        self.threads_after = reading;
        self
    }

    /// Returns how many errors, vanished and skipped entries there were. Complete after the last
    /// item, and empty before.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Returns what was found and not returned yet; `None` after the end. If there is nothing, reads at most one batch
    /// of one directory, of which filters may select nothing, or waits for the threads. It is for entries that another
    /// thread uses: they are moved there together.
    ///
    /// ```
    /// let mut walk = transect::walk("src").into_iter();
    /// let (sender, receiver) = std::sync::mpsc::sync_channel(4);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || while walk.take_found().is_some_and(|found| sender.send(found).is_ok()) {});
    ///     for mut found in receiver {
    ///         while let Some(entry) = found.take_next() {
    ///             println!("{}", entry?.path().display());
    ///         }
    ///     }
    ///     Ok::<(), transect::Error>(())
    /// })?;
    /// # Ok::<(), transect::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn take_found(&mut self) -> Option<FoundEntries> {
        if self.chunk.is_empty() && !self.advance() {
            return None;
        }
        Some(std::mem::take(&mut self.chunk))
    }

    /// Reads a batch, or waits for a chunk of the threads; returns false after the end.
    fn advance(&mut self) -> bool {
        // A panic below leaves the walk at its end.
        self.state = match std::mem::replace(&mut self.state, State::End) {
            State::End => return false,
            State::New { plan, make_reader } => State::Stepping(self.begin(&plan, make_reader)),
            State::Stepping(stepping) => self.step(stepping),
            State::Threads(threads) => self.receive(threads),
        };
        true
    }

    fn begin(&mut self, plan: &ScanPlan, make_reader: MakeReader<R>) -> Stepping<R> {
        let began = Instant::now();
        let walk =
            SteppedWalk::begin(plan, ChunkSink::new(plan.options.want, None), &|| make_reader());
        let sorted = plan.options.sorts_by().map(SortedEntries::new);
        let (read_for, stays_here) = (began.elapsed(), sorted.is_some());
        let mut stepping = Stepping { walk, make_reader, read_for, stays_here, sorted };
        self.take_chunk(&mut stepping);
        stepping
    }

    fn step(&mut self, mut stepping: Stepping<R>) -> State<R> {
        let began = Instant::now();
        self.chunk.clear();
        if let Some(sorted) = &mut stepping.sorted {
            if sorted.deliver(&stepping.walk, &mut self.chunk) {
                return State::Stepping(stepping);
            }
        } else if let Some(sink) = stepping.walk.sink() {
            std::mem::swap(&mut self.chunk, &mut sink.chunk);
        }
        let mut step = stepping.walk.step();
        while step == Step::Inside && stepping.sorted.is_some() {
            step = stepping.walk.step();
        }
        self.take_chunk(&mut stepping);
        stepping.read_for += began.elapsed();
        let is_due = !stepping.stays_here && stepping.read_for > self.threads_after;
        match step {
            Step::End => {
                if let Some(sink) = stepping.walk.sink() {
                    self.diagnostics = std::mem::take(&mut sink.diagnostics);
                }
                State::End
            }
            Step::BetweenDirectories if is_due => stepping.hand_over(),
            _ => State::Stepping(stepping),
        }
    }

    /// Takes what the sink has collected on this thread.
    fn take_chunk(&mut self, stepping: &mut Stepping<R>) {
        if let Some(sink) = stepping.walk.sink() {
            std::mem::swap(&mut self.chunk, &mut sink.chunk);
        }
        if let Some(sorted) = &mut stepping.sorted {
            sorted.add(&mut self.chunk);
        }
    }

    fn receive(&mut self, mut threads: Threads<R>) -> State<R> {
        let emptied = match self.chunk.is_new() {
            // The last one was given away. A full one has more entries: one more batch.
            true => FoundEntries::with_room(CHUNK_ENTRIES + CHUNK_ENTRIES / 4),
            false => std::mem::take(&mut self.chunk),
        };
        match threads.queue.receive(emptied) {
            Some(chunk) => self.chunk = chunk,
            None => {
                let driver = threads.driver.take().expect("BUG: only the end takes the thread");
                match driver.join() {
                    Ok(Ok(diagnostics)) => self.diagnostics = diagnostics,
                    Ok(Err(error)) => self.chunk.add_error(error),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
                return State::End;
            }
        }
        State::Threads(threads)
    }
}

impl<R: Reader> Stepping<R> {
    /// Continues the walk on threads of its own; on this one if none can be started, or the plan does
    /// not allow it.
    fn hand_over(mut self) -> State<R> {
        if !self.walk.can_use_threads() {
            // A walk with one waiting directory may have more of them later.
            self.read_for = Duration::ZERO;
            return State::Stepping(self);
        }
        let queue = Arc::new(ChunkQueue::new());
        let stopper = self.walk.stopper();
        let Some(sink) = self.walk.sink() else { return State::End };
        let want = sink.want;
        sink.queue = Some(Arc::clone(&queue));
        // Sent once the thread has started: one that fails to start must not take the walk with it.
        let (sender, receiver) = channel::<SteppedWalk<R, ChunkSink>>();
        let (make_reader, to) = (Arc::clone(&self.make_reader), Arc::clone(&queue));
        let driver = Builder::new().name("transect-walk".to_owned()).spawn(move || {
            let _end = FinishOnDrop(&to);
            let walk = receiver.recv().expect("BUG: a walk that was not sent");
            let make_sink = || ChunkSink::new(want, Some(Arc::clone(&to)));
            Ok(walk.run_to_end(&make_sink, &|| make_reader())?.diagnostics)
        });
        match driver {
            Ok(driver) => {
                sender.send(self.walk).expect("BUG: the thread ended before it got the walk");
                State::Threads(Threads { queue, stopper, driver: Some(driver) })
            }
            Err(_) => {
                sink.queue = None;
                State::Stepping(Self { stays_here: true, ..self })
            }
        }
    }
}

/// Wakes the iterator when the walk ends, also by a panic.
struct FinishOnDrop<'a>(&'a ChunkQueue);

impl Drop for FinishOnDrop<'_> {
    fn drop(&mut self) {
        self.0.finish();
    }
}

impl<R: Reader> Iterator for Walk<R> {
    type Item = Result<DirEntry, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.chunk.take() {
                return Some(item);
            }
            if !self.advance() {
                return None;
            }
        }
    }
}

impl<R: Reader> std::iter::FusedIterator for Walk<R> {}

impl<R: Reader> Drop for Threads<R> {
    fn drop(&mut self) {
        self.stopper.stop();
        self.queue.close();
        if let Some(driver) = self.driver.take() {
            // A panic in a closure ends the walk, which nobody waits for any more.
            let _ = driver.join();
        }
    }
}

impl<R: Reader> fmt::Debug for Walk<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::New { .. } => "new",
            State::Stepping(_) => "on this thread",
            State::Threads(_) => "on threads",
            State::End => "finished",
        };
        f.debug_struct("Walk").field("state", &state).finish_non_exhaustive()
    }
}
