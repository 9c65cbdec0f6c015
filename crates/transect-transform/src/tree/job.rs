//! What is done to many files, and what became of each.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use transect::FileType;
use transect_sys::Attributes;

use super::hard_links::HardLinks;
use super::{Input, JobJournal};
use crate::chain::Chain;
use crate::error::{Error, Operation, Rejection};
use crate::pass::{IdleThreads, PassOptions, PassReport, PassRunner};
use crate::publish::{
    Batch, Durability, Existing, LostMetadata, PublishReport, ReplaceOptions, Replacement,
    replace_with_link,
};
use crate::step::{Shape, Step};
use crate::system;
use crate::whole_file::pass;

/// How many results wait for a common sync, on each thread: the wait is shared by so many that it
/// does not count, and no more room than theirs is needed beside what is there.
const SYNC_BATCH: usize = 256;

/// How many outcomes a thread gathers before it wakes whoever reports them.
const SEND_BATCH: usize = 64;

/// How long it gathers them, while it has more to do.
const SEND_INTERVAL: Duration = Duration::from_millis(50);

/// Where results go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputTarget {
    /// Nowhere: what counts is what is found, and what would change.
    Discard,
    /// In the place of each input, if anything changes.
    InPlace,
    /// Into one file: for one input.
    File(PathBuf),
    /// Into a folder, by the paths below the roots.
    Directory(PathBuf),
}

/// What is to be done to all files.
#[derive(Clone, Debug)]
pub struct Job {
    /// Where the results go.
    pub output: OutputTarget,
    /// How files are passed over; by [`PassOptions::cancel`] the whole job is stopped.
    pub passes: PassOptions,
    /// How results are put in their places. What may be replaced in place follows from [`Job::output`].
    pub replace: ReplaceOptions,
    /// How many threads: each works on a file of its own, and those that have none left help with
    /// the digest of a large one. [`PassOptions::idle`] is not asked for more.
    pub threads: usize,
    /// What an earlier run has done, and where to write down what this one does.
    pub journal: Option<Arc<JobJournal>>,
}

/// What a file came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileStatus {
    /// It is not touched: the result equals it, or would.
    Unchanged,
    /// It was replaced by the result.
    Changed,
    /// It would be replaced, were the job not to go nowhere.
    WouldChange,
    /// The result was written elsewhere.
    Written,
    /// It was looked at; nothing was ever to be made of it.
    Inspected,
    /// It was left alone on purpose.
    Skipped(Skip),
    /// It is another name of the input at this place, and has come to the same: if that one was
    /// replaced, it is a name of the new file now.
    SameFile(usize),
}

/// Why a file was left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Skip {
    /// It is no text, and a step is made for text.
    Binary,
    /// An earlier run has done it, as its journal says.
    AlreadyDone,
}

impl Skip {
    /// Returns the word for the reason, as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::AlreadyDone => "done",
        }
    }
}

/// What became of one file.
#[derive(Debug)]
pub struct FileOutcome {
    /// Where its result is; nothing if none was wanted.
    pub target: Option<PathBuf>,
    /// What was read, made and found; nothing if it did not come to its end.
    pub pass: Option<PassReport>,
    /// What it came to.
    pub status: Result<FileStatus, Error>,
    /// What the new file has not of the one it replaced.
    pub lost_metadata: Vec<LostMetadata>,
}

impl Job {
    /// Makes sure, before anything is written, that the results have names of their own and, as far
    /// as that is known, room.
    ///
    /// # Errors
    /// They have not.
    pub fn check(&self, chain: &Chain, inputs: &[Input]) -> Result<(), Error> {
        let OutputTarget::Directory(folder) = &self.output else {
            return Ok(());
        };
        let mut by_target: HashMap<&Path, &Path> = HashMap::with_capacity(inputs.len());
        for input in inputs {
            if let Some(other) = by_target.insert(input.relative_path(), &input.path) {
                let path = folder.join(input.relative_path());
                return Err(Error::SameTarget { path, inputs: [other.into(), input.path.clone()] });
            }
        }
        Self::check_room(chain.shape(), folder, inputs)
    }

    /// A copy may share the blocks of its input, and a result of another length is known when it is
    /// made: only what keeps its size is reckoned.
    fn check_room(shape: Shape, folder: &Path, inputs: &[Input]) -> Result<(), Error> {
        let keeps_size = matches!(shape, Shape::SameSize { .. });
        let there = folder.ancestors().find(|folder| folder.is_dir());
        let free = there.and_then(system::free_space);
        let (true, Some(free)) = (keeps_size, free) else {
            return Ok(());
        };
        let needed = inputs.iter().filter_map(|input| input.size).sum();
        if needed <= free {
            return Ok(());
        }
        Err(Error::NoSpace { path: folder.to_owned(), needed, free })
    }

    /// Does the steps of a chain, and calls `each` for every input that was begun, in their order.
    /// Whatever becomes of one keeps no other from its result, but for a request to stop.
    ///
    /// A file with several names among the inputs is passed over by the first of them, unless its
    /// results go into a folder, where each name has its own. If it is replaced in place, the others
    /// become names of the new file; names that are not among the inputs would not, and it is
    /// replaced only with [`ReplaceOptions::break_links`] if it has any.
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
            // Nobody else is needed, and what is told goes from hand to hand.
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
                        // Who still has a large file may use this thread.
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

