//! The reader that lists only directories that changed.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use transect::{Attributes, FieldMask, FileType};
use transect_sys::{Batch, Fault, ListStatus, Reader, Volume, Want};

use super::baseline::{Baseline, PROOF};

/// The number of entries in one batch.
const BATCH: usize = 4096;

/// The longest path in bytes that is queried as a whole; directories below are opened step by step.
const MAX_PATH: usize = 3000;

/// Reads directories that changed with another reader, and returns the others from a snapshot.
#[derive(Debug)]
pub struct SinceReader<R> {
    inner: R,
    base: Arc<Baseline>,
    /// What is queried of directories.
    fields: FieldMask,
    /// The directory that is being listed from the snapshot, and the next row.
    next: Option<(u32, u32)>,
    /// Whether the last batch comes from the system.
    is_listed: bool,
    /// Whether the last batch has an entry whose attributes could not be queried.
    is_incomplete: bool,
}

impl<R: Reader> SinceReader<R> {
    /// Returns a reader. `fields` are the attributes of directories that the walk is going to want.
    pub fn new(inner: R, base: Arc<Baseline>, fields: FieldMask) -> Self {
        Self {
            inner,
            base,
            fields: fields | PROOF,
            next: None,
            is_listed: true,
            is_incomplete: false,
        }
    }

    /// Opens a directory below another one with the inner reader.
    fn open_real(
        &mut self,
        anchor: &SinceHandle<R::Handle>,
        steps: &[&OsStr],
        follow: bool,
    ) -> Result<R::Handle, Fault> {
        if let Some(real) = anchor.real.get() {
            return self.inner.open(real, steps, follow);
        }
        let root = self.inner.open_root(&anchor.root, false)?;
        let above = anchor.path.strip_prefix(&anchor.root);
        let above = above.expect("BUG: the path begins with its root");
        let steps: Vec<&OsStr> = above.iter().chain(steps.iter().copied()).collect();
        if steps.is_empty() {
            return Ok(root);
        }
        self.inner.open(&root, &steps, follow)
    }

    /// Returns whether names lead to the directories that they led to in the snapshot: the file system reports no change
    /// of the directories before the last one.
    fn leads_to_same(&self, anchor: &SinceHandle<R::Handle>, steps: &[&OsStr]) -> bool {
        let Some((_, above)) = steps.split_last() else { return false };
        let (mut at, mut is_same) = (anchor.stored, anchor.is_same);
        for name in above {
            at = at.and_then(|at| self.base.child(at, name));
            is_same &=
                at.is_some_and(|at| self.base.current_directory(at, FieldMask::FILE_ID).is_some());
        }
        is_same && self.base.knows_changes()
    }

