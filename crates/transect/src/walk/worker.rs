//! One thread's way through one directory: open, list, judge, fill, deliver.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use transect_sys::{
    Attributes, Batch, Fault, FaultKind, FieldMask, FileType, Listing, Reader, Verdict, Volume,
};

use crate::dir::{Dir, Place};
use crate::error::{Operation, ScanError};
use crate::progress::ProgressCounts;
use crate::sink::{Entering, Flow, Sink, SkipReason, Visit};
use crate::walk::run::{Link, Run};
use crate::walk::task::{Anchor, How, Task, Tasks};

/// How often, and how long each time, a directory waits for a descriptor that others hold.
const DESCRIPTOR_RETRIES: u32 = 100;
const DESCRIPTOR_WAIT: Duration = Duration::from_millis(5);

/// One thread's share of a walk: a reader, a sink, and memory that is used again for every
/// directory.
pub(super) struct Worker<'r, R: Reader, S: Sink> {
    run: &'r Run<'r, R, S>,
    id: usize,
    reader: R,
    sink: S,
    batch: Batch,
    /// Path below the root of the directory being judged; only kept while filters look at it.
    relative: PathBuf,
    counts: ProgressCounts,
    bytes_told: u64,
}

type TaskOf<R, S> = Task<<R as Reader>::Handle, <S as Sink>::Tag>;
type DirOf<S> = Arc<Dir<<S as Sink>::Tag>>;

/// A directory that has been entered. Without a handle there is nothing to read.
struct Entered<R: Reader, S: Sink> {
    dir: DirOf<S>,
    handle: Option<R::Handle>,
}

impl<'r, R: Reader, S: Sink> Worker<'r, R, S> {
    pub(super) fn new(run: &'r Run<'r, R, S>, id: usize, reader: R, sink: S) -> Self {
        let bytes_told = sink.bytes();
        Self {
            run,
            id,
            reader,
            sink,
            batch: Batch::new(),
            relative: PathBuf::new(),
            counts: ProgressCounts::default(),
            bytes_told,
        }
    }

    pub(super) fn into_sink(self) -> S {
        self.sink
    }

    /// Takes over what another thread's sink received.
    pub(super) fn absorb(&mut self, sink: S) {
        self.sink.merge(sink);
        self.bytes_told = self.sink.bytes();
    }

    /// Reads one directory, and appends the directories in it to `children`.
    ///
    /// When the walk has been stopped nothing is read any more, but every directory is still
    /// finished: what was counted below it reaches the top.
    /// Returns how many entries it held.
    pub(super) fn visit(&mut self, task: TaskOf<R, S>, children: &mut Tasks<R, S>) -> u32 {
        let entered = if self.run.is_stopped() { None } else { self.enter(&task) };
        match entered {
            None => self.finish(task.parent),
            Some(Entered { dir, handle }) => {
                if let Some(handle) = handle {
                    self.read(&dir, handle, task.anchor, children);
                }
                self.finish(dir);
            }
        }
        self.tell_progress()
    }

    /// Ends one share of a directory's work, and leaves every directory that this completes.
    pub(super) fn finish(&mut self, dir: DirOf<S>) {
        let mut next = Some(dir);
        while let Some(dir) = next.filter(|dir| dir.finish_share()) {
            self.sink.leave(&dir);
            next = dir.parent().cloned();
        }
    }

    // ---- entering: open the directory, learn what it is, decide whether to read it ----

    fn enter(&mut self, task: &TaskOf<R, S>) -> Option<Entered<R, S>> {
        if !task.how.read {
            let mut own = self.stat_unopened(task)?;
            let volume = task.parent.volume;
            if self.run.plan.one_file_system && own.device() != volume.device {
                // Not asked for, or the size of another file system's root.
                own = Attributes::of_type(FileType::Directory);
            }
            return Some(Entered { dir: self.new_dir(task, volume, &own), handle: None });
        }
        match self.open(task) {
            Err(Fault::Vanished) => {
                self.sink.vanished(&task.parent, FileType::Directory);
                None
            }
            Err(Fault::Failed(error)) => self.enter_unreadable(task, error),
            Ok(handle) => self.enter_open(task, handle),
        }
    }

