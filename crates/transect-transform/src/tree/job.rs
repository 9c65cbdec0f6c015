//! Runs steps on many files, and reports the outcome of each.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use transect::FileType;
use transect_sys::{Attributes, DiskSpace, check_output_path};

use super::hard_links::HardLinks;
use super::{Input, JobJournal};
use crate::chain::Chain;
use crate::error::{Error, Operation, Reason};
use crate::pass::{IdleThreads, PassOptions, PassReport, PassRunner};
use crate::publish::{
    Batch, Durability, Existing, LostMetadata, PublishReport, ReplaceOptions, Replacement,
    replace_with_link,
};
use crate::step::{Shape, Step};
use crate::whole_file::pass;

/// Results per thread that wait for a common sync: enough that the wait per file is negligible, and
/// few enough that the temporary files need little extra space.
const SYNC_BATCH: usize = 256;

/// Outcomes that a thread collects before it wakes the reporting thread.
const SEND_BATCH: usize = 64;

/// How long a thread collects outcomes while it has more to do.
const SEND_INTERVAL: Duration = Duration::from_millis(50);

/// The target of the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputTarget {
    /// Discards results: only computes findings, and what would change.
    Discard,
    /// Replaces each input that changes.
    InPlace,
    /// Writes to one file; for a single input.
    File(PathBuf),
    /// Writes to a directory, by the paths relative to the roots.
    Directory(PathBuf),
}

transect_sys::options! {
    /// A job: steps to run on a list of files.
    #[derive(Clone, Debug)]
    pub struct Job {
        /// Sets how to read and write files. [`PassOptions::cancel`] stops the whole job.
        passes: PassOptions = PassOptions,
        /// Sets how to put results in place. [`ReplaceOptions::existing`] is ignored if [`Job::output`] is
        /// in place.
        replace: ReplaceOptions = ReplaceOptions,
        /// Sets the number of threads. Each processes a file of its own; threads without one help with the
        /// digest or the compression of a large file. [`PassOptions::idle`] is ignored.
        threads: usize = usize,
        /// Sets a journal that records finished inputs; inputs that an earlier run recorded are skipped.
        journal: Option<Arc<JobJournal>> = impl Into<Option<Arc<JobJournal>>>,
        ;
        /// Where to write the results.
        pub output: OutputTarget,
    }
}

impl Job {
    /// Returns a job on one thread with default options.
    pub fn new(output: OutputTarget) -> Self {
        let (passes, replace) = (PassOptions::default(), ReplaceOptions::default());
        Self { output, passes, replace, threads: 1, journal: None }
    }
}

/// The outcome for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileStatus {
    /// Not written: the result equals the input.
    Unchanged,
    /// Replaced by the result.
    Changed,
    /// Would be replaced if the output were not discarded.
    WouldChange,
    /// Written to another file.
    Written,
    /// Read only: the steps produce no result.
    Inspected,
    /// The file was skipped for this reason.
    Skipped(Skip),
    /// Another name of the input at this index, with the same status. If that input was replaced,
    /// this name now links to the new file.
    SameFile(usize),
}

impl FileStatus {
    /// Returns the name of the status in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "same",
            Self::Changed => "changed",
            Self::WouldChange => "would_change",
            Self::Written => "written",
            Self::Inspected => "inspected",
            Self::Skipped(_) => "skipped",
            Self::SameFile(_) => "same_file",
        }
    }
}

transect_sys::words! {
    /// Why a file was skipped.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Skip {
        /// It is binary, and a step is for text.
        Binary = "binary",
        /// The journal records it as done by an earlier run.
        AlreadyDone = "done",
    }
}

/// The complete outcome for one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileOutcome {
    /// The path of its result, if one was requested.
    pub target: Option<PathBuf>,
    /// The report of the pass; `None` if it did not complete.
    pub pass: Option<PassReport>,
    /// The status of the file, or its error.
    pub status: Result<FileStatus, Error>,
    /// Metadata of the replaced file that could not be preserved.
    pub lost_metadata: Vec<LostMetadata>,
}