    /// Returns the handle of a directory for listing by the inner reader.
    fn real<'h>(&mut self, handle: &'h SinceHandle<R::Handle>) -> Result<&'h R::Handle, Fault> {
        if handle.real.get().is_none() {
            let mut real = self.open_real(handle, &[], false)?;
            let _ = self.inner.stat_open(&mut real, PROOF)?;
            let _ = handle.real.set(real);
        }
        Ok(handle.real.get().expect("BUG: it was just opened"))
    }

    /// Queries an entry that is not a directory; returns `None` if it is gone.
    fn query(&mut self, path: &Path, file_type: FileType, wanted: FieldMask) -> Option<Attributes> {
        match self.inner.stat_root(path, wanted, false) {
            Ok(attributes) => Some(attributes),
            Err(Fault::Failed(error)) if error.kind() != io::ErrorKind::NotFound => {
                // The reader of the system reports it.
                self.is_incomplete = true;
                Some(Attributes::of_type(file_type))
            }
            Err(_) => None,
        }
    }

    /// Fills a batch from the snapshot.
    fn list_stored(
        &mut self,
        number: u32,
        handle: &SinceHandle<R::Handle>,
        batch: &mut Batch,
        want: &Want,
    ) -> ListStatus {
        let base = Arc::clone(&self.base);
        let rows = base.rows(number);
        let mut row = match self.next.take() {
            Some((of, row)) if of == number => row,
            _ => rows.start,
        };
        batch.clear();
        self.is_incomplete = false;
        let is_first = row == rows.start;
        let mut entries = 0;
        while row < rows.end && batch.len() < BATCH {
            let file_type = base.file_type(row);
            let name = base.name(row);
            let is_directory = file_type == FileType::Directory;
            let (wanted, opportunistic) = match is_directory {
                true => (want.directories, FieldMask::empty()),
                false => (want.entries, want.opportunistic),
            };
            let attributes = if let Some(current) = base.current(row, wanted, opportunistic) {
                entries += u64::from(!is_directory);
                Some(current)
            } else if is_directory && !want.directories.is_empty() {
                // Only the times of directories prove that nothing changed.
                self.inner.stat_root(&handle.path.join(&name), want.directories, false).ok()
            } else if is_directory || !base.inherits_attributes() {
                Some(Attributes::of_type(file_type))
            } else if base.knows_changes() {
                self.query(&handle.path.join(&name), file_type, wanted | opportunistic)
            } else {
                entries += 1;
                Some(base.attributes(row, wanted | opportunistic))
            };
            if let Some(attributes) = attributes {
                batch.push(&name, attributes);
            }
            row = base.behind(row);
        }
        base.count(is_first, entries);
        if row < rows.end {
            self.next = Some((number, row));
            return ListStatus::More;
        }
        ListStatus::End
    }
}

/// An open directory of a [`SinceReader`]: unless it changed, it is not open at all.
pub struct SinceHandle<H> {
    root: Arc<Path>,
    /// The path: the root, and what is below it.
    path: PathBuf,
    /// The directory of the snapshot with this path.
    stored: Option<u32>,
    /// Whether it is the same, with the same entries.
    is_same: bool,
    /// Its attributes, if they were queried.
    own: Option<Attributes>,
    real: OnceLock<H>,
    volume: Volume,
}

impl<H> fmt::Debug for SinceHandle<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, is_same, .. } = self;
        write!(f, "SinceHandle({}, same: {is_same})", path.display())
    }
}

impl<H> SinceHandle<H> {
    /// Returns the path of an entry below the directory.
    fn join(&self, steps: &[&OsStr]) -> PathBuf {
        let length: usize = steps.iter().map(|step| step.len() + 1).sum();
        let mut path = PathBuf::with_capacity(self.path.as_os_str().len() + length);
        path.push(&self.path);
        path.extend(steps);
        path
    }
}

impl<R: Reader> Reader for SinceReader<R> {
    type Handle = SinceHandle<R::Handle>;