    /// Opens a directory: one call relative to its parent's handle, or to the nearest ancestor's.
    fn open(&mut self, task: &TaskOf<R, S>) -> Result<R::Handle, Fault> {
        let mut answer = self.open_once(task);
        for _ in 0..DESCRIPTOR_RETRIES {
            match &answer {
                Err(Fault::Failed(error)) if FaultKind::of(error) == FaultKind::TooManyOpen => {
                    // Others hold descriptors, or we do: keep no more, and wait for some to
                    // come back.
                    self.run.budget.exhausted();
                    std::thread::sleep(DESCRIPTOR_WAIT);
                    answer = self.open_once(task);
                }
                _ => break,
            }
        }
        answer
    }

    fn open_once(&mut self, task: &TaskOf<R, S>) -> Result<R::Handle, Fault> {
        if task.parent.is_top() {
            return self.reader.open_root(Path::new(&task.name), self.run.plan.follow);
        }
        self.below(task, |reader, anchor, steps| reader.open(anchor, steps, task.how.followed))
    }

    /// Asks something about what a task stands for, relative to the nearest open ancestor.
    fn below<T>(
        &mut self,
        task: &TaskOf<R, S>,
        ask: impl FnOnce(&mut R, &R::Handle, &[&OsStr]) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let nearest = task.anchor.as_deref();
        if let Some(anchor) = nearest.filter(|a| a.entry_depth == task.parent.entry_depth()) {
            return ask(&mut self.reader, &anchor.handle, &[&task.name]);
        }
        let Some(anchor) = nearest else {
            let root = task.parent.ancestors().last().map_or(OsStr::new("."), Dir::name);
            let root = self.reader.open_root(Path::new(root), self.run.plan.follow)?;
            // Depth 1 is what lies in the root: the steps begin there.
            return self.along(task, &root, 1, ask);
        };
        self.along(task, &anchor.handle, anchor.entry_depth, ask)
    }

    /// Goes from an open directory, in which entries have depth `depth`, down to a task.
    fn along<T>(
        &mut self,
        task: &TaskOf<R, S>,
        start: &R::Handle,
        depth: u32,
        ask: impl FnOnce(&mut R, &R::Handle, &[&OsStr]) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let passed = task.parent.ancestors().take_while(|dir| dir.entry_depth() > depth);
        let mut passed: Vec<&Dir<S::Tag>> = passed.collect();
        passed.reverse();
        let mut reached: Option<R::Handle> = None;
        let mut steps: Vec<&OsStr> = Vec::with_capacity(passed.len() + 1);
        for dir in passed {
            steps.push(dir.name());
            // Readers follow no links on the way, only at its end.
            if dir.followed {
                reached =
                    Some(self.reader.open(reached.as_ref().unwrap_or(start), &steps, true)?);
                steps.clear();
            }
        }
        steps.push(&task.name);
        ask(&mut self.reader, reached.as_ref().unwrap_or(start), &steps)
    }

    /// Enters an open directory, unless it lies beyond a boundary or was read before.
    fn enter_open(&mut self, task: &TaskOf<R, S>, mut handle: R::Handle) -> Option<Entered<R, S>> {
        let mut want = self.run.want.opened;
        if task.parent.is_top() || self.run.mounts.may_be(&task.name) {
            want |= FieldMask::DEVICE;
        }
        let mut own = Attributes::of_type(FileType::Directory);
        if !want.is_empty() {
            match self.reader.stat_open(&mut handle, want) {
                Ok(attributes) => own = attributes,
                Err(fault) => self.report(&task.parent, &task.name, fault),
            }
        }
        let volume = R::volume(&handle);
        if let Some(reason) = self.boundary(task, volume) {
            // The mount point is an entry of its parent; what is mounted there is not looked at.
            let dir = self.new_dir(task, task.parent.volume, &Attributes::default());
            self.skip(&dir, reason);
            return Some(Entered { dir, handle: None });
        }
        let revisited =
            self.run.plan.follow && !task.how.followed && !self.run.note_seen(own.file_id());
        if revisited {
            let reason = SkipReason::for_revisit(&task.parent, own.file_id());
            self.skip(&task.parent, reason);
            return None;
        }
        let dir = self.new_dir(task, volume, &own);
        self.counts.directories += 1;
        Some(Entered { dir, handle: Some(handle) })
    }

