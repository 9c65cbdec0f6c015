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

use super::hard_links::Names;
use super::{Input, Journal};
use crate::chain::Chain;
use crate::error::{Error, Operation, Rejection};
use crate::pass::{IdleThreads, PassOptions, PassReport, PassRunner};
use crate::publish::{
    Batch, Durability, Existing, LostMetadata, PublishReport, ReplaceOptions, Replacement,
    name_also,
};
use crate::step::{Shape, Step};
use crate::system;
use crate::whole_file::pass;

/// How many results wait for a common sync, on each thread: the wait is shared by so many that it
/// does not count, and no more room than theirs is needed beside what is there.
const BATCH: usize = 256;

/// How many outcomes a thread gathers before it wakes whoever reports them.
const REPORT: usize = 64;

/// How long it gathers them, while it has more to do.
const PATIENCE: Duration = Duration::from_millis(50);

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
    pub journal: Option<Arc<Journal>>,
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
            if let Some(other) = by_target.insert(input.below(), &input.path) {
                let path = folder.join(input.below());
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
        let names = match self.output {
            OutputTarget::Discard | OutputTarget::InPlace => Names::of(inputs),
            OutputTarget::File(_) | OutputTarget::Directory(_) => Names::default(),
        };
        let mut line = Line { inputs, each, early: BTreeMap::new(), expected: 0 };
        let named = (inputs, &names);
        let workers = self.threads.min(inputs.len());
        let idle = (self.threads > 1).then(|| Arc::new(IdleThreads::new(self.threads - workers)));
        let idle = idle.as_ref();
        match workers {
            // Nobody else is needed, and what is told goes from hand to hand.
            0 | 1 => {
                let mut tell = |index, outcome| line.take(index, outcome);
                Worker::new(self, named, chain.fresh(), idle, &mut tell).run(&next);
            }
            threads => std::thread::scope(|scope| {
                let (report, reports) = channel();
                for _ in 0..threads {
                    let (chain, report, next) = (chain.fresh(), report.clone(), &next);
                    scope.spawn(move || {
                        let mut gathered = Gathered::new(report);
                        let mut tell = |index, outcome| gathered.put(index, outcome);
                        Worker::new(self, named, chain, idle, &mut tell).run(next);
                        // Who still has a large file may use this thread.
                        idle.inspect(|idle| idle.add());
                    });
                }
                drop(report);
                reports
                    .into_iter()
                    .flatten()
                    .for_each(|(index, outcome)| line.take(index, outcome));
            }),
        }
        line.end();
    }

    /// Returns where the result of an input goes, and makes the folders on the way.
    fn target_of<'a>(&'a self, input: &'a Input) -> Result<Option<Cow<'a, Path>>, Error> {
        Ok(match &self.output {
            OutputTarget::Discard => None,
            OutputTarget::InPlace => Some(Cow::Borrowed(&input.path)),
            OutputTarget::File(file) => Some(Cow::Borrowed(file)),
            OutputTarget::Directory(folder) => {
                let target = folder.join(input.below());
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

    fn in_batches(&self) -> bool {
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
struct Line<'a> {
    inputs: &'a [Input],
    each: &'a mut dyn FnMut(&Input, FileOutcome),
    /// What came before its turn.
    early: BTreeMap<usize, FileOutcome>,
    /// Whose turn it is.
    expected: usize,
}

impl Line<'_> {
    fn take(&mut self, index: usize, outcome: FileOutcome) {
        if index != self.expected {
            self.early.insert(index, outcome);
            return;
        }
        self.tell(outcome);
        while let Some(outcome) = self.early.remove(&self.expected) {
            self.tell(outcome);
        }
    }

    fn tell(&mut self, outcome: FileOutcome) {
        (self.each)(&self.inputs[self.expected], outcome);
        self.expected += 1;
    }

    /// Tells what is left: who was stopped has not begun what lies before further names of a file.
    fn end(self) {
        for (index, outcome) in self.early {
            (self.each)(&self.inputs[index], outcome);
        }
    }
}

/// Outcomes with the places of their inputs, on the way to another thread.
struct Gathered {
    to: Sender<Vec<(usize, FileOutcome)>>,
    outcomes: Vec<(usize, FileOutcome)>,
    /// When the last ones went.
    sent: Instant,
}

impl Gathered {
    fn new(to: Sender<Vec<(usize, FileOutcome)>>) -> Self {
        Self { to, outcomes: Vec::new(), sent: Instant::now() }
    }

    fn put(&mut self, index: usize, outcome: FileOutcome) {
        self.outcomes.push((index, outcome));
        if self.outcomes.len() >= REPORT || self.sent.elapsed() >= PATIENCE {
            self.send();
        }
    }

    fn send(&mut self) {
        // Nobody listens only if whoever reports has panicked.
        let _ = self.to.send(std::mem::take(&mut self.outcomes));
        self.sent = Instant::now();
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        self.send();
    }
}

/// One thread of a job.
struct Worker<'a> {
    job: &'a Job,
    inputs: &'a [Input],
    names: &'a Names,
    chain: Chain,
    runner: PassRunner,
    /// Who takes outcomes, with the places of their inputs.
    report: &'a mut dyn FnMut(usize, FileOutcome),
    batch: Batch,
    /// What waits in the batch.
    waiting: Vec<Waiting>,
}

/// A result in a batch.
struct Waiting {
    index: usize,
    target: PathBuf,
    pass: PassReport,
    /// What the input was.
    before: Option<Attributes>,
}

impl<'a> Worker<'a> {
    fn new(
        job: &'a Job,
        (inputs, names): (&'a [Input], &'a Names),
        chain: Chain,
        idle: Option<&Arc<IdleThreads>>,
        report: &'a mut dyn FnMut(usize, FileOutcome),
    ) -> Self {
        let runner = PassRunner::new(PassOptions { idle: idle.cloned(), ..job.passes.clone() });
        let (batch, waiting) = (Batch::new(), Vec::new());
        Self { job, inputs, names, chain, runner, report, batch, waiting }
    }

    fn run(mut self, next: &AtomicUsize) {
        while !self.job.passes.cancel.is_cancelled() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = self.inputs.get(index) else {
                break;
            };
            // What became of a file is told for all its names at once.
            if !self.names.is_further(index) {
                self.one(index, input);
            }
            if self.waiting.len() >= BATCH {
                self.publish();
            }
        }
        if self.job.passes.cancel.is_cancelled() {
            self.give_up();
        } else {
            self.publish();
        }
    }

    /// Passes over a file, and reports what became of it, unless it waits.
    fn one(&mut self, index: usize, input: &Input) {
        let job = self.job;
        let target = match job.target_of(input) {
            Ok(target) => target,
            Err(error) => return self.tell(index, None, None, Err(error)),
        };
        let elsewhere = target.as_deref().filter(|_| self.job.output != OutputTarget::InPlace);
        if self.job.journal.as_ref().is_some_and(|journal| journal.has(&input.path, elsewhere)) {
            return self.skip(index, target.map(Cow::into_owned), Skip::AlreadyDone);
        }
        let outcome = self.pass(index, target.as_deref());
        let target = target.map(Cow::into_owned);
        match outcome {
            Ok((pass, None)) => self.tell(index, target, Some(pass), Ok(None)),
            Ok((pass, Some(result))) if self.job.in_batches() => {
                let target = target.unwrap_or_default();
                let before = result.input().copied().filter(|_| !result.is_unwritten());
                match self.batch.add(result) {
                    Ok(()) => self.waiting.push(Waiting { index, target, pass, before }),
                    Err(error) => self.tell(index, Some(target), None, Err(error)),
                }
            }
            Ok((pass, Some(result))) => {
                let published = self.publish_one(input, result);
                self.tell(index, target, Some(pass), published.map(Some));
            }
            Err(error) => self.tell(index, target, None, Err(error)),
        }
    }

    /// Puts a result in its place, and writes it down: before, if that changes the input.
    fn publish_one(&self, input: &Input, result: Replacement) -> Result<PublishReport, Error> {
        let before = result.input().copied().filter(|_| !result.is_unwritten());
        let (Some(journal), Some(before)) = (&self.job.journal, before) else {
            return result.publish();
        };
        if self.job.output != OutputTarget::InPlace {
            let published = result.publish()?;
            journal.note(&input.path, &before)?;
            return Ok(published);
        }
        journal.note(&input.path, &before)?;
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
        options.break_links |= self.names.group(index).is_some_and(|group| group.is_whole);
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
            && let Err(error) = self.note(&waiting)
        {
            // Without its journal nothing is done.
            self.batch = Batch::new();
            for Waiting { index, target, .. } in waiting {
                self.tell(index, Some(target), None, Err(error.again()));
            }
            return;
        }
        let outcomes = std::mem::take(&mut self.batch).publish();
        let written = outcomes.iter().map(Result::is_ok);
        let done = waiting.iter().zip(written).filter(|(_, written)| *written);
        let noted = match self.job.output {
            OutputTarget::InPlace => Ok(()),
            _ => done.map(|(waiting, _)| waiting).try_for_each(|one| self.note_one(one)),
        };
        for (Waiting { index, target, pass, .. }, outcome) in waiting.into_iter().zip(outcomes) {
            let outcome = match &noted {
                Ok(()) => outcome,
                Err(error) => Err(error.again()),
            };
            self.tell(index, Some(target), Some(pass), outcome.map(Some));
        }
    }

    /// Writes down what waits, and is going to change.
    fn note(&self, waiting: &[Waiting]) -> Result<(), Error> {
        waiting.iter().try_for_each(|one| self.note_one(one))?;
        self.job.journal.as_ref().map_or(Ok(()), |journal| journal.sync())
    }

    fn note_one(&self, one: &Waiting) -> Result<(), Error> {
        match (&self.job.journal, &one.before) {
            (Some(journal), Some(before)) => journal.note(&self.inputs[one.index].path, before),
            _ => Ok(()),
        }
    }

    /// Nothing that waits gets to its place any more.
    fn give_up(&mut self) {
        self.batch = Batch::new();
        for Waiting { index, target, .. } in std::mem::take(&mut self.waiting) {
            let error = Error::Cancelled { path: target.clone() };
            self.tell(index, Some(target), None, Err(error));
        }
    }

    /// Tells that an input was left alone.
    fn skip(&mut self, index: usize, target: Option<PathBuf>, why: Skip) {
        let status = Ok(FileStatus::Skipped(why));
        self.report(index, FileOutcome { target, pass: None, status, lost_metadata: Vec::new() });
    }

    fn tell(
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
        self.report(index, FileOutcome { target, pass, status, lost_metadata });
    }

    /// Reports what became of a file, by all its names.
    fn report(&mut self, index: usize, outcome: FileOutcome) {
        let Some(group) = self.names.group(index) else {
            return (self.report)(index, outcome);
        };
        let is_new = matches!(outcome.status, Ok(FileStatus::Changed));
        let pass = outcome.pass.clone();
        (self.report)(index, outcome);
        let path = |place: usize| self.inputs[place].path.as_path();
        for &further in group.further() {
            let named = match is_new {
                true => {
                    let durability = self.job.replace.durability;
                    name_also(path(index), path(further), &group.before, durability)
                }
                false => Ok(()),
            };
            let status = named.map(|()| FileStatus::SameFile(index));
            let (target, pass) = (None, pass.clone());
            (self.report)(further, FileOutcome { target, pass, status, lost_metadata: Vec::new() });
        }
    }
}