impl Job {
    /// Checks, before anything is written, that no two results have the same path and, as far as
    /// sizes are known, that there is enough free space.
    ///
    /// # Errors
    /// [`Reason::SameTarget`] or [`Reason::NoSpace`].
    pub fn check(&self, chain: &Chain, inputs: &[Input]) -> Result<(), Error> {
        let OutputTarget::Directory(directory) = &self.output else {
            return Ok(());
        };
        let mut by_target: HashMap<&Path, &Path> = HashMap::with_capacity(inputs.len());
        for input in inputs {
            if let Some(other) = by_target.insert(input.relative_path(), &input.path) {
                let path = directory.join(input.relative_path());
                let reason = Reason::SameTarget([other.into(), input.path.clone()]);
                return Err(Error::new(Operation::Write, &path, reason));
            }
        }
        Self::check_room(chain.shape(), directory, inputs)
    }

    /// Counts only results that keep their size: a copy may share the blocks of its input, and
    /// other lengths are known only afterwards.
    fn check_room(shape: Shape, directory: &Path, inputs: &[Input]) -> Result<(), Error> {
        let keeps_size = shape == Shape::SameSize;
        let there = directory.ancestors().find(|directory| directory.is_dir());
        let free = there.and_then(|there| DiskSpace::of(there).ok()).map(|space| space.available);
        let (true, Some(free)) = (keeps_size, free) else {
            return Ok(());
        };
        let needed = inputs.iter().filter_map(|input| input.size).sum();
        if needed <= free {
            return Ok(());
        }
        Err(Error::new(Operation::Write, directory, Reason::NoSpace { needed, free }))
    }

    /// Runs the steps of a chain, and calls `each` for every input that was started, in input
    /// order. Only cancellation stops the job early; an error affects no other file.
    ///
    /// If several inputs name the same file, it is processed once, under the first name, unless
    /// results go to a directory, where each name has its own. If the file is replaced in place,
    /// the other names are linked to the new file. Names that are not among the inputs cannot be;
    /// such a file is replaced only with [`ReplaceOptions::break_links`].
    pub fn run(&self, chain: &Chain, inputs: &[Input], each: &mut dyn FnMut(&Input, FileOutcome)) {
        let next = AtomicUsize::new(0);
        let links = match self.output {
            OutputTarget::Discard | OutputTarget::InPlace => HardLinks::find(inputs),
            OutputTarget::File(_) | OutputTarget::Directory(_) => HardLinks::default(),
        };
        let mut reporter = OrderedReporter { inputs, each, early: BTreeMap::new(), expected: 0 };
        let named = (inputs, &links);
        let workers = self.threads.min(inputs.len());
        let idle = (self.threads > 1).then(|| Arc::new(IdleThreads::new(self.threads - workers)));
        let idle = idle.as_ref();
        match workers {
            // No second thread is needed, and outcomes are reported directly.
            0 | 1 => {
                let mut report = |index, outcome| reporter.take(index, outcome);
                Worker::new(self, named, chain.clone_reset(), idle, &mut report).run(&next);
            }
            threads => std::thread::scope(|scope| {
                let (report, reports) = channel();
                for _ in 0..threads {
                    let (chain, report, next) = (chain.clone_reset(), report.clone(), &next);
                    scope.spawn(move || {
                        let mut gathered = OutcomeSender::new(report);
                        let mut report = |index, outcome| gathered.put(index, outcome);
                        Worker::new(self, named, chain, idle, &mut report).run(next);
                        // Another thread with a large file may use this one.
                        idle.inspect(|idle| idle.add());
                    });
                }
                drop(report);
                reports
                    .into_iter()
                    .flatten()
                    .for_each(|(index, outcome)| reporter.take(index, outcome));
            }),
        }
        reporter.finish();
    }

    fn replace_options(&self) -> ReplaceOptions {
        let existing = match self.output {
            OutputTarget::InPlace => Existing::InPlace,
            _ => self.replace.existing,
        };
        let directory_is_checked = matches!(self.output, OutputTarget::Directory(_));
        ReplaceOptions { existing, directory_is_checked, ..self.replace }
    }

