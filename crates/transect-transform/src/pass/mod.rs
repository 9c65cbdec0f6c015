//! One pass over one file.
//!
//! ```text
//! source ─► fill a block ─► step ─► outlet ─► writer ─► replacement
//!                                     │
//!                                     └ in place: compares, and writes from the first difference
//! ```
//!
//! The methods differ in who fills blocks and who writes them; what is done with them is one loop
//! (`step_runner.rs`).

mod block;
mod copy;
mod diff_writer;
mod direct;
mod file_writer;
mod holes;
mod idle;
mod mapped;
mod method;
mod parallel_digest;
mod pipeline;
mod plan;
mod positioned_writer;
mod preference;
mod ring;
mod step_runner;
mod streams;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use block::Block;
use copy::Copier;
use diff_writer::{BlockWriter, WriteSummary};
use direct::{DirectReader, DirectWriter};
use file_writer::FileWriter;
pub use holes::Holes;
pub(crate) use holes::append_sparse;
pub use idle::IdleThreads;
use mapped::{MappedReader, MappedWriter};
pub use method::{IoMethod, OutputMode};
use plan::PlanCandidates;
pub use plan::{Plan, Task};
pub use preference::{Load, Preference, SizeClass};
use ring::{RingReader, RingWriter, SharedRing};
pub(crate) use step_runner::run_step;
use step_runner::{BufferedReader, StepBuffers, StepRunner};
use streams::{StreamReader, StreamWriter};
use transect::Cancel;

use crate::error::{Error, Operation};
use crate::publish::Replacement;
use crate::source::{Source, SourceOptions};
use crate::step::{Cost, Finding, Step};
use crate::system;

/// The block for large files: larger ones are not faster, and leave the processor's cache.
pub(crate) const LARGE_BLOCK: usize = 256 << 10;

/// The block for files below [`LARGE_FILE`]: less memory is touched.
const SMALL_BLOCK: usize = 128 << 10;

/// Where large files begin.
const LARGE_FILE: u64 = 1 << 20;

/// How files are passed over.
#[derive(Clone, Debug, Default)]
pub struct PassOptions {
    /// The method; chosen for each file if nothing is said.
    pub method: Option<IoMethod>,
    /// What was measured to be the best here: the first that is for a file is taken where it can be, if
    /// no other method is asked for.
    pub preferred: Arc<[Preference]>,
    /// What is read and written is not to push what others need out of the system's cache: where
    /// there is a way past it, large files take it if no method is asked for. Single pages at the ends
    /// of files go through it all the same. The buffered method goes through it and leaves nothing
    /// there, where the system can do that: on Linux since 6.14, where the file system can.
    pub spare_cache: bool,
    /// How many bytes are read at once; chosen for each file if nothing is said.
    pub block: Option<usize>,
    /// Files that are no text ([`is_binary`](crate::text::is_binary)) are refused with
    /// [`Rejection::Binary`](crate::Rejection::Binary), before anything is written.
    pub text_only: bool,
    /// Before a result is put in its place it is read back from the device, as far as the system
    /// lets go of what it has in memory, and compared with what was made: for devices and cables
    /// that are not trusted. It is synced for that, whatever is asked for otherwise.
    pub read_back: bool,
    /// What becomes of runs of zeros.
    pub holes: Holes,
    /// The system is told that files are read from their beginning to their end.
    pub sequential: bool,
    /// A request to stop, looked at between blocks.
    pub cancel: Cancel,
    /// Where to count the bytes that were read, for whoever watches.
    pub progress: Option<Arc<AtomicU64>>,
    /// Threads that may help with a large file, unless a method or a block is asked for.
    pub idle: Option<Arc<IdleThreads>>,
}

/// What came of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassReport {
    /// The length of the input.
    pub bytes_in: u64,
    /// The length of the result.
    pub bytes_out: u64,
    /// Whether the result differs from the input; `None` if that was not looked at, because it goes
    /// into another file anyway.
    pub changed: Option<bool>,
    /// What the steps found.
    pub findings: Vec<Finding>,
    /// How it was done.
    pub method: IoMethod,
    /// Why so, in one line.
    pub reason: &'static str,
}

