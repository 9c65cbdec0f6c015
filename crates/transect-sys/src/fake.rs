//! A file system in memory, with faults: for the tests of whoever walks readers.
//!
//! It can do what a real one does too rarely to test: fail at any operation, hide file types,
//! let entries vanish between listing and asking, deliver a directory in many small batches.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;

use crate::attributes::{Attributes, FieldMask, FileId, FileType};
use crate::batch::{Batch, Verdict};
use crate::fault::Fault;
use crate::reader::{Listing, Reader, Want};
use crate::volume::Volume;

/// Where a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum At {
    /// Opening the directory.
    Open,
    /// Listing the directory, after its first batch.
    List,
    /// Asking for the attributes of the entry.
    Stat,
}

#[derive(Debug)]
struct Node {
    name: OsString,
    attributes: Attributes,
    children: Vec<usize>,
    by_name: HashMap<OsString, usize>,
}

/// The tree. Node 0 is the root, `/`.
#[derive(Debug)]
pub struct FakeTree {
    nodes: Vec<Node>,
    faults: HashMap<(usize, At), Option<io::ErrorKind>>,
    /// Entries in a batch.
    pub batch: usize,
    /// Listings do not tell file types (`DT_UNKNOWN`).
    pub hide_types: bool,
}

impl Default for FakeTree {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeTree {
    /// Returns a tree that holds its root and nothing else.
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

    /// Adds an entry and the directories above it. Directories are 4,096 bytes long.
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

    /// Gives an entry attributes of its own.
    pub fn change(&mut self, path: &str, change: impl FnOnce(&mut Attributes)) -> &mut Self {
        let node = self.find(Path::new(path)).expect("BUG: the path was added before");
        change(&mut self.nodes[node].attributes);
        self
    }

    /// Makes `path` a further name of the file `of`.
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

    /// Makes an operation on `path` fail; `None` makes it find the entry gone.
    pub fn fail(&mut self, path: &str, at: At, kind: Option<io::ErrorKind>) -> &mut Self {
        let node = self.find(Path::new(path)).expect("BUG: the path was added before");
        self.faults.insert((node, at), kind);
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

    fn check(&self, node: usize, at: At) -> Result<(), Fault> {
        match self.faults.get(&(node, at)) {
            None => Ok(()),
            Some(None) => Err(Fault::Vanished),
            Some(Some(kind)) => Err(Fault::Failed((*kind).into())),
        }
    }
}

/// An open directory of a [`FakeTree`].
#[derive(Debug)]
pub struct FakeHandle {
    node: usize,
    volume: Volume,
    /// Kept for counting: a handle that is dropped is closed.
    _open: Arc<()>,
}

/// Reads a [`FakeTree`].
#[derive(Debug)]
pub struct FakeReader {
    tree: Arc<FakeTree>,
    open: Arc<()>,
    /// How many entries of the directory being listed were delivered.
    listed: usize,
}

impl FakeReader {
    /// Returns a reader of `tree`. Every handle it opens holds one more count of `open`.
    pub fn new(tree: Arc<FakeTree>, open: Arc<()>) -> Self {
        Self { tree, open, listed: 0 }
    }

    fn handle(&mut self, node: usize) -> Result<FakeHandle, Fault> {
        self.tree.check(node, At::Open)?;
        self.listed = 0;
        Ok(FakeHandle { node, volume: Volume::default(), _open: Arc::clone(&self.open) })
    }

    fn descend(&self, anchor: &FakeHandle, steps: &[&OsStr]) -> Result<usize, Fault> {
        let mut steps = steps.iter();
        steps.try_fold(anchor.node, |at, step| self.tree.child(at, step)).ok_or(Fault::Vanished)
    }

    fn root(&self, path: &Path) -> Result<usize, Fault> {
        self.tree.find(path).ok_or_else(|| Fault::Failed(io::ErrorKind::NotFound.into()))
    }
}

impl Reader for FakeReader {
    type Handle = FakeHandle;

    fn stat_root(&mut self, path: &Path, _: FieldMask, _: bool) -> Result<Attributes, Fault> {
        let node = self.root(path)?;
        self.tree.check(node, At::Stat)?;
        Ok(self.tree.nodes[node].attributes)
    }

    fn open_root(&mut self, path: &Path, _: bool) -> Result<FakeHandle, Fault> {
        let node = self.root(path)?;
        self.handle(node)
    }

    fn open(
        &mut self,
        anchor: &FakeHandle,
        steps: &[&OsStr],
        _: bool,
    ) -> Result<FakeHandle, Fault> {
        let node = self.descend(anchor, steps)?;
        self.handle(node)
    }

    fn stat_open(&mut self, handle: &mut FakeHandle, _: FieldMask) -> Result<Attributes, Fault> {
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
    ) -> Result<Attributes, Fault> {
        let node = self.descend(anchor, steps)?;
        self.tree.check(node, At::Stat)?;
        Ok(self.tree.nodes[node].attributes)
    }

    fn list(&mut self, handle: &FakeHandle, batch: &mut Batch, _: &Want) -> Result<Listing, Fault> {
        batch.clear();
        if self.listed > 0 {
            self.tree.check(handle.node, At::List)?;
        }
        let rest = &self.tree.nodes[handle.node].children[self.listed..];
        for &child in rest.iter().take(self.tree.batch) {
            let node = &self.tree.nodes[child];
            let file_type = match self.tree.hide_types {
                true => FileType::Unknown,
                false => node.attributes.file_type(),
            };
            let mut free = Attributes::of_type(file_type);
            if let Some(bits) = node.attributes.attribute_bits() {
                free.set_attribute_bits(bits);
            }
            batch.push(&node.name, free);
        }
        self.listed += batch.len();
        Ok(if rest.len() > batch.len() { Listing::More } else { Listing::End })
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
            match self.tree.check(child, At::Stat) {
                Err(fault) => batch.set_fault(index, fault),
                Ok(()) => {
                    let entry = &mut batch.entries[index];
                    entry.attributes = self.tree.nodes[child].attributes;
                    if entry.verdict == Verdict::DescendOnly
                        && entry.attributes.file_type() != FileType::Directory
                    {
                        entry.verdict = Verdict::Drop;
                    }
                }
            }
        }
    }

    fn volume(handle: &FakeHandle) -> Volume {
        handle.volume
    }
}