    fn syncs_in_batches(&self) -> bool {
        self.replace.durability == Durability::Batch
    }

    /// Returns the status of a file after a complete pass.
    fn status_of(&self, shape: Shape, pass: &PassReport, written: bool) -> FileStatus {
        match (&self.output, pass.changed) {
            (OutputTarget::Discard, _) if shape == Shape::Reduce => FileStatus::Inspected,
            (OutputTarget::Discard, Some(true)) => FileStatus::WouldChange,
            (OutputTarget::InPlace, _) if written => FileStatus::Changed,
            (OutputTarget::Discard | OutputTarget::InPlace, _) => FileStatus::Unchanged,
            (OutputTarget::File(_) | OutputTarget::Directory(_), _) => FileStatus::Written,
        }
    }
}

/// Reports outcomes in input order; they arrive in any order.
struct OrderedReporter<'a> {
    inputs: &'a [Input],
    each: &'a mut dyn FnMut(&Input, FileOutcome),
    early: BTreeMap<usize, FileOutcome>,
    /// The input index to report next.
    expected: usize,
}

impl OrderedReporter<'_> {
    fn take(&mut self, index: usize, outcome: FileOutcome) {
        if index != self.expected {
            self.early.insert(index, outcome);
            return;
        }
        self.report_next(outcome);
        while let Some(outcome) = self.early.remove(&self.expected) {
            self.report_next(outcome);
        }
    }

    fn report_next(&mut self, outcome: FileOutcome) {
        (self.each)(&self.inputs[self.expected], outcome);
        self.expected += 1;
    }

    /// Reports the rest. After a cancellation, inputs before the other names of a file may not have
    /// been started.
    fn finish(self) {
        for (index, outcome) in self.early {
            (self.each)(&self.inputs[index], outcome);
        }
    }
}

/// Outcomes with their input indexes, sent to another thread in batches.
struct OutcomeSender {
    to: Sender<Vec<(usize, FileOutcome)>>,
    outcomes: Vec<(usize, FileOutcome)>,
    sent: Instant,
}

impl OutcomeSender {
    fn new(to: Sender<Vec<(usize, FileOutcome)>>) -> Self {
        Self { to, outcomes: Vec::new(), sent: Instant::now() }
    }

    fn put(&mut self, index: usize, outcome: FileOutcome) {
        self.outcomes.push((index, outcome));
        if self.outcomes.len() >= SEND_BATCH || self.sent.elapsed() >= SEND_INTERVAL {
            self.send();
        }
    }

    fn send(&mut self) {
        // Sending fails only if the receiving thread has panicked.
        let _ = self.to.send(std::mem::take(&mut self.outcomes));
        self.sent = Instant::now();
    }
}

impl Drop for OutcomeSender {
    fn drop(&mut self) {
        self.send();
    }
}

struct Worker<'a> {
    job: &'a Job,
    inputs: &'a [Input],
    links: &'a HardLinks,
    chain: Chain,
    runner: PassRunner,
    /// Receives outcomes with their input indexes.
    report: &'a mut dyn FnMut(usize, FileOutcome),
    batch: Batch,
    waiting: Vec<PendingResult>,
    /// The directory of results that was made ready last.
    directory: PathBuf,
}

struct PendingResult {
    index: usize,
    target: PathBuf,
    pass: PassReport,
    /// Attributes of the input before the pass.
    before: Option<Attributes>,
}

impl<'a> Worker<'a> {
    fn new(
        job: &'a Job,
        (inputs, links): (&'a [Input], &'a HardLinks),
        chain: Chain,
        idle: Option<&Arc<IdleThreads>>,
        report: &'a mut dyn FnMut(usize, FileOutcome),
    ) -> Self {
        let runner = PassRunner::new(PassOptions { idle: idle.cloned(), ..job.passes.clone() });
        let (batch, waiting) = (Batch::new(), Vec::new());
        let directory = PathBuf::new();
        Self { job, inputs, links, chain, runner, report, batch, waiting, directory }
    }

