//! A file system in memory with injected faults, for tests of code that uses readers.
//!
//! It does what a real file system does too rarely to test: it fails at any operation, hides file
//! types, lets entries vanish between listing and query, lists entries that do not exist, and
//! returns a directory in many small batches.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::attributes::{Attributes, FieldMask, FileId, FileType};
use crate::batch::Batch;
use crate::fault::{Fault, Result};
use crate::reader::{ListStatus, Reader, Want};
use crate::volume::Volume;

/// The operation that a fault affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultPoint {
    /// Opening the directory.
    Open,
    /// Listing the directory, after its first batch; from the beginning if the directory is gone.
    List,
    /// Querying the attributes of the entry.
    Stat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultAction {
    Fail(io::ErrorKind),
    /// The entry is gone: it is not found and no longer listed.
    Vanish,
    /// The entry is gone, and another one has its name at the next attempt.
    VanishOnce,
    /// The entry is never found and always listed.
    NeverFind,
}

#[derive(Debug)]
struct Node {
    name: OsString,
    attributes: Attributes,
    children: Vec<usize>,
    by_name: HashMap<OsString, usize>,
}

/// A tree. Node 0 is the root, `/`.
#[derive(Debug)]
pub struct FakeTree {
    nodes: Vec<Node>,
    faults: HashMap<(usize, FaultPoint), FaultAction>,
    /// Number of entries in a batch.
    pub batch: usize,
    /// Listings contain no file types (`DT_UNKNOWN`).
    pub hide_types: bool,
}

impl Default for FakeTree {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeTree {
    /// Returns a tree with only its root.
    pub fn new() -> Self {
        let mut tree =
            Self { nodes: Vec::new(), faults: HashMap::new(), batch: 3, hide_types: false };
        tree.insert("/".into(), FileType::Directory, 0);
        tree
    }

    fn insert(&mut self, name: OsString, file_type: FileType, size: u64) -> usize {
        let mut attributes = Attributes::of_type(file_type);
        attributes.set_size(size);
        attributes.set_allocated(size.next_multiple_of(512));
        attributes.set_nlink(1);
        attributes.set_device(1);
        attributes.set_inode(self.nodes.len() as u64 + 1);
        attributes.set_mtime(0);
        let (children, by_name) = (Vec::new(), HashMap::new());
        self.nodes.push(Node { name, attributes, children, by_name });
        self.nodes.len() - 1
    }

    /// Adds an entry and its missing parents. Directories have a size of 4,096 bytes.
    pub fn add(&mut self, path: &str, file_type: FileType, size: u64) -> &mut Self {
        let mut at = 0;
        let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
        for (depth, step) in steps.iter().enumerate() {
            at = self.child(at, OsStr::new(step)).unwrap_or_else(|| {
                let last = depth + 1 == steps.len();
                let (file_type, size) =
                    if last { (file_type, size) } else { (FileType::Directory, 4096) };
                let child = self.insert(OsString::from(step), file_type, size);
                self.nodes[at].children.push(child);
                self.nodes[at].by_name.insert(OsString::from(step), child);
                child
            });
        }
        self
    }

    /// Changes the attributes of an entry.
    pub fn change(&mut self, path: &str, change: impl FnOnce(&mut Attributes)) -> &mut Self {
        let node = self.find(Path::new(path)).expect("BUG: the path was added before");
        change(&mut self.nodes[node].attributes);
        self
    }

    /// Adds the hard link `path` to the file `of`.
    pub fn link(&mut self, path: &str, of: &str) -> &mut Self {
        let original = self.find(Path::new(of)).expect("BUG: the path was added before");
        let id = self.nodes[original].attributes.file_id().expect("BUG: every node has an id");
        let size = self.nodes[original].attributes.size().unwrap_or(0);
        self.add(path, FileType::File, size);
        self.change(path, |attributes| attributes.set_inode(id.inode));
        let names = self.nodes.iter().filter(|n| n.attributes.file_id() == Some(id)).count();
        for node in &mut self.nodes {
            if node.attributes.file_id() == Some(id) {
                node.attributes.set_nlink(names as u32);
            }
        }
        self
    }