    fn stat_root(
        &mut self,
        path: &Path,
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault> {
        self.inner.stat_root(path, want, follow)
    }

    /// Opens the root: it yields the volume that others are compared with.
    fn open_root(&mut self, path: &Path, follow: bool) -> Result<Self::Handle, Fault> {
        let mut real = self.inner.open_root(path, follow)?;
        let own = self.inner.stat_open(&mut real, self.fields)?;
        let stored = self.base.root(path);
        Ok(SinceHandle {
            root: path.into(),
            path: path.to_owned(),
            is_same: stored.is_some_and(|it| self.base.is_same(it, &own)),
            stored,
            own: Some(own),
            volume: R::volume(&real),
            real: OnceLock::from(real),
        })
    }

    fn open(
        &mut self,
        anchor: &Self::Handle,
        steps: &[&OsStr],
        follow: bool,
    ) -> Result<Self::Handle, Fault> {
        let child = |of: Option<u32>, name: &&OsStr| self.base.child(of?, name);
        let stored = steps.iter().fold(anchor.stored, child);
        let mut handle = SinceHandle {
            root: Arc::clone(&anchor.root),
            path: anchor.join(steps),
            stored,
            is_same: false,
            own: None,
            real: OnceLock::new(),
            volume: anchor.volume,
        };
        let candidate = stored.filter(|&it| !follow && self.base.is_reusable(it));
        let is_short = handle.path.as_os_str().len() <= MAX_PATH;
        if let Some(number) = candidate.filter(|_| is_short && self.leads_to_same(anchor, steps)) {
            handle.own = self.base.current_directory(number, self.fields);
            handle.is_same = handle.own.is_some();
            if handle.is_same {
                return Ok(handle);
            }
        }
        if let Some(number) = candidate.filter(|_| self.base.inherits_attributes())
            && is_short
            && let Ok(own) = self.inner.stat_root(&handle.path, self.fields, false)
            && self.base.is_same(number, &own)
            && own.device() == anchor.volume.device
        {
            (handle.is_same, handle.own) = (true, Some(own));
            return Ok(handle);
        }
        let mut real = self.open_real(anchor, steps, follow)?;
        if let Some(number) = candidate.filter(|_| !self.base.inherits_attributes()) {
            let own = self.inner.stat_open(&mut real, self.fields)?;
            handle.is_same = self.base.is_same(number, &own);
            handle.own = Some(own);
        }
        handle.volume = R::volume(&real);
        handle.real = OnceLock::from(real);
        Ok(handle)
    }

    fn stat_open(
        &mut self,
        handle: &mut Self::Handle,
        want: FieldMask,
    ) -> Result<Attributes, Fault> {
        // What the system does not report would be queried again for each directory.
        let needed = want - self.base.never_reported();
        if let Some(own) = handle.own.filter(|own| own.known().contains(needed)) {
            return Ok(own);
        }
        match handle.real.get_mut() {
            Some(real) => {
                let own = self.inner.stat_open(real, want)?;
                handle.volume = R::volume(real);
                Ok(own)
            }
            None => self.inner.stat_root(&handle.path, want, false),
        }
    }

    fn stat(
        &mut self,
        anchor: &Self::Handle,
        steps: &[&OsStr],
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault> {
        if let Some(real) = anchor.real.get() {
            return self.inner.stat(real, steps, want, follow);
        }
        let path = anchor.join(steps);
        self.inner.stat_root(&path, want, follow).map_err(|fault| match fault {
            Fault::Failed(error) if error.kind() == io::ErrorKind::NotFound => Fault::Vanished,
            fault => fault,
        })
    }

    fn list(
        &mut self,
        handle: &Self::Handle,
        batch: &mut Batch,
        want: &Want,
    ) -> Result<ListStatus, Fault> {
        let stored = handle.stored.filter(|&number| {
            let inherits = self.base.inherits_attributes();
            let needs = if inherits { want.entries } else { FieldMask::empty() };
            // On Windows a listing contains the attributes: it is the cheapest way to query them.
            let is_useful = !cfg!(windows) || inherits;
            handle.is_same && is_useful && self.base.knows(number, needs)
        });
        self.is_listed = stored.is_none();
        match stored {
            Some(number) => Ok(self.list_stored(number, handle, batch, want)),
            None => {
                let real = self.real(handle)?;
                self.inner.list(real, batch, want)
            }
        }
    }

    fn fill(&mut self, handle: &Self::Handle, batch: &mut Batch, want: &Want) {
        if !self.is_listed && self.base.inherits_attributes() {
            if self.is_incomplete
                && let Ok(real) = self.real(handle)
            {
                self.inner.fill(real, batch, want);
            }
            return;
        }
        if let Some(real) = handle.real.get() {
            self.inner.fill(real, batch, want);
        }
    }

    fn volume(handle: &Self::Handle) -> Volume {
        handle.volume
    }

    fn may_be_mount_point(handle: &Self::Handle) -> bool {
        match handle.real.get() {
            Some(real) => R::may_be_mount_point(real),
            // It is on the device of its parent, and has the file id that it had below it.
            None => false,
        }
    }
}