/// Passes over files, one after the other, with the same memory.
#[derive(Debug, Default)]
pub struct PassRunner {
    options: PassOptions,
    block: Block,
    scratch: StepBuffers,
    /// From the last pass that had one.
    ring: Option<SharedRing>,
}

impl PassRunner {
    /// Returns passes with these options.
    pub fn new(options: PassOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Opens a file to be passed over with these options.
    ///
    /// # Errors
    /// Those of [`Source::open`].
    pub fn open(&self, path: &Path) -> Result<Source, Error> {
        self.open_as(path, false)
    }

    /// As [`PassRunner::open`], without asking what it is before it is opened: a walk has just found it
    /// to be a regular file. If it has become a device since, opening it may do something.
    ///
    /// # Errors
    /// Those of [`Source::open`].
    pub fn open_listed(&self, path: &Path) -> Result<Source, Error> {
        self.open_as(path, true)
    }

    fn open_as(&self, path: &Path, is_listed: bool) -> Result<Source, Error> {
        let PassOptions { sequential, spare_cache: spares_cache, .. } = self.options;
        Source::open_as(path.to_owned(), SourceOptions { is_listed, sequential, spares_cache })
    }

    /// Reads a file to its end, through a step, into `out`; and makes sure that nobody changed it
    /// meanwhile. Without a step it is copied; without `out` it is only looked at.
    ///
    /// In place, nothing is made or written before the result differs from the input: the temporary
    /// file then begins with a copy of what was the same. It remains to publish `out`.
    ///
    /// # Errors
    /// The method cannot do this; the step refuses what it reads; the file changed; somebody asked
    /// to stop; or whatever the system says.
    pub fn run(
        &mut self,
        source: &Source,
        mut step: Option<&mut dyn Step>,
        mut out: Option<&mut Replacement>,
    ) -> Result<PassReport, Error> {
        let mut task = Task {
            shape: step.as_ref().map(|step| step.shape()),
            cost: step.as_ref().map_or(Cost::Light, |step| step.cost()),
            size: source.size(),
            output: out.as_deref().map_or(OutputMode::Discard, OutputMode::of),
            kernel_copy_obstacle: self.kernel_copy_obstacle(),
            resident: None,
        };
        if let Some(passed) = self.try_parallel_digest(source, &mut step, &task)? {
            return Ok(passed);
        }
        task.resident = self.measure_residency(source, &task);
        let PlanCandidates { attempts, fallback } = Plan::candidates(&self.options, task)?;
        for plan in attempts {
            let passed = self.pass(source, reborrow(&mut step), out.as_deref_mut(), plan, task);
            if !matches!(passed, Err(Error::Unsupported(..))) {
                return passed;
            }
            source.rewind();
            if let Some(step) = &mut step {
                step.reset();
            }
            if let Some(out) = &mut out {
                out.discard();
            }
        }
        self.pass(source, step, out, fallback, task)
    }

    fn pass(
        &mut self,
        source: &Source,
        step: Option<&mut dyn Step>,
        mut out: Option<&mut Replacement>,
        Plan { method, reason, block }: Plan,
        Task { shape, output, .. }: Task,
    ) -> Result<PassReport, Error> {
        let size = self
            .options
            .block
            .or(block)
            .unwrap_or_else(|| default_block_size(source, method))
            .max(1);
        let ring = self.ring(source, method, size)?;
        let Self { options, block, scratch, .. } = self;
        let (came, findings) = match (method, &mut out) {
            (IoMethod::KernelCopy, Some(out)) => (copy(source, out, options, block)?, Vec::new()),
            (_, out) => {
                let mut file = out.as_deref_mut().map(|out| {
                    if options.spare_cache {
                        out.spare_cache();
                    }
                    let file = FileWriter::new(source, out, shape, options.holes, &options.cancel);
                    match (method, &ring) {
                        (_, Some(ring)) => {
                            file.with_positioned_writer(RingWriter::new(method, ring.clone()))
                        }
                        (IoMethod::Mapped, _) => {
                            file.with_positioned_writer(MappedWriter::new(source, method))
                        }
                        (IoMethod::Direct, _) => {
                            file.with_positioned_writer(DirectWriter::new(size))
                        }
                        _ => file,
                    }
                });
                let writer = file.as_mut().map(|file| file as &mut (dyn BlockWriter + Send));
                let work = StepRunner { source, step, output, options, scratch };
                run_method(work, (method, size, ring.clone()), block, writer)?
            }
        };
        let WriteSummary { length: bytes_out, changed, digest } = came;
        let came_at_once = method == IoMethod::Buffered && source.size() < size as u64;
        let is_left = changed == Some(false) && options.holes == Holes::Keep;
        if !(came_at_once && is_left && reports_no_digest(source, &findings)) {
            source.verify_unchanged()?;
        }
        match (output, changed, out) {
            (OutputMode::InPlace, Some(false), Some(out)) => {
                holes::apply_in_place(options.holes, source, out, &options.cancel, block)?;
            }
            (_, _, Some(out)) => out.expect_digest(digest),
            _ => {}
        }
        if let Some(ring) = ring {
            ring.drain().map_err(Error::system(Operation::Read, source.path()))?;
            self.ring = Some(ring);
        }
        Ok(PassReport { bytes_in: source.consumed(), bytes_out, changed, findings, method, reason })
    }

    /// Lets several threads digest a large file, if nothing else is to be done with it. Returns
    /// `None` if it is not such a file.
    fn try_parallel_digest(
        &self,
        source: &Source,
        step: &mut Option<&mut dyn Step>,
        task: &Task,
    ) -> Result<Option<PassReport>, Error> {
        let PassOptions { idle, method, block, text_only, spare_cache, .. } = &self.options;
        let is_as_usual = method.is_none() && block.is_none() && !text_only && !spare_cache;
        let (Some(idle), Some(step)) = (idle.as_deref().filter(|_| is_as_usual), step) else {
            return Ok(None);
        };
        let is_large = task.size >= parallel_digest::MIN_PARALLEL_SIZE;
        if task.output != OutputMode::Discard || !is_large {
            return Ok(None);
        }
        // Where the size is made up, only reading to the end finds the end.
        let Some(slot) = step.blake3_slot().filter(|_| !system::is_pseudo_file(source.path()))
        else {
            return Ok(None);
        };
        *slot = Some(parallel_digest::digest(source, &self.options, idle)?);
        source.verify_unchanged()?;
        Ok(Some(PassReport {
            bytes_in: source.consumed(),
            bytes_out: source.consumed(),
            changed: Some(false),
            findings: step.findings(),
            method: IoMethod::Buffered,
            reason: "idle threads share the digest",
        }))
    }

    /// Returns whether most of a file is in memory, if something hangs on it, and the system tells.
    fn measure_residency(&self, source: &Source, task: &Task) -> Option<bool> {
        let PassOptions { method, preferred, .. } = &self.options;
        let asks = |wanted: &Preference| wanted.resident.is_some() && wanted.may_match(task);
        if method.is_some() || !preferred.iter().any(asks) {
            return None;
        }
        let there = transect_sys::residency::residency(source.file()).ok()?;
        Some(there.resident >= there.bytes / 2)
    }

    /// Returns why what is copied has to pass by here, and not only through the kernel.
    fn kernel_copy_obstacle(&self) -> Option<&'static str> {
        match self.options.holes {
            _ if self.options.read_back => Some("nobody sees what it copies, and could compare it"),
            Holes::Make | Holes::Fill => Some("the kernel copies holes as they are"),
            Holes::Keep => None,
        }
    }

