//! A pass: reads one file once, runs the steps, and writes the result.
//!
//! ```text
//! source ─► read a block ─► step ─► DiffWriter ─► BlockWriter ─► Replacement
//!                                      │
//!                                      └ in place: compares, and writes from the first difference
//! ```
//!
//! Methods differ in how blocks are read and written. All share the loop over the blocks
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
mod options;
mod parallel_digest;
mod pipeline;
mod plan;
mod preference;
mod ring;
mod step_runner;
mod streams;
mod task;

use std::path::Path;

use block::Block;
pub(crate) use block::LARGE_BLOCK;
use block::{LARGE_FILE, SMALL_BLOCK};
use copy::Copier;
use diff_writer::{BlockWriter, WriteSummary};
use direct::DirectWriter;
use file_writer::FileWriter;
pub use idle::IdleThreads;
use mapped::{MappedReader, MappedWriter};
pub use method::{IoMethod, OutputMode};
pub use options::PassOptions;
pub use plan::Plan;
pub use preference::Preference;
use ring::{RingReader, RingWriter, SharedRing};
pub(crate) use step_runner::run_step;
use step_runner::{FillReader, StepBuffers, StepRunner};
use streams::StreamWriter;
pub use task::{Load, SizeClass, Task};

use crate::error::{Error, Reason};
use crate::publish::Replacement;
use crate::source::{Source, SourceOptions};
use crate::step::{Cost, Finding, Step};
use crate::system;

/// The result of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PassReport {
    /// Length of the input in bytes.
    pub bytes_in: u64,
    /// Length of the result in bytes.
    pub bytes_out: u64,
    /// Whether the result differs from the input; `None` if they were not compared, because the
    /// result goes to another file.
    pub changed: Option<bool>,
    /// What the steps computed.
    pub findings: Vec<Finding>,
    /// The method used.
    pub method: IoMethod,
    /// Why that method was chosen, in one line.
    pub reason: &'static str,
}

/// Runs passes, one file after the other, and reuses their memory.
#[derive(Debug, Default)]
pub struct PassRunner {
    options: PassOptions,
    block: Block,
    scratch: StepBuffers,
    /// Kept from the last pass that used one.
    ring: Option<SharedRing>,
}

