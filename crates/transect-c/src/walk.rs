//! Walks with a callback.

use std::ffi::{OsStr, c_char, c_void};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use transect::internal::Skips;
use transect::{
    Attributes, Diagnostics, Dir, EntryRef, Error, Flow, Omission, ScanError, Sink, Visit,
    VisitEntry, Want,
};

use crate::attributes::CAttributes;
use crate::boundary::{Out, OutArray, Text, guard, required, write_path};
use crate::failure::{CallError, Failure};
use crate::options::WalkOptions;
use crate::path;

/// What a callback returns, by the names that they have in the header without `TRANSECT_`.
#[expect(missing_docs, reason = "the header documents them")]
pub mod flow {
    pub const CONTINUE: i32 = 0;
    pub const SKIP: i32 = 1;
    pub const STOP: i32 = 2;
}

/// `transect_entry`.
#[repr(C)]
#[derive(Debug)]
#[expect(missing_docs, reason = "the header documents them")]
pub struct Entry<'a> {
    pub directory: &'a Dir,
    pub name: *const c_char,
    pub name_length: usize,
    pub depth: u32,
    pub followed: u32,
    pub attributes: CAttributes,
}

impl<'a> Entry<'a> {
    /// Writes the name with a NUL to `text`, and refers to it.
    pub(crate) fn new(
        directory: &'a Dir,
        name: &OsStr,
        followed: bool,
        attributes: &Attributes,
        text: &'a mut Vec<u8>,
    ) -> Self {
        let name_length = path::write_with_nul(name, text);
        Self {
            directory,
            name: text.as_ptr().cast(),
            name_length,
            depth: directory.entry_depth(),
            followed: followed.into(),
            attributes: attributes.into(),
        }
    }

    fn path(&self) -> PathBuf {
        // SAFETY: `new` made the entry, as the header requires; its name stays as long as the entry.
        let name = unsafe { std::slice::from_raw_parts(self.name.cast(), self.name_length) };
        path::from_bytes(name)
            .map_or_else(PathBuf::new, |name| self.directory.path_of(name.as_os_str()))
    }
}

/// `transect_counts`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header documents them")]
pub struct WalkCounts {
    pub entries: u64,
    pub errors: u64,
    pub vanished: u64,
    pub skipped: u64,
    pub stopped: u64,
    pub compared: u64,
    pub reserved: [u64; 3],
}

impl WalkCounts {
    pub(crate) fn new(entries: u64, diagnostics: &Diagnostics) -> Self {
        Self {
            entries,
            errors: diagnostics.errors,
            vanished: diagnostics.vanished,
            skipped: diagnostics.skipped.values().sum(),
            ..Self::default()
        }
    }
}