    fn run(mut self, next: &AtomicUsize) {
        while !self.job.passes.cancel.is_cancelled() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = self.inputs.get(index) else {
                break;
            };
            // A file's outcome is reported for all its names at once.
            if !self.links.is_other_name(index) {
                self.process(index, input);
            }
            if self.waiting.len() >= SYNC_BATCH {
                self.publish();
            }
        }
        if self.job.passes.cancel.is_cancelled() {
            self.cancel_pending();
        } else {
            self.publish();
        }
    }

    /// Returns the path of an input's result, and makes its directory ready.
    fn target_of<'i>(&mut self, input: &'i Input) -> Result<Option<Cow<'i, Path>>, Error>
    where
        'a: 'i,
    {
        Ok(match &self.job.output {
            OutputTarget::Discard => None,
            OutputTarget::InPlace => Some(Cow::Borrowed(&input.path)),
            OutputTarget::File(file) => Some(Cow::Borrowed(file)),
            OutputTarget::Directory(directory) => {
                let target = directory.join(input.relative_path());
                let above = target.parent().unwrap_or(directory);
                // Most inputs follow another one of the same directory.
                if self.directory.as_os_str() != above.as_os_str() {
                    let made =
                        std::fs::create_dir_all(above).and_then(|()| check_output_path(above));
                    made.map_err(Error::system(Operation::Create, above))?;
                    self.directory = above.to_owned();
                }
                Some(Cow::Owned(target))
            }
        })
    }

    /// Processes a file, and reports its outcome unless the result waits in the batch.
    fn process(&mut self, index: usize, input: &Input) {
        let target = match self.target_of(input) {
            Ok(target) => target,
            Err(error) => return self.report_result(index, None, None, Err(error)),
        };
        let elsewhere = target.as_deref().filter(|_| self.job.output != OutputTarget::InPlace);
        if self.job.journal.as_ref().is_some_and(|journal| journal.is_done(&input.path, elsewhere))
        {
            let target = target.map(Cow::into_owned);
            let status = Ok(FileStatus::Skipped(Skip::AlreadyDone));
            let outcome = FileOutcome { target, pass: None, status, lost_metadata: Vec::new() };
            return self.report_all_names(index, outcome);
        }
        let outcome = self.pass(index, target.as_deref());
        let target = target.map(Cow::into_owned);
        match outcome {
            Ok((pass, None)) => self.report_result(index, target, Some(pass), Ok(None)),
            Ok((pass, Some(result))) if self.job.syncs_in_batches() => {
                let target = target.unwrap_or_default();
                let before = result.input_attributes().copied().filter(|_| !result.is_unwritten());
                match self.batch.add(result) {
                    Ok(()) => self.waiting.push(PendingResult { index, target, pass, before }),
                    Err(error) => self.report_result(index, Some(target), None, Err(error)),
                }
            }
            Ok((pass, Some(result))) => {
                let published = self.publish_one(input, result);
                self.report_result(index, target, Some(pass), published.map(Some));
            }
            Err(error) => self.report_result(index, target, None, Err(error)),
        }
    }

    /// Publishes a result, and records it in the journal; if the input is replaced, the record
    /// comes first.
    fn publish_one(&self, input: &Input, result: Replacement) -> Result<PublishReport, Error> {
        let before = result.input_attributes().copied().filter(|_| !result.is_unwritten());
        let (Some(journal), Some(before)) = (&self.job.journal, before) else {
            return result.publish();
        };
        if self.job.output != OutputTarget::InPlace {
            let published = result.publish()?;
            journal.record(&input.path, &before)?;
            return Ok(published);
        }
        journal.record(&input.path, &before)?;
        if self.job.replace.durability != Durability::None {
            journal.sync()?;
        }
        result.publish()
    }

    fn pass(
        &mut self,
        index: usize,
        target: Option<&Path>,
    ) -> Result<(PassReport, Option<Replacement>), Error> {
        let input = &self.inputs[index];
        let mut options = self.job.replace_options();
        // The other names will be linked to the new file.
        options.break_links |= self.links.group(index).is_some_and(|group| group.is_whole);
        self.chain.reset();
        let is_copy = self.chain.words().next().is_none();
        let step = (!is_copy).then_some(&mut self.chain as &mut dyn Step);
        let source = self.runner.open_as(&input.path, input.file_type == FileType::File);
        pass(source?, target, step, &mut self.runner, options)
    }

    /// Publishes the batch, and reports its outcomes.
    fn publish(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        if self.job.output == OutputTarget::InPlace
            && let Err(error) = self.record_all(&waiting)
        {
            // Without the journal entries, nothing may be replaced.
            self.batch = Batch::new();
            for PendingResult { index, target, .. } in waiting {
                self.report_result(index, Some(target), None, Err(error.duplicate()));
            }
            return;
        }
        let outcomes = std::mem::take(&mut self.batch).publish();
        let written = outcomes.iter().map(Result::is_ok);
        let done = waiting.iter().zip(written).filter(|(_, written)| *written);
        let recorded = match self.job.output {
            OutputTarget::InPlace => Ok(()),
            _ => done.map(|(waiting, _)| waiting).try_for_each(|one| self.record_done(one)),
        };
        for (PendingResult { index, target, pass, .. }, outcome) in
            waiting.into_iter().zip(outcomes)
        {
            let outcome = match &recorded {
                Ok(()) => outcome,
                Err(error) => Err(error.duplicate()),
            };
            self.report_result(index, Some(target), Some(pass), outcome.map(Some));
        }
    }

    /// Records the inputs that are about to change.
    fn record_all(&self, waiting: &[PendingResult]) -> Result<(), Error> {
        waiting.iter().try_for_each(|one| self.record_done(one))?;
        self.job.journal.as_ref().map_or(Ok(()), |journal| journal.sync())
    }

    fn record_done(&self, one: &PendingResult) -> Result<(), Error> {
        match (&self.job.journal, &one.before) {
            (Some(journal), Some(before)) => journal.record(&self.inputs[one.index].path, before),
            _ => Ok(()),
        }
    }

    /// Discards the batch after a cancellation.
    fn cancel_pending(&mut self) {
        self.batch = Batch::new();
        for PendingResult { index, target, .. } in std::mem::take(&mut self.waiting) {
            let error = Error::cancelled(&target);
            self.report_result(index, Some(target), None, Err(error));
        }
    }

    fn report_result(
        &mut self,
        index: usize,
        target: Option<PathBuf>,
        pass: Option<PassReport>,
        published: Result<Option<PublishReport>, Error>,
    ) {
        let (status, lost_metadata) = match published {
            Ok(published) => {
                let written = published.as_ref().is_some_and(|published| published.written);
                let status =
                    pass.as_ref().map(|pass| self.job.status_of(self.chain.shape(), pass, written));
                let lost_metadata =
                    published.map_or_else(Vec::new, |published| published.lost_metadata);
                (Ok(status.expect("BUG: a published result has a pass")), lost_metadata)
            }
            Err(error) if matches!(error.reason(), Reason::Binary) => {
                (Ok(FileStatus::Skipped(Skip::Binary)), Vec::new())
            }
            Err(error) => (Err(error), Vec::new()),
        };
        self.report_all_names(index, FileOutcome { target, pass, status, lost_metadata });
    }

    fn report_all_names(&mut self, index: usize, outcome: FileOutcome) {
        let Some(group) = self.links.group(index) else {
            return (self.report)(index, outcome);
        };
        let is_new = matches!(outcome.status, Ok(FileStatus::Changed));
        let pass = outcome.pass.clone();
        (self.report)(index, outcome);
        let path = |place: usize| self.inputs[place].path.as_path();
        for &further in group.other_names() {
            let named = match is_new {
                true => {
                    let durability = self.job.replace.durability;
                    replace_with_link(path(index), path(further), &group.before, durability)
                }
                false => Ok(()),
            };
            let status = named.map(|()| FileStatus::SameFile(index));
            let (target, pass) = (None, pass.clone());
            (self.report)(further, FileOutcome { target, pass, status, lost_metadata: Vec::new() });
        }
    }
}