impl PassRunner {
    /// Returns a runner with these options.
    pub fn new(options: PassOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Opens a file for a pass with these options.
    ///
    /// # Errors
    /// The errors of [`Source::open`].
    pub fn open(&self, path: &Path) -> Result<Source, Error> {
        self.open_as(path, false)
    }

    /// Opens a file as [`PassRunner::open`] does. Its type is not checked first if a walk has just
    /// listed it as a regular file: if it has become a device since, opening it may have side
    /// effects.
    ///
    /// # Errors
    /// The errors of [`Source::open`].
    pub fn open_as(&self, path: &Path, is_listed: bool) -> Result<Source, Error> {
        let PassOptions { sequential, spare_cache: spares_cache, .. } = self.options;
        Source::open_as(path.to_owned(), SourceOptions { is_listed, sequential, spares_cache })
    }

    /// Reads a file to its end, through a step, into `out`, and checks that it did not change
    /// meanwhile. Without a step, the file is copied; without `out`, it is only read.
    ///
    /// In place, nothing is created or written until the result differs from the input. The
    /// temporary file then starts with a copy of the part that did not change. The caller must
    /// publish `out`.
    ///
    /// # Errors
    /// The method cannot process this file, the step cannot process its content, the file changed,
    /// the pass was cancelled, or the system reported an error.
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
        let (attempts, fallback) = Plan::candidates(&self.options, task)?;
        for plan in attempts {
            // The next attempt may need the step again.
            let borrowed = step.as_mut().map(|step| &mut **step as &mut dyn Step);
            let passed = self.pass(source, borrowed, out.as_deref_mut(), plan, task);
            match passed {
                Err(error) if matches!(error.reason(), Reason::Unsupported(..)) => {}
                passed => return passed,
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
        mut step: Option<&mut dyn Step>,
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
        // Returned when the pass ends.
        let mut borrowed = Vec::new();
        if let Some(step) = &mut step {
            let idle = options.idle.as_deref();
            let mut another = || {
                let thread = idle.and_then(IdleThreads::borrow);
                thread.map(|thread| borrowed.push(thread)).is_some()
            };
            step.use_threads(source.size(), &mut another).map_err(Error::invalid(source.path()))?;
        }
        let (came, findings) = match (method, &mut out) {
            (IoMethod::KernelCopy, Some(out)) => {
                let PassOptions { cancel, progress, .. } = options;
                Copier { source, out, cancel, progress: progress.as_deref(), block }.whole()?;
                let length = source.consumed();
                (WriteSummary { length, changed: None, digest: None }, Vec::new())
            }
            (_, out) => {
                let mut file = out.as_deref_mut().map(|out| {
                    if options.spare_cache {
                        out.spare_cache();
                    }
                    let file = FileWriter::new(source, out, shape, &options.cancel);
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
                let writer = file.as_mut().map(|file| file as &mut dyn BlockWriter);
                let work = StepRunner { source, step, output, options, scratch };
                run_method(work, (method, size, ring.clone()), block, writer)?
            }
        };
        let WriteSummary { length: bytes_out, changed, digest } = came;
        let came_at_once = method == IoMethod::Buffered && source.size() < size as u64;
        let is_left = changed == Some(false);
        if !(came_at_once && is_left && reports_no_digest(source, &findings)) {
            source.verify_unchanged()?;
        }
        if let Some(out) = out {
            out.expect_digest(digest);
        }
        if let Some(ring) = ring {
            ring.drain().map_err(source.read_error())?;
            self.ring = Some(ring);
        }
        Ok(PassReport { bytes_in: source.consumed(), bytes_out, changed, findings, method, reason })
    }

    /// Digests a large file on several threads, if the pass does nothing else. Returns
    /// `None` if the file or the task does not qualify.
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
        // The end of a pseudo file is found only by reading to it.
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

    /// Returns whether at least half of the file is in the page cache. Returns `None` if no
    /// preference depends on it, or if the system does not report it.
    fn measure_residency(&self, source: &Source, task: &Task) -> Option<bool> {
        let PassOptions { method, preferred, .. } = &self.options;
        let asks = |wanted: &Preference| wanted.resident.is_some() && wanted.may_match(task);
        if method.is_some() || !preferred.iter().any(asks) {
            return None;
        }
        let there = transect_sys::residency::residency(source.file()).ok()?;
        Some(there.resident >= there.bytes / 2)
    }

    /// Returns why a copy cannot be left to the kernel, if it cannot.
    fn kernel_copy_obstacle(&self) -> Option<&'static str> {
        let why = "the kernel copies the data, so it cannot be compared";
        self.options.read_back.then_some(why)
    }

    /// Returns a ring if the method needs one; reuses the ring of the last successful pass if it
    /// fits.
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
        ring.map(Some).map_err(source.read_error())
    }
}

fn run_method(
    work: StepRunner<'_, '_>,
    (method, size, ring): (IoMethod, usize, Option<SharedRing>),
    block: &mut Block,
    writer: Option<&mut dyn BlockWriter>,
) -> Result<(WriteSummary, Vec<Finding>), Error> {
    let source = work.source;
    match (method, ring) {
        (IoMethod::Streams, _) => {
            let mut stream = writer.map(StreamWriter::new);
            let stream = stream.as_mut().map(|stream| stream as &mut dyn BlockWriter);
            work.run(&mut streams::reader(source, block, size), stream)
        }
        (IoMethod::Pipeline, _) => {
            pipeline::run(source, writer, size, |input, writer| work.run(input, writer))
        }
        (_, Some(ring)) => work.run(&mut RingReader::new(source, method, ring)?, writer),
        (IoMethod::Mapped | IoMethod::MappedRead, _) => {
            work.run(&mut MappedReader::new(source, method, block, size)?, writer)
        }
        (IoMethod::Direct, _) => {
            work.run(&mut direct::reader(source, method, block, size)?, writer)
        }
        _ => work.run(&mut FillReader::new(block, size, |block| source.fill(block)), writer),
    }
}

/// Returns whether the whole file was read and no digest was computed. The report then states only
/// that the bytes read need no change, which stays true. If the file changed meanwhile, a digest
/// could belong to no version of it.
fn reports_no_digest(source: &Source, findings: &[Finding]) -> bool {
    let is_whole = source.consumed() == source.size();
    is_whole && findings.iter().all(|finding| finding.algorithm().is_none())
}

/// Returns the default number of bytes to read at once.
fn default_block_size(source: &Source, method: IoMethod) -> usize {
    if matches!(method, IoMethod::Direct | IoMethod::DirectUring) {
        return direct::BLOCK;
    }
    if source.size() < LARGE_FILE { SMALL_BLOCK } else { LARGE_BLOCK }
}