    /// Returns a ring if the method takes one: that of the last pass, if that came to a good end.
    fn ring(
        &mut self,
        source: &Source,
        method: IoMethod,
        size: usize,
    ) -> Result<Option<SharedRing>, Error> {
        if !matches!(method, IoMethod::Uring | IoMethod::DirectUring) {
            return Ok(None);
        }
        let last = self.ring.take().filter(|ring| ring.matches(method, size));
        let ring = last.map_or_else(|| SharedRing::new(method, size), Ok);
        ring.map(Some).map_err(Error::system(Operation::Read, source.path()))
    }
}

fn copy(
    source: &Source,
    out: &mut Replacement,
    options: &PassOptions,
    block: &mut Block,
) -> Result<WriteSummary, Error> {
    let PassOptions { cancel, progress, .. } = options;
    Copier { source, out, cancel, progress: progress.as_deref(), block }.whole()?;
    Ok(WriteSummary { length: source.consumed(), changed: None, digest: None })
}

fn run_method(
    work: StepRunner<'_, '_>,
    (method, size, ring): (IoMethod, usize, Option<SharedRing>),
    block: &mut Block,
    writer: Option<&mut (dyn BlockWriter + Send)>,
) -> Result<(WriteSummary, Vec<Finding>), Error> {
    let source = work.source;
    match (method, ring) {
        (IoMethod::Streams, _) => {
            let mut stream = writer.map(|writer| StreamWriter::new(writer));
            let stream = stream.as_mut().map(|stream| stream as &mut dyn BlockWriter);
            work.run(&mut StreamReader::new(source, block, size), stream)
        }
        (IoMethod::Pipeline, _) => {
            pipeline::run(source, writer, size, |input, writer| work.run(input, writer))
        }
        (_, Some(ring)) => {
            work.run(&mut RingReader::new(source, method, ring)?, without_send(writer))
        }
        (IoMethod::Mapped | IoMethod::MappedRead, _) => {
            work.run(&mut MappedReader::new(source, method, block, size)?, without_send(writer))
        }
        (IoMethod::Direct, _) => {
            work.run(&mut DirectReader::new(source, method, block, size)?, without_send(writer))
        }
        _ => work
            .run(&mut BufferedReader { source, block, size, ended: false }, without_send(writer)),
    }
}

