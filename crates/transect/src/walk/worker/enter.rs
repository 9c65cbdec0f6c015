//! Entering a directory: open it, query its attributes, decide whether to read it.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

use transect_sys::{Attributes, Fault, FieldMask, FileId, FileType, Reader, Volume};

use super::{EnteredDir, TaskOf, Worker};
use crate::dir::{Dir, DirContext};
use crate::error::Operation;
use crate::sink::{Entering, Omission, SkipReason};
use crate::walk::task::{Task, TaskFlags};

impl<R: Reader> Worker<'_, R> {
    /// Enters a directory; `None` if it is gone or was read before.
    pub(super) fn enter(&mut self, task: &mut TaskOf<R>) -> Option<EnteredDir<R>> {
        if !task.flags.read {
            let mut own = self.stat_or_report(task)?;
            let volume = task.parent.volume;
            if self.shared.plan.options.same_file_system && own.device() != volume.device {
                // Either unknown, or the attributes of another file system's root.
                own = Attributes::of_type(FileType::Directory);
            }
            let dir = self.new_dir(task, volume, &own);
            return Some(EnteredDir { dir, handle: None });
        }
        match self.open(task) {
            Err(Fault::Vanished) => {
                self.note_missing(&task.parent, &task.name, FileType::Directory);
                None
            }
            Err(Fault::Failed(error)) => self.enter_unreadable(task, error),
            Ok(handle) => self.enter_open(task, handle),
        }
    }

    /// Opens a directory relative to its parent, or to the nearest ancestor that is open.
    pub(super) fn open(&mut self, task: &TaskOf<R>) -> Result<R::Handle, Fault> {
        let shared = self.shared;
        shared.budget.with_descriptor(|| match task.parent.is_top() {
            true => self.reader.open_root(Path::new(&task.name), shared.plan.options.follow_links),
            false => self.call_from_anchor(task, |reader, anchor, steps| {
                reader.open(anchor, steps, task.flags.followed)
            }),
        })
    }

    /// Calls `call` with the nearest open ancestor of a task and the names from there to the task.
    fn call_from_anchor<T>(
        &mut self,
        task: &TaskOf<R>,
        call: impl FnOnce(&mut R, &R::Handle, &[&OsStr]) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let nearest = task.anchor.as_deref();
        if let Some(anchor) = nearest.filter(|a| a.entry_depth == task.parent.entry_depth()) {
            return call(&mut self.reader, &anchor.handle, &[&task.name]);
        }
        let Some(anchor) = nearest else {
            let root = task.parent.ancestors().last().map_or(OsStr::new("."), Dir::name);
            let root =
                self.reader.open_root(Path::new(root), self.shared.plan.options.follow_links)?;
            // Entries of the root have depth 1.
            return self.call_from_handle(task, &root, 1, call);
        };
        self.call_from_handle(task, &anchor.handle, anchor.entry_depth, call)
    }

    /// Calls `call` with an open directory and the names from there to a task. `start` is open, and
    /// its entries have depth `depth`.
    fn call_from_handle<T>(
        &mut self,
        task: &TaskOf<R>,
        start: &R::Handle,
        depth: u32,
        call: impl FnOnce(&mut R, &R::Handle, &[&OsStr]) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let dirs = task.parent.ancestors().take_while(|dir| dir.entry_depth() > depth);
        let mut dirs: Vec<&Dir> = dirs.collect();
        dirs.reverse();
        let mut handle: Option<R::Handle> = None;
        let mut steps: Vec<&OsStr> = Vec::with_capacity(dirs.len() + 1);
        for dir in dirs {
            steps.push(dir.name());
            // Readers follow links only at the end of a path.
            if dir.followed {
                handle = Some(self.reader.open(handle.as_ref().unwrap_or(start), &steps, true)?);
                steps.clear();
            }
        }
        steps.push(&task.name);
        call(&mut self.reader, handle.as_ref().unwrap_or(start), &steps)
    }

    /// Enters an open directory, unless it lies beyond a boundary or was read before.
    fn enter_open(&mut self, task: &mut TaskOf<R>, mut handle: R::Handle) -> Option<EnteredDir<R>> {
        let mut want = self.shared.want.opened;
        if task.parent.is_top() || self.shared.may_be_mount_point(&task.name) {
            want |= FieldMask::DEVICE | FieldMask::FILE_ID;
        }
        let mut own = Attributes::of_type(FileType::Directory);
        if !want.is_empty() {
            match self.reader.stat_open(&mut handle, want) {
                Ok(attributes) => own = attributes,
                Err(fault) => self.report_stat_fault(&task.parent, &task.name, fault),
            }
        }
        let volume = R::volume(&handle);
        if let Some(reason) = self.boundary_reason(task, volume) {
            // The mount point is an entry of its parent; the mounted root is not queried.
            let dir = self.new_dir(task, task.parent.volume, &Attributes::default());
            self.omit(&dir, reason);
            return Some(EnteredDir { dir, handle: None });
        }
        if R::may_be_mount_point(&handle) && self.is_mounted_ancestor(task, own.file_id()) {
            self.omit(&task.parent, Omission::of_entry(&task.name, SkipReason::Loop));
            return None;
        }
        let options = &self.shared.plan.options;
        let revisited = options.follow_links
            && !options.every_link
            && !task.flags.followed
            && !self.shared.mark_seen(own.file_id());
        if revisited {
            let reason = SkipReason::for_revisit(&task.parent, own.file_id());
            self.omit(&task.parent, Omission::of_entry(&task.name, reason));
            return None;
        }
        let dir = self.new_dir(task, volume, &own);
        self.counts.directories += 1;
        Some(EnteredDir { dir, handle: Some(handle) })
    }

    /// Returns whether a directory is one of its own ancestors, bind-mounted below itself: reading
    /// it would count everything again. If the walk needs no attributes of directories, the
    /// identities of the ancestors are queried only here.
    fn is_mounted_ancestor(&mut self, task: &TaskOf<R>, id: Option<FileId>) -> bool {
        let Some(id) = id else { return false };
        task.parent.ancestors().any(|dir| match dir.id {
            Some(known) => known == id,
            None => self.query_identity(dir) == Some(id),
        })
    }

    fn query_identity(&mut self, dir: &Dir) -> Option<FileId> {
        let parent = Arc::clone(dir.parent()?);
        let flags = TaskFlags { followed: dir.followed, ..TaskFlags::default() };
        let task = Task { parent, anchor: None, name: dir.name().into(), flags };
        self.stat_unopened(&task, FieldMask::FILE_ID).ok()?.file_id()
    }

    /// Returns why a directory on another file system is not read; `None` if it is read.
    fn boundary_reason(&self, task: &TaskOf<R>, volume: Volume) -> Option<SkipReason> {
        let above = task.parent.volume;
        if task.parent.is_top() || volume.device == above.device {
            return None;
        }
        if self.shared.plan.options.same_file_system {
            return Some(SkipReason::MountBoundary);
        }
        let pseudo =
            volume.pseudo && !above.pseudo && !self.shared.plan.options.pseudo_file_systems;
        pseudo.then_some(SkipReason::PseudoFileSystem)
    }

    /// Enters a directory that cannot be opened: it still counts, with its own size.
    fn enter_unreadable(
        &mut self,
        task: &mut TaskOf<R>,
        error: io::Error,
    ) -> Option<EnteredDir<R>> {
        let own = match self.stat_unopened(task, self.shared.want.opened) {
            Err(Fault::Vanished) => {
                self.note_missing(&task.parent, &task.name, FileType::Directory);
                return None;
            }
            // The directory is reported as an error already.
            Err(Fault::Failed(_)) => Attributes::of_type(FileType::Directory),
            Ok(own) => own,
        };
        let dir = self.new_dir(task, task.parent.volume, &own);
        self.error(&dir, Operation::OpenDirectory, dir.path(), task.parent.entry_depth(), error);
        Some(EnteredDir { dir, handle: None })
    }

    fn stat_or_report(&mut self, task: &TaskOf<R>) -> Option<Attributes> {
        match self.stat_unopened(task, self.shared.want.opened) {
            Ok(own) => Some(own),
            Err(Fault::Vanished) => {
                self.note_missing(&task.parent, &task.name, FileType::Directory);
                None
            }
            Err(fault) => {
                self.report_stat_fault(&task.parent, &task.name, fault);
                Some(Attributes::of_type(FileType::Directory))
            }
        }
    }

    fn stat_unopened(&mut self, task: &TaskOf<R>, want: FieldMask) -> Result<Attributes, Fault> {
        if want.is_empty() {
            return Ok(Attributes::of_type(FileType::Directory));
        }
        if task.parent.is_top() {
            return self.reader.stat_root(
                Path::new(&task.name),
                want,
                self.shared.plan.options.follow_links,
            );
        }
        let follow = task.flags.followed;
        self.call_from_anchor(task, |reader, anchor, steps| {
            reader.stat(anchor, steps, want, follow)
        })
    }

    /// Makes the directory of a task, which gives its name away.
    fn new_dir(&mut self, task: &mut TaskOf<R>, volume: Volume, own: &Attributes) -> Arc<Dir> {
        let Task { parent, name, flags: TaskFlags { listed, followed, .. }, .. } = task;
        let (listed, followed) = (*listed, *followed);
        let tag = self.sink.enter(Entering { parent: Some(parent), name, attributes: own, listed });
        let context = DirContext { volume, id: own.file_id(), followed };
        Dir::new(Some(Arc::clone(parent)), std::mem::take(name), context, tag)
    }
}