    /// Makes an operation on `path` fail, or find the entry gone if `kind` is `None`.
    pub fn fail(&mut self, path: &str, at: FaultPoint, kind: Option<io::ErrorKind>) -> &mut Self {
        self.set_fault(path, at, kind.map_or(FaultAction::Vanish, FaultAction::Fail))
    }

    /// Makes the first operation on `path` find the entry gone; the next one finds it again.
    pub fn vanish_once(&mut self, path: &str, at: FaultPoint) -> &mut Self {
        self.set_fault(path, at, FaultAction::VanishOnce)
    }

    /// Makes an operation on `path` never find the entry, although its directory always lists it.
    pub fn never_find(&mut self, path: &str, at: FaultPoint) -> &mut Self {
        self.set_fault(path, at, FaultAction::NeverFind)
    }

    fn set_fault(&mut self, path: &str, at: FaultPoint, action: FaultAction) -> &mut Self {
        let node = self.find(Path::new(path)).expect("BUG: the path was added before");
        self.faults.insert((node, at), action);
        self
    }

    fn child(&self, parent: usize, name: &OsStr) -> Option<usize> {
        self.nodes[parent].by_name.get(name).copied()
    }

    fn find(&self, path: &Path) -> Option<usize> {
        path.components().try_fold(0, |at, component| match component {
            Component::Normal(name) => self.child(at, name),
            _ => Some(at),
        })
    }
}

/// What happened to the tree so far, shared by the readers of one walk.
#[derive(Debug, Default)]
pub struct FaultState {
    /// Entries whose fault was triggered.
    triggered: Mutex<HashSet<usize>>,
}

impl FaultState {
    fn triggered(&self) -> MutexGuard<'_, HashSet<usize>> {
        self.triggered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open directory of a [`FakeTree`].
#[derive(Debug)]
pub struct FakeHandle {
    node: usize,
    volume: Volume,
    /// Counts this handle as open until it is dropped.
    _open: Arc<FaultState>,
}

/// Reads a [`FakeTree`].
#[derive(Debug)]
pub struct FakeReader {
    tree: Arc<FakeTree>,
    state: Arc<FaultState>,
    /// Number of entries already returned of the directory that is being listed.
    listed: usize,
}

impl FakeReader {
    /// Returns a reader of `tree`. Each handle that it opens holds one reference to `state`.
    pub fn new(tree: Arc<FakeTree>, state: Arc<FaultState>) -> Self {
        Self { tree, state, listed: 0 }
    }

    fn handle(&mut self, node: usize) -> Result<FakeHandle> {
        self.check(node, FaultPoint::Open)?;
        self.listed = 0;
        Ok(FakeHandle { node, volume: Volume::default(), _open: Arc::clone(&self.state) })
    }

    fn descend(&self, anchor: &FakeHandle, steps: &[&OsStr]) -> Result<usize> {
        let step = |at, step: &&OsStr| {
            self.tree.child(at, step).filter(|&child| !self.is_gone(child)).ok_or(Fault::Vanished)
        };
        steps.iter().try_fold(anchor.node, step)
    }

    fn check(&self, node: usize, at: FaultPoint) -> Result<()> {
        match self.tree.faults.get(&(node, at)) {
            None => Ok(()),
            Some(FaultAction::Fail(kind)) => Err(Fault::Failed((*kind).into())),
            Some(FaultAction::VanishOnce) if !self.state.triggered().insert(node) => Ok(()),
            Some(_) => {
                self.state.triggered().insert(node);
                Err(Fault::Vanished)
            }
        }
    }

