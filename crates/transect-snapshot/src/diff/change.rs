//! The result of a diff.

use transect::{Attributes, FieldMask};

use crate::read::StoredTotals;
use crate::tree::TreeRows;

/// How two trees are compared.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DiffOptions {
    /// Attributes that are not compared.
    pub ignored: FieldMask,
    /// Compare everything, also below directories of equal digests.
    pub verify: bool,
    /// The maximum number of directories in [`Diff::growth`].
    pub max_growth: usize,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self { ignored: FieldMask::empty(), verify: false, max_growth: 1000 }
    }
}

/// What a tree has of an entry.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The attributes.
    pub attributes: Attributes,
    /// The totals of a directory.
    pub totals: Option<StoredTotals>,
}

impl Facts {
    pub(super) fn of(rows: &TreeRows<'_>) -> Self {
        Self { attributes: rows.attributes_of(FieldMask::all()), totals: rows.totals() }
    }

    /// As [`Facts::of`], for an entry that has the `same` attributes as another one.
    pub(super) fn of_second(rows: &TreeRows<'_>, other: &TreeRows<'_>, same: FieldMask) -> Self {
        let mut attributes = rows.attributes_of(!same);
        attributes.set_from(&other.attributes_of(same));
        Self { attributes, totals: rows.totals() }
    }

    /// Returns the number of entries: itself, and all below it.
    pub fn entries(&self) -> u64 {
        self.totals.map_or(1, |totals| totals.entries)
    }

    /// Returns the allocated bytes in and below the entry.
    pub fn allocated(&self) -> u64 {
        match self.totals {
            Some(totals) => totals.allocated,
            None => self.attributes.allocated().unwrap_or(0),
        }
    }
}

transect_sys::words! {
    /// What happened to an entry.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum ChangeKind {
        /// It is new, with everything below it.
        Added = "added",
        /// It is gone, with everything below it.
        Removed = "removed",
        /// Its attributes changed.
        Modified = "modified",
        /// It has another path; everything below moved with it.
        Renamed = "renamed",
        /// Another type of entry has its name.
        TypeChanged = "type_changed",
        /// A directory could be read before, and not this time: what was in it may still exist.
        Unreadable = "unreadable",
        /// A directory could not be read before: what is in it may have existed.
        Readable = "readable",
    }
}

/// One difference between two trees, as a diff delivers it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// The path, as the system stores it: in the second tree, except for what is gone.
    pub path: Vec<u8>,
    /// The path in the first tree, if it is another.
    pub from: Option<Vec<u8>>,
    /// The entry in the first tree.
    pub before: Option<Facts>,
    /// The entry in the second tree.
    pub after: Option<Facts>,
    /// The attributes that changed.
    pub fields: FieldMask,
    /// Why a directory could not be read.
    pub reason: Option<String>,
    /// Of what was removed or added: entries below it that were moved, and count there.
    pub moved_entries: u64,
}

impl Change {
    pub(super) fn new(kind: ChangeKind, path: Vec<u8>) -> Self {
        Self {
            kind,
            path,
            from: None,
            before: None,
            after: None,
            fields: FieldMask::empty(),
            reason: None,
            moved_entries: 0,
        }
    }

    /// Returns whether the attributes of a directory changed only because its entries did: its size, its
    /// times, or its number of links.
    pub fn is_consequence(&self) -> bool {
        let by_entries =
            FieldMask::SIZE | FieldMask::ALLOCATED | FieldMask::TIMES | FieldMask::NLINK;
        let is_directory = self.after.as_ref().is_some_and(|after| after.totals.is_some());
        self.kind == ChangeKind::Modified && is_directory && by_entries.contains(self.fields)
    }

    /// Returns by how many allocated bytes the tree grew.
    pub fn growth(&self) -> i128 {
        let allocated = |facts: &Option<Facts>| facts.as_ref().map_or(0, Facts::allocated);
        match self.kind {
            ChangeKind::Added | ChangeKind::Removed | ChangeKind::TypeChanged => {
                i128::from(allocated(&self.after)) - i128::from(allocated(&self.before))
            }
            ChangeKind::Modified | ChangeKind::Renamed => {
                let own = |facts: &Option<Facts>| {
                    facts.as_ref().and_then(|facts| facts.attributes.allocated()).unwrap_or(0)
                };
                i128::from(own(&self.after)) - i128::from(own(&self.before))
            }
            ChangeKind::Unreadable | ChangeKind::Readable => 0,
        }
    }
}

/// A directory whose disk usage changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Growth {
    /// The path in the second tree.
    pub path: Vec<u8>,
    /// Allocated bytes before.
    pub before: u64,
    /// Allocated bytes after.
    pub after: u64,
}

impl Growth {
    /// Returns the difference in bytes.
    pub fn difference(&self) -> i128 {
        i128::from(self.after) - i128::from(self.before)
    }
}

/// The numbers of a diff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffSummary {
    /// Entries that are new, without those that moved.
    pub added: u64,
    /// Entries that are gone, without those that moved.
    pub removed: u64,
    /// Entries whose attributes changed.
    pub modified: u64,
    /// Entries and directories that moved, each directory once.
    pub renamed: u64,
    /// Entries of another type.
    pub type_changed: u64,
    /// Directories that could be read before, and not this time.
    pub unreadable: u64,
    /// Directories that could not be read before.
    pub readable: u64,
    /// Allocated bytes in the first tree.
    pub allocated_before: u64,
    /// Allocated bytes in the second tree.
    pub allocated_after: u64,
}

/// What changed between two trees.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Diff {
    /// The changes, sorted by path.
    pub changes: Vec<Change>,
    /// The directories that grew or shrank most, without those in which one subdirectory accounts for
    /// nearly all of it.
    pub growth: Vec<Growth>,
    /// How many entries of each kind changed.
    pub summary: DiffSummary,
}

impl Diff {
    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}