    /// Returns why a directory on another file system is not read, if it is not.
    fn boundary(&self, task: &TaskOf<R, S>, volume: Volume) -> Option<SkipReason> {
        let above = task.parent.volume;
        if task.parent.is_top() || volume.device == above.device {
            return None;
        }
        if self.run.plan.one_file_system {
            return Some(SkipReason::MountBoundary);
        }
        let pseudo = volume.pseudo && !above.pseudo && !self.run.plan.pseudo_file_systems;
        pseudo.then_some(SkipReason::PseudoFileSystem)
    }

    /// A directory that cannot be read is a directory all the same, with a size of its own.
    fn enter_unreadable(&mut self, task: &TaskOf<R, S>, error: io::Error) -> Option<Entered<R, S>> {
        let own = match self.ask_unopened(task) {
            Err(Fault::Vanished) => {
                self.sink.vanished(&task.parent, FileType::Directory);
                return None;
            }
            // Said once is enough: the directory is an error already.
            Err(Fault::Failed(_)) => Attributes::of_type(FileType::Directory),
            Ok(own) => own,
        };
        let dir = self.new_dir(task, task.parent.volume, &own);
        self.error(&dir, Operation::OpenDirectory, dir.path(), task.parent.entry_depth(), error);
        Some(Entered { dir, handle: None })
    }

    fn stat_unopened(&mut self, task: &TaskOf<R, S>) -> Option<Attributes> {
        match self.ask_unopened(task) {
            Ok(own) => Some(own),
            Err(Fault::Vanished) => {
                self.sink.vanished(&task.parent, FileType::Directory);
                None
            }
            Err(fault) => {
                self.report(&task.parent, &task.name, fault);
                Some(Attributes::of_type(FileType::Directory))
            }
        }
    }

    fn ask_unopened(&mut self, task: &TaskOf<R, S>) -> Result<Attributes, Fault> {
        let want = self.run.want.opened;
        if want.is_empty() {
            return Ok(Attributes::of_type(FileType::Directory));
        }
        if task.parent.is_top() {
            return self.reader.stat_root(Path::new(&task.name), want, self.run.plan.follow);
        }
        let follow = task.how.followed;
        self.below(task, |reader, anchor, steps| reader.stat(anchor, steps, want, follow))
    }

    fn new_dir(&mut self, task: &TaskOf<R, S>, volume: Volume, own: &Attributes) -> DirOf<S> {
        let Task { parent, name, .. } = task;
        let listed = task.how.listed;
        let tag = self.sink.enter(Entering { parent: Some(parent), name, own, listed });
        let followed = task.how.followed;
        let mut place = Place { volume, id: own.file_id(), followed, ..Place::default() };
        let mut rules_error = None;
        if let Some(filter) = &self.run.plan.filter {
            (place.scope, rules_error) = filter.enter(&parent.scope, name, parent.is_top());
        }
        let dir = Dir::below(Arc::clone(parent), name.clone(), place, tag);
        if let Some(error) = rules_error {
            let depth = dir.entry_depth();
            self.error(&dir, Operation::ReadRules, dir.path(), depth, error);
        }
        dir
    }

    // ---- reading: list, judge, fill, deliver, collect what is below ----