/// `transect_on_entry`. `C-unwind`, so that an exception of C++ ends the process, which `C` does not
/// promise.
pub type OnEntry = unsafe extern "C-unwind" fn(context: *mut c_void, entry: &Entry<'_>) -> i32;

/// `transect_on_error`.
pub type OnError = unsafe extern "C-unwind" fn(
    context: *mut c_void,
    path: *const c_char,
    path_length: usize,
    error: &CallError,
);

/// Walks a tree.
#[unsafe(no_mangle)]
pub extern "C" fn transect_walk(
    path: Text<'_>,
    options: Option<&WalkOptions>,
    on_entry: Option<OnEntry>,
    on_error: Option<OnError>,
    context: *mut c_void,
    counts: Out<'_, WalkCounts>,
    error: Out<'_, CallError>,
) -> i32 {
    let mut counted = WalkCounts::default();
    let status = guard(error, || {
        let root = path.path("path")?;
        let options = options.cloned().unwrap_or_default();
        let on_entry = required(on_entry, "on_entry")?;
        let caller = Caller::new(on_entry, context, options.concurrent);
        let want = Want::from(options.fields());
        let outcome = options.with_root(&root).plan()?.run(|| CallbackSink::new(&caller, want))?;
        let (entries, mut diagnostics) = (outcome.sink.entries, outcome.sink.diagnostics);
        counted = WalkCounts::new(entries, &diagnostics);
        counted.stopped = caller.stopped.load(Ordering::Relaxed).into();
        if caller.misused.load(Ordering::Relaxed) {
            let what = "on_entry returned none of TRANSECT_CONTINUE, _SKIP and _STOP";
            return Err(Failure::Invalid(what.into()));
        }
        // If a root cannot be accessed, there are no entries.
        let is_of_root = |error: &ScanError| error.depth() == 0 && entries == 0;
        let errors = &mut diagnostics.kept_errors;
        if let Some(index) = errors.iter().position(is_of_root) {
            return Err(Error::Root(errors.swap_remove(index)).into());
        }
        if let Some(on_error) = on_error {
            report_errors(&diagnostics.kept_errors, on_error, context);
        }
        options.require_not_cancelled()
    });
    if let Some(counts) = counts {
        counts.write(counted);
    }
    status
}

/// Calls `on_error` for the kept errors, sorted by path.
pub(crate) fn report_errors(kept: &[ScanError], on_error: OnError, context: *mut c_void) {
    let mut errors: Vec<&ScanError> = kept.iter().collect();
    errors.sort_by_key(|error| (error.path(), error.operation()));
    let mut path = Vec::new();
    for error in errors {
        let length = path::write_with_nul(error.path().as_os_str(), &mut path);
        let error = CallError::new(&Failure::Scan(error));
        // SAFETY: the header requires a function with these parameters; both pointers are valid
        // during the call.
        unsafe { on_error(context, path.as_ptr().cast(), length, &error) };
    }
}

/// The callback with its context, shared by the threads of a walk.
struct Caller {
    on_entry: OnEntry,
    context: *mut c_void,
    /// Held during calls, unless several may run at once.
    turn: Option<Mutex<()>>,
    stopped: AtomicBool,
    /// The callback returned a number that has no meaning.
    misused: AtomicBool,
}

// SAFETY: the context is only passed to the callback, one call at a time unless the caller set
// `transect_options_set_concurrent`; the header documents on which threads.
unsafe impl Sync for Caller {}

impl Caller {
    fn new(on_entry: OnEntry, context: *mut c_void, concurrent: bool) -> Self {
        let turn = (!concurrent).then(Mutex::default);
        let (stopped, misused) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { on_entry, context, turn, stopped, misused }
    }

    /// Waits until no other thread is in the callback, and returns for how long.
    fn take_turn(&self) -> (Option<MutexGuard<'_, ()>>, Duration) {
        let Some(turn) = &self.turn else { return (None, Duration::ZERO) };
        match turn.try_lock() {
            Ok(guard) => (Some(guard), Duration::ZERO),
            Err(TryLockError::Poisoned(guard)) => (Some(guard.into_inner()), Duration::ZERO),
            Err(TryLockError::WouldBlock) => {
                let began = Instant::now();
                let guard = turn.lock().unwrap_or_else(PoisonError::into_inner);
                (Some(guard), began.elapsed())
            }
        }
    }

    fn call(&self, entry: VisitEntry<'_>, name: &mut Vec<u8>) -> Flow {
        let entry = Entry::new(entry.dir(), entry.name, entry.followed, entry.attributes, name);
        // SAFETY: the header requires a function with these parameters; the entry is valid during the
        // call.
        match unsafe { (self.on_entry)(self.context, &entry) } {
            flow::CONTINUE => return Flow::Continue,
            flow::SKIP => return Flow::Skip,
            flow::STOP => {}
            _ => self.misused.store(true, Ordering::Relaxed),
        }
        self.stopped.store(true, Ordering::Relaxed);
        Flow::Quit
    }
}

/// Passes the entries of one thread to the callback.
struct CallbackSink<'c> {
    caller: &'c Caller,
    want: Want,
    /// The name of an entry with its NUL.
    name: Vec<u8>,
    skips: Skips,
    waited: Duration,
    entries: u64,
    diagnostics: Diagnostics,
}

impl<'c> CallbackSink<'c> {
    fn new(caller: &'c Caller, want: Want) -> Self {
        Self {
            caller,
            want,
            name: Vec::new(),
            skips: Skips::default(),
            waited: Duration::ZERO,
            entries: 0,
            diagnostics: Diagnostics::new(Diagnostics::DEFAULT_KEPT),
        }
    }
}

impl Sink for CallbackSink<'_> {
    fn want(&self) -> Want {
        self.want
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        let (_turn, waited) = self.caller.take_turn();
        self.waited += waited;
        self.skips.visit(&visit, |entry| {
            if self.caller.stopped.load(Ordering::Relaxed) {
                return Flow::Quit;
            }
            self.entries += 1;
            self.caller.call(entry, &mut self.name)
        })
    }

    fn skips(&mut self, _: &Dir, _: EntryRef<'_>) -> bool {
        self.skips.take_next()
    }

    fn omit(&mut self, _: &Dir, omission: Omission<'_>) -> Flow {
        self.diagnostics.add(omission);
        Flow::Continue
    }

    fn take_wait(&mut self) -> Duration {
        std::mem::take(&mut self.waited)
    }

    fn merge(&mut self, other: Self) {
        self.entries += other.entries;
        self.diagnostics.merge(other.diagnostics);
    }
}

/// Returns the path of an entry.
#[unsafe(no_mangle)]
pub extern "C" fn transect_entry_path(
    entry: Option<&Entry<'_>>,
    buffer: OutArray<'_, u8>,
    capacity: usize,
) -> usize {
    write_path(buffer, capacity, || entry.map(Entry::path))
}

/// Returns the path of a directory.
#[unsafe(no_mangle)]
pub extern "C" fn transect_directory_path(
    directory: Option<&Dir>,
    buffer: OutArray<'_, u8>,
    capacity: usize,
) -> usize {
    write_path(buffer, capacity, || directory.map(Dir::path))
}