    /// Returns where the result of an input goes, and makes the folders on the way.
    fn target_of<'a>(&'a self, input: &'a Input) -> Result<Option<Cow<'a, Path>>, Error> {
        Ok(match &self.output {
            OutputTarget::Discard => None,
            OutputTarget::InPlace => Some(Cow::Borrowed(&input.path)),
            OutputTarget::File(file) => Some(Cow::Borrowed(file)),
            OutputTarget::Directory(folder) => {
                let target = folder.join(input.relative_path());
                let above = target.parent().unwrap_or(folder);
                std::fs::create_dir_all(above).map_err(Error::system(Operation::Create, above))?;
                Some(Cow::Owned(target))
            }
        })
    }

    fn replace_options(&self) -> ReplaceOptions {
        let existing = match self.output {
            OutputTarget::InPlace => Existing::InPlace,
            _ => self.replace.existing,
        };
        ReplaceOptions { existing, ..self.replace }
    }

    fn syncs_in_batches(&self) -> bool {
        self.replace.durability == Durability::Batch
    }

    /// Returns what a file came to that was passed over to its end.
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

/// What became of inputs, told in their order: it comes in any.
struct OrderedReporter<'a> {
    inputs: &'a [Input],
    each: &'a mut dyn FnMut(&Input, FileOutcome),
    /// What came before its turn.
    early: BTreeMap<usize, FileOutcome>,
    /// Whose turn it is.
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

    /// Tells what is left: who was stopped has not begun what lies before further names of a file.
    fn finish(self) {
        for (index, outcome) in self.early {
            (self.each)(&self.inputs[index], outcome);
        }
    }
}

/// Outcomes with the places of their inputs, on the way to another thread.
struct OutcomeSender {
    to: Sender<Vec<(usize, FileOutcome)>>,
    outcomes: Vec<(usize, FileOutcome)>,
    /// When the last ones went.
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
        // Nobody listens only if whoever reports has panicked.
        let _ = self.to.send(std::mem::take(&mut self.outcomes));
        self.sent = Instant::now();
    }
}

impl Drop for OutcomeSender {
    fn drop(&mut self) {
        self.send();
    }
}

/// One thread of a job.
struct Worker<'a> {
    job: &'a Job,
    inputs: &'a [Input],
    links: &'a HardLinks,
    chain: Chain,
    runner: PassRunner,
    /// Who takes outcomes, with the places of their inputs.
    report: &'a mut dyn FnMut(usize, FileOutcome),
    batch: Batch,
    /// What waits in the batch.
    waiting: Vec<PendingResult>,
}

/// A result in a batch.
struct PendingResult {
    index: usize,
    target: PathBuf,
    pass: PassReport,
    /// What the input was.
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
        Self { job, inputs, links, chain, runner, report, batch, waiting }
    }

    fn run(mut self, next: &AtomicUsize) {
        while !self.job.passes.cancel.is_cancelled() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = self.inputs.get(index) else {
                break;
            };
            // What became of a file is told for all its names at once.
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

    /// Passes over a file, and reports what became of it, unless it waits.
    fn process(&mut self, index: usize, input: &Input) {
        let job = self.job;
        let target = match job.target_of(input) {
            Ok(target) => target,
            Err(error) => return self.report_result(index, None, None, Err(error)),
        };
        let elsewhere = target.as_deref().filter(|_| self.job.output != OutputTarget::InPlace);
        if self.job.journal.as_ref().is_some_and(|journal| journal.is_done(&input.path, elsewhere))
        {
            return self.skip(index, target.map(Cow::into_owned), Skip::AlreadyDone);
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

    /// Puts a result in its place, and writes it down: before, if that changes the input.
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
        // The others become names of what this one is replaced by.
        options.break_links |= self.links.group(index).is_some_and(|group| group.is_whole);
        self.chain.reset();
        let is_copy = self.chain.words().next().is_none();
        let step = (!is_copy).then_some(&mut self.chain as &mut dyn Step);
        let source = match input.file_type {
            FileType::File => self.runner.open_listed(&input.path),
            _ => self.runner.open(&input.path),
        };
        pass(source?, target, step, &mut self.runner, options)
    }

    /// Puts what waits in its places, and reports it.
    fn publish(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        if self.job.output == OutputTarget::InPlace
            && let Err(error) = self.record_all(&waiting)
        {
            // Without its journal nothing is done.
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

    /// Writes down what waits, and is going to change.
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

    /// Nothing that waits gets to its place any more.
    fn cancel_pending(&mut self) {
        self.batch = Batch::new();
        for PendingResult { index, target, .. } in std::mem::take(&mut self.waiting) {
            let error = Error::Cancelled { path: target.clone() };
            self.report_result(index, Some(target), None, Err(error));
        }
    }

    /// Tells that an input was left alone.
    fn skip(&mut self, index: usize, target: Option<PathBuf>, why: Skip) {
        let status = Ok(FileStatus::Skipped(why));
        self.report_all_names(
            index,
            FileOutcome { target, pass: None, status, lost_metadata: Vec::new() },
        );
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
                (Ok(status.expect("BUG: what is published was passed over")), lost_metadata)
            }
            Err(Error::Rejected { reason: Rejection::Binary, .. }) => {
                (Ok(FileStatus::Skipped(Skip::Binary)), Vec::new())
            }
            Err(error) => (Err(error), Vec::new()),
        };
        self.report_all_names(index, FileOutcome { target, pass, status, lost_metadata });
    }

    /// Reports what became of a file, by all its names.
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