    fn read(
        &mut self,
        dir: &DirOf<S>,
        handle: R::Handle,
        above: Option<Arc<Anchor<R::Handle>>>,
        children: &mut Tasks<R, S>,
    ) {
        self.run.plan.progress.at(|| dir.path());
        let first = children.len();
        let mut links = Vec::new();
        loop {
            let listing = match self.reader.list(&handle, &mut self.batch) {
                Ok(listing) => listing,
                Err(Fault::Vanished) => break,
                Err(Fault::Failed(error)) => {
                    let depth = dir.entry_depth() - 1;
                    self.error(dir, Operation::ReadDirectory, dir.path(), depth, error);
                    break;
                }
            };
            if self.must_ask_first() {
                self.fill(dir, &handle);
                self.judge(dir, &handle);
            } else {
                self.judge(dir, &handle);
                self.fill(dir, &handle);
            }
            self.deliver(dir);
            self.collect(dir, children, &mut links);
            if listing == Listing::End || self.run.is_stopped() {
                break;
            }
        }
        if children.len() == first && links.is_empty() {
            return;
        }
        let anchor = match self.run.budget.take() {
            Some(permit) => {
                let entry_depth = dir.entry_depth();
                Some(Arc::new(Anchor { handle, entry_depth, _permit: permit }))
            }
            None => above,
        };
        dir.expect(children.len() - first + links.len());
        for child in &mut children[first..] {
            child.anchor.clone_from(&anchor);
        }
        for mut link in links {
            link.task.anchor.clone_from(&anchor);
            self.run.defer(link);
        }
    }

    /// Returns whether a filter would judge what it does not know: whether an entry is a
    /// directory, or what a link that is followed leads to.
    fn must_ask_first(&self) -> bool {
        let plan = self.run.plan;
        plan.filter.is_some()
            && self.batch.entries().any(|entry| match entry.attributes.file_type() {
                FileType::Unknown => true,
                FileType::Symlink => plan.follow,
                _ => false,
            })
    }

    /// Leaves entries out, by name and type, before anything is asked about them.
    fn judge(&mut self, dir: &DirOf<S>, handle: &R::Handle) {
        if let Some(filter) = &self.run.plan.filter {
            self.relative.clear();
            if !dir.is_top() {
                let mut way: Vec<&OsStr> = dir.ancestors().map(Dir::name).collect();
                way.pop(); // the root itself
                self.relative.extend(way.into_iter().rev());
            }
            let Self { sink, batch, relative, .. } = self;
            batch.judge(|entry| {
                let (verdict, reason) = filter.judge(dir, relative, entry);
                if let Some(reason) = reason {
                    sink.skipped(dir, reason);
                }
                verdict
            });
        }
        if S::JUDGES {
            let Self { sink, batch, .. } = self;
            batch.judge(|entry| match entry.verdict {
                Verdict::Keep => sink.judge(dir, entry),
                verdict => verdict,
            });
        }
        let Self { run, batch, .. } = self;
        if run.roots.are_several()
            && batch.entries().any(|entry| run.roots.may_hold(batch.name(entry)))
        {
            self.drop_roots(dir, handle);
        }
    }

    /// Leaves out what is a root of its own, and counted there. The directory's identity decides,
    /// not its path; the question is rare enough to reopen the directory for it.
    fn drop_roots(&mut self, dir: &DirOf<S>, handle: &R::Handle) {
        let here = OsStr::new(".");
        let id = self
            .reader
            .stat(handle, &[here], FieldMask::FILE_ID, false)
            .ok()
            .and_then(|attributes| attributes.file_id());
        let Self { run, sink, batch, .. } = self;
        batch.judge(|entry| {
            if run.roots.may_hold(entry.name) && run.roots.holds(id, entry.name) {
                sink.skipped(dir, SkipReason::OverlappingRoot);
                return Verdict::Drop;
            }
            entry.verdict
        });
    }

    /// Asks for what is wanted, reports what could not be asked, and removes what vanished.
    fn fill(&mut self, dir: &DirOf<S>, handle: &R::Handle) {
        self.reader.fill(handle, &mut self.batch, &self.run.want);
        let Self { run, sink, batch, counts, .. } = self;
        batch.settle(|name, file_type, fault| match fault {
            Fault::Vanished => sink.vanished(dir, file_type),
            Fault::Failed(error) => {
                counts.errors += 1;
                let path = dir.path_of(name);
                let error = ScanError::new(Operation::Stat, path, dir.entry_depth(), error);
                if sink.error(dir, error) == Flow::Quit {
                    run.quit();
                }
            }
        });
    }

    fn deliver(&mut self, dir: &DirOf<S>) {
        self.counts.entries += self.batch.len() as u64;
        let visit = Visit { dir, batch: &self.batch, follow: self.run.plan.follow };
        if self.sink.visit(visit) == Flow::Quit {
            self.run.quit();
        }
    }