/// Returns a writer for who stays on this thread.
fn without_send<'a>(
    writer: Option<&'a mut (dyn BlockWriter + Send)>,
) -> Option<&'a mut (dyn BlockWriter + 'a)> {
    writer.map(|writer| writer as &mut dyn BlockWriter)
}

/// Returns whether nobody is told anything of what a file holds, but that it need not change: that was
/// true of the bytes that were read. A digest would be that of no file, had it become another one.
fn reports_no_digest(source: &Source, findings: &[Finding]) -> bool {
    let is_whole = source.consumed() == source.size();
    is_whole && findings.iter().all(|finding| finding.algorithm().is_none())
}

/// Lends a step, which may be needed once more.
fn reborrow<'a>(step: &'a mut Option<&mut dyn Step>) -> Option<&'a mut dyn Step> {
    match step {
        Some(step) => Some(*step),
        None => None,
    }
}

/// Returns how much of a file is read at once, if nobody says.
fn default_block_size(source: &Source, method: IoMethod) -> usize {
    if matches!(method, IoMethod::Direct | IoMethod::DirectUring) {
        return direct::BLOCK;
    }
    if source.size() < LARGE_FILE { SMALL_BLOCK } else { LARGE_BLOCK }
}

/// Counts what was read, for whoever watches.
fn add_progress(progress: Option<&AtomicU64>, bytes: usize) {
    if let Some(progress) = progress {
        progress.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Hears a request to stop.
pub(crate) fn check_cancelled(cancel: &Cancel, source: &Source) -> Result<(), Error> {
    if cancel.is_cancelled() {
        return Err(Error::Cancelled { path: source.path().to_owned() });
    }
    Ok(())
}