    /// Returns whether an entry has vanished.
    fn is_gone(&self, node: usize) -> bool {
        let vanishes =
            |&at: &FaultPoint| self.tree.faults.get(&(node, at)) == Some(&FaultAction::Vanish);
        !self.tree.faults.is_empty()
            && [FaultPoint::Open, FaultPoint::List, FaultPoint::Stat].iter().any(vanishes)
            && self.state.triggered().contains(&node)
    }

    fn root(&self, path: &Path) -> Result<usize> {
        self.tree.find(path).ok_or_else(|| Fault::Failed(io::ErrorKind::NotFound.into()))
    }
}

impl Reader for FakeReader {
    type Handle = FakeHandle;

    fn stat_root(&mut self, path: &Path, _: FieldMask, _: bool) -> Result<Attributes> {
        let node = self.root(path)?;
        self.check(node, FaultPoint::Stat)?;
        Ok(self.tree.nodes[node].attributes)
    }

    fn open_root(&mut self, path: &Path, _: bool) -> Result<FakeHandle> {
        let node = self.root(path)?;
        self.handle(node)
    }

    fn open(&mut self, anchor: &FakeHandle, steps: &[&OsStr], _: bool) -> Result<FakeHandle> {
        let node = self.descend(anchor, steps)?;
        self.handle(node)
    }

    fn stat_open(&mut self, handle: &mut FakeHandle, _: FieldMask) -> Result<Attributes> {
        let attributes = self.tree.nodes[handle.node].attributes;
        handle.volume.device = attributes.file_id().map(|FileId { device, .. }| device);
        Ok(attributes)
    }

    fn stat(
        &mut self,
        anchor: &FakeHandle,
        steps: &[&OsStr],
        _: FieldMask,
        _: bool,
    ) -> Result<Attributes> {
        let node = self.descend(anchor, steps)?;
        self.check(node, FaultPoint::Stat)?;
        Ok(self.tree.nodes[node].attributes)
    }

    fn list(&mut self, handle: &FakeHandle, batch: &mut Batch, _: &Want) -> Result<ListStatus> {
        batch.clear();
        let fault = self.tree.faults.get(&(handle.node, FaultPoint::List));
        if self.listed > 0
            || matches!(fault, Some(action) if !matches!(action, FaultAction::Fail(_)))
        {
            self.check(handle.node, FaultPoint::List)?;
        }
        let tree = Arc::clone(&self.tree);
        let rest = &tree.nodes[handle.node].children[self.listed..];
        let batch_end = rest.len().min(tree.batch);
        for &child in rest[..batch_end].iter().filter(|&&child| !self.is_gone(child)) {
            let node = &self.tree.nodes[child];
            let file_type = match self.tree.hide_types {
                true => FileType::Unknown,
                false => node.attributes.file_type(),
            };
            let mut free = Attributes::of_type(file_type);
            free.set_known(Attributes::set_attribute_bits, node.attributes.attribute_bits());
            batch.push(&node.name, free);
        }
        self.listed += batch_end;
        Ok(if rest.len() > batch_end { ListStatus::More } else { ListStatus::End })
    }

    fn fill(&mut self, handle: &FakeHandle, batch: &mut Batch, want: &Want) {
        for index in 0..batch.entries.len() {
            let entry = &batch.entries[index];
            let wanted = match entry.attributes.file_type() {
                FileType::Unknown => FieldMask::all(),
                FileType::Directory => want.directories,
                _ => want.entries,
            };
            if wanted.is_empty() {
                continue;
            }
            let child = self
                .tree
                .child(handle.node, batch.name(entry))
                .expect("BUG: the name was listed from this node");
            match self.check(child, FaultPoint::Stat) {
                Err(fault) => batch.set_fault(index, fault),
                Ok(()) => {
                    let entry = &mut batch.entries[index];
                    entry.attributes = self.tree.nodes[child].attributes;
                    entry.drop_unless_directory();
                }
            }
        }
    }

    fn shares_queries(_: &FakeHandle) -> bool {
        true
    }

    fn volume(handle: &FakeHandle) -> Volume {
        handle.volume
    }
}