    /// Makes tasks of the directories in the batch.
    fn collect(
        &mut self,
        dir: &DirOf<S>,
        children: &mut Tasks<R, S>,
        links: &mut Vec<Link<R::Handle, S::Tag>>,
    ) {
        let too_deep = dir.entry_depth() >= self.run.plan.max_depth;
        for entry in self.batch.entries() {
            if entry.attributes.file_type() != FileType::Directory || entry.verdict == Verdict::Drop
            {
                continue;
            }
            if too_deep {
                self.sink.skipped(dir, SkipReason::MaxDepth);
            }
            let how = How {
                read: !too_deep && entry.verdict != Verdict::Prune,
                listed: entry.verdict != Verdict::DescendOnly,
                followed: entry.followed,
            };
            let name = self.batch.name(entry).into();
            let task = Task { parent: Arc::clone(dir), anchor: None, name, how };
            match entry.followed {
                true => links.push(Link { task, target: entry.attributes.file_id() }),
                false => children.push(task),
            }
        }
    }

    // ---- the roots: the entries of the top ----

    /// Looks at the roots, delivers them as the entries of the top, and returns the directories
    /// among them.
    pub(super) fn visit_roots(&mut self) -> (DirOf<S>, Tasks<R, S>) {
        let entering = Entering {
            parent: None,
            name: OsStr::new(""),
            own: &Attributes::default(),
            listed: false,
        };
        let top = Dir::top(self.sink.enter(entering));
        let plan = self.run.plan;
        let want = self.run.want.entries | self.run.want.directories;
        self.batch.clear();
        for (index, root) in plan.roots.iter().enumerate() {
            if self.run.roots.is_repeated(index) {
                self.skip(&top, SkipReason::OverlappingRoot);
                continue;
            }
            match self.reader.stat_root(root, want, plan.follow) {
                Ok(attributes) => {
                    let followed = plan.follow && self.is_link(root);
                    self.batch.push(root.as_os_str(), attributes).followed = followed;
                }
                Err(fault) => {
                    self.error(&top, Operation::Stat, root.clone(), 0, fault.into());
                }
            }
        }
        if let Some(filter) = &plan.filter {
            self.batch.judge(|_| filter.judge_root());
        }
        self.deliver(&top);
        let (mut tasks, mut links) = (Vec::new(), Vec::new());
        self.collect(&top, &mut tasks, &mut links);
        top.expect(tasks.len() + links.len());
        links.into_iter().for_each(|link| self.run.defer(link));
        (top, tasks)
    }

    fn is_link(&mut self, root: &Path) -> bool {
        let itself = self.reader.stat_root(root, FieldMask::empty(), false);
        itself.is_ok_and(|itself| itself.file_type() == FileType::Symlink)
    }

    // ---- telling ----

    /// Reports that the attributes of an entry could not be had.
    fn report(&mut self, dir: &DirOf<S>, name: &OsStr, fault: Fault) {
        match fault {
            Fault::Vanished => self.sink.vanished(dir, FileType::Unknown),
            Fault::Failed(error) => {
                self.error(dir, Operation::Stat, dir.path_of(name), dir.entry_depth(), error);
            }
        }
    }

    fn error(
        &mut self,
        dir: &DirOf<S>,
        operation: Operation,
        path: PathBuf,
        depth: u32,
        source: io::Error,
    ) {
        self.counts.errors += 1;
        if self.sink.error(dir, ScanError::new(operation, path, depth, source)) == Flow::Quit {
            self.run.quit();
        }
    }

    pub(super) fn skip(&mut self, dir: &DirOf<S>, reason: SkipReason) {
        self.sink.skipped(dir, reason);
    }

    /// Tells what was counted since the last time; returns the number of entries.
    fn tell_progress(&mut self) -> u32 {
        let bytes = self.sink.bytes();
        self.counts.bytes = bytes - self.bytes_told;
        self.bytes_told = bytes;
        let counts = std::mem::take(&mut self.counts);
        self.run.plan.progress.add(self.id, counts);
        u32::try_from(counts.entries).unwrap_or(u32::MAX)
    }
}
