//! A table while it is being filled: the directories known so far, with their totals and large files.
//!
//! ```text
//! sink of a thread ── directory begins: name, own attributes ──────────────┐
//!                  ── directory read: totals of its entries, large files ──┴─► update ─┐
//! sink of a thread ──────────────────────────────────────────────────────────► update ─┴─► known tree ─► table
//! ```
//!
//! Each thread writes into an update of its own. A reader takes those of all threads; a thread
//! waits only while its own is taken, which is an exchange of two pointers. The known tree keeps
//! the updates taken so far, so the next table costs a copy of what has rows, not another walk.

use std::ffi::OsStr;
use std::mem;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use transect_sys::{Attributes, FieldMask};

use super::base::Base;
use super::columns::{Chunk, Rows};
use super::directories::{Directories, Directory, SubtreeTotals, UnreadReason};
use super::hard_links::HardLinkIndex;
use super::rank_bitmap::RankBitmap;
use super::{Row, Table, finish};
use crate::error::Error;
use crate::lock::lock;
use crate::sink::{Diagnostics, Omission};

/// Files of at least this size have rows: few of all files, with most of the bytes.
pub(super) const LARGE_FILE: u64 = 64 << 10;

/// A view of a table that is being filled.
///
/// Pass it to the builder ([`TableBuilder::partial_table`](super::TableBuilder::partial_table)) and
/// call [`table`](Self::table) at any time, from any thread. Clones view the same walk. When all of
/// them are dropped, the walk continues and stores nothing for them.
///
/// ```
/// use transect::{FieldMask, ScanOptions};
/// use transect::table::{PartialTable, TableBuilder};
///
/// let partial = PartialTable::new();
/// let builder = TableBuilder::new(FieldMask::MTIME).partial_table(&partial);
/// let plan = ScanOptions::new(["src"]).plan()?;
/// let finished = std::thread::scope(|scope| {
///     let walk = scope.spawn(|| plan.run(|| builder.sink())?.sink.into_table());
///     println!("{} files so far", partial.table()?.grand_total().files);
///     walk.join().expect("the walk does not panic")
/// })?;
/// assert_eq!(partial.table()?.grand_total().files, finished.grand_total().files);
/// # Ok::<(), transect::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PartialTable(Arc<PartialState>);

impl PartialTable {
    /// Returns an empty view, until it is passed to a builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the directories known so far, as a table.
    ///
    /// It has rows for directories, from the moment they are entered. Once all entries of a directory
    /// have been read, its totals include them, and its large files have rows. [`Table::unlisted`]
    /// returns the totals of the entries without rows. The texts of errors are not included.
    ///
    /// Totals only grow, up to those of the finished table. Files with several names have no rows, and
    /// their bytes are missing until the end, because only then is it known which name they are charged to. Where
    /// link counts are unknown (Windows), or links are followed, such bytes count at each name, and
    /// the finished table may have less.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`] if there are more directories and large files than a table can hold.
    pub fn table(&self) -> Result<Table, Error> {
        let mut known = lock(&self.0.known);
        for update in self.take_updates() {
            known.add(update);
        }
        known.table()
    }

    /// Returns a view that no walk fills: of these directories, a directory before those in it.
    #[doc(hidden)]
    pub fn of<'n>(
        columns: FieldMask,
        directories: impl IntoIterator<Item = PartialDirectory<'n>>,
    ) -> Self {
        // The top has number 0.
        let number = |index: u32| index + 1;
        let start = |number, parent, totals| DirectoryStart { number, parent, totals };
        let mut update = Update::default();
        update.starts.push(start(0, Directory::TOP, SubtreeTotals::default()));
        update.own.push(columns, OsStr::new(""), &Attributes::default());
        for (index, PartialDirectory { parent, name, own, unlisted }) in (0..).zip(directories) {
            let totals = SubtreeTotals::of_entry(&own);
            update.starts.push(start(number(index), parent.map_or(0, number), totals));
            update.own.push(columns, name, &own);
            update.read.push(DirectoryRead { number: number(index), totals: unlisted, files: 0 });
        }
        let mut known = KnownTree { own: Rows::new(columns), ..KnownTree::default() };
        known.add(update);
        Self(Arc::new(PartialState { known: Mutex::new(known), ..PartialState::default() }))
    }

    /// Starts over, for a walk whose table has these columns.
    pub(super) fn start(&self, columns: FieldMask) -> PublisherSource {
        lock(&self.0.updates).clear();
        *lock(&self.0.known) = KnownTree { own: Rows::new(columns), ..KnownTree::default() };
        PublisherSource(Arc::downgrade(&self.0))
    }

    /// Takes the updates of all threads since the last call.
    fn take_updates(&self) -> Vec<Update> {
        let mut updates = lock(&self.0.updates);
        let taken = updates.iter().map(|update| mem::take(&mut *lock(update))).collect();
        // The threads that write into the others have ended.
        updates.retain(|update| Arc::weak_count(update) > 0);
        taken
    }
}

/// A directory for [`PartialTable::of`].
#[doc(hidden)]
#[derive(Debug)]
pub struct PartialDirectory<'n> {
    /// The index of the directory that contains it; `None` for a root.
    pub parent: Option<u32>,
    /// Its name; of a root, its path.
    pub name: &'n OsStr,
    /// Its own attributes.
    pub own: Attributes,
    /// The totals of everything in and below it that is not in one of the other directories.
    pub unlisted: SubtreeTotals,
}

/// The state that the clones of a partial table share.
#[derive(Debug, Default)]
struct PartialState {
    updates: Mutex<Vec<Arc<Mutex<Update>>>>,
    known: Mutex<KnownTree>,
}

/// A builder's end of a partial table: makes publishers while the table is alive.
#[derive(Debug, Default)]
pub(super) struct PublisherSource(Weak<PartialState>);

impl PublisherSource {
    /// Returns a publisher for a new thread; `None` without a partial table.
    pub(super) fn publisher(&self) -> Option<Publisher> {
        let state = self.0.upgrade()?;
        let update = Arc::default();
        let publisher = Publisher(Arc::downgrade(&update));
        lock(&state.updates).push(update);
        Some(publisher)
    }
}

/// A thread's end of a partial table.
#[derive(Debug)]
pub(super) struct Publisher(Weak<Mutex<Update>>);

impl Publisher {
    /// Calls `publish` with the current update, if there still is a partial table.
    pub(super) fn publish(&self, publish: impl FnOnce(&mut Update)) {
        if let Some(update) = self.0.upgrade() {
            publish(&mut lock(&update));
        }
    }
}

/// What one thread has found since the last call of [`PartialTable::table`].
#[derive(Debug, Default)]
pub(super) struct Update {
    /// The names and own attributes of directories that were entered.
    pub(super) own: Chunk,
    pub(super) starts: Vec<DirectoryStart>,
    /// The large files of the directories in `read`, in the same order.
    pub(super) files: Chunk,
    pub(super) read: Vec<DirectoryRead>,
    pub(super) unread: Vec<(u32, UnreadReason)>,
    errors: Vec<u32>,
    diagnostics: Diagnostics,
}

/// A directory that was entered.
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectoryStart {
    pub(super) number: u32,
    /// [`Directory::TOP`] for the top.
    pub(super) parent: u32,
    /// The totals of the directory itself.
    pub(super) totals: SubtreeTotals,
}

/// A directory whose entries have been read.
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectoryRead {
    pub(super) number: u32,
    /// The totals of its entries without directories.
    pub(super) totals: SubtreeTotals,
    /// The number of its large files.
    pub(super) files: u32,
}

impl Update {
    pub(super) fn omit(&mut self, number: u32, omission: &Omission<'_>) {
        if let Omission::Failed(_) = omission {
            self.errors.push(number);
        }
        self.diagnostics.count(omission);
    }
}

/// The updates taken from all threads, by the numbers of directories.
#[derive(Debug, Default)]
struct KnownTree {
    /// The names and own attributes of directories and large files, in the order in which they became known.
    own: Rows,
    directories: Vec<KnownDirectory>,
    unread: Vec<(u32, UnreadReason)>,
    errors: Vec<u32>,
    diagnostics: Diagnostics,
}

/// A directory of which something is known, possibly only an entry: another thread may have
/// published first.
#[derive(Debug, Default)]
struct KnownDirectory {
    /// The totals of the directory itself.
    totals: SubtreeTotals,
    /// The totals of its entries without directories; `None` until it is read.
    entry_totals: Option<SubtreeTotals>,
    /// The directories and large files in it, sorted by name except for new ones.
    children: Vec<KnownEntry>,
}

#[derive(Clone, Copy, Debug)]
struct KnownEntry {
    /// Its row among those of `KnownTree::own`.
    own: Row,
    /// The number of a directory.
    number: Option<u32>,
}

impl KnownTree {
    fn add(&mut self, update: Update) {
        let Update { own, starts, files, read, unread, errors, diagnostics } = update;
        for (at, DirectoryStart { number, parent, totals }) in starts.into_iter().enumerate() {
            // The walk ends with an error when the table is full.
            let Some(row) = self.own.next_row(1) else { break };
            self.own.push_row(&own, at);
            self.directory_mut(number).totals = totals;
            if parent != Directory::TOP {
                let entry = KnownEntry { own: row, number: Some(number) };
                self.directory_mut(parent).children.push(entry);
            }
        }
        let mut large_files = 0..files.len();
        for DirectoryRead { number, totals, files: count } in read {
            self.directory_mut(number).entry_totals = Some(totals);
            for at in large_files.by_ref().take(count as usize) {
                let Some(row) = self.own.next_row(1) else { break };
                self.own.push_row(&files, at);
                self.directory_mut(number).children.push(KnownEntry { own: row, number: None });
            }
        }
        self.unread.extend(unread);
        self.errors.extend(errors);
        self.diagnostics.merge(diagnostics);
    }

    fn directory_mut(&mut self, number: u32) -> &mut KnownDirectory {
        let number = number as usize;
        if number >= self.directories.len() {
            self.directories.resize_with(number + 1, KnownDirectory::default);
        }
        &mut self.directories[number]
    }

    /// Lays out the entries breadth first, siblings next to each other. Directories not connected to
    /// a root yet are left out.
    fn table(&mut self) -> Result<Table, Error> {
        let mut rows = Rows::new(self.own.columns());
        // Entries with a row, or waiting for one, and the indices of their directories.
        let mut laid_out = Vec::with_capacity(self.directories.len());
        let mut all = Vec::with_capacity(self.directories.len());
        let mut indices = vec![None; self.directories.len()];
        let mut unlisted = Vec::with_capacity(self.directories.len());
        let mut top = self.lay_out_children(0, Directory::TOP, &mut laid_out);
        (top.row, top.parent) = (Directory::TOP, Directory::TOP);
        let mut at = 0;
        while let Some(&(KnownEntry { own, number }, parent)) = laid_out.get(at) {
            let row = rows.next_row(1).ok_or(Error::TooManyEntries)?.0;
            let (chunk, index) = self.own.locate(own);
            rows.push_row(chunk, index);
            if let Some(number) = number {
                let index = all.len() as u32;
                indices[number as usize] = Some(index);
                let directory = self.lay_out_children(number, index, &mut laid_out);
                all.push(Directory { row, parent, ..directory });
                unlisted.push(self.unlisted(number));
            }
            at += 1;
        }

        let mut taken = RankBitmap::with_limit(rows.limit());
        for directory in &all {
            taken.insert(directory.row);
        }
        let index_of = |number: u32| indices.get(number as usize).copied().flatten();
        let unread = self
            .unread
            .iter()
            .filter_map(|&(number, why)| Some((index_of(number)?, why)))
            .collect();
        let errors = self.errors.iter().filter_map(|&number| index_of(number)).collect();
        let mut directories = Directories::new(top, all, taken.indexed(), unread);
        let order = directories.preorder();
        directories.errors = finish::accumulate_errors(&directories, errors, &order);
        finish::accumulate_totals(&mut directories, &order);
        let (shared, name_grams) = (HardLinkIndex::default(), OnceLock::new());
        let base = Base { rows, directories, shared, unlisted, name_grams };
        Ok(Table::new(base, self.diagnostics.counts()))
    }

    /// Appends the entries of a directory to those that wait for a row, sorted by name. Returns the
    /// directory without its own row and its parent.
    fn lay_out_children(
        &mut self,
        number: u32,
        index: u32,
        laid_out: &mut Vec<(KnownEntry, u32)>,
    ) -> Directory {
        let mut children = mem::take(&mut self.directory_mut(number).children);
        children.sort_by(|a, b| self.name(a).cmp(self.name(b)));
        let (mut first, count) = (laid_out.len() as u32, children.len() as u32);
        laid_out.extend(children.iter().map(|&child| (child, index)));
        let directory = self.directory_mut(number);
        if directory.entry_totals.is_none() && children.is_empty() {
            first = Directory::UNREAD;
        }
        directory.children = children;
        let mut totals = directory.totals;
        totals += directory.entry_totals.unwrap_or_default();
        Directory { row: 0, parent: 0, first, count, totals }
    }

    /// Returns the totals of the entries of a directory that have no rows.
    fn unlisted(&self, number: u32) -> SubtreeTotals {
        let directory = &self.directories[number as usize];
        let mut unlisted = directory.entry_totals.unwrap_or_default();
        for file in directory.children.iter().filter(|child| child.number.is_none()) {
            let (chunk, index) = self.own.locate(file.own);
            let bytes = |of: Option<u64>| of.unwrap_or(0);
            let columns = self.own.columns();
            unlisted.files -= 1;
            unlisted.subtract(
                bytes(chunk.size(columns, index)),
                bytes(chunk.allocated(columns, index)),
            );
        }
        unlisted
    }

    fn name(&self, entry: &KnownEntry) -> &[u8] {
        self.own.name(entry.own).as_encoded_bytes()
    }
}

#[cfg(test)]
mod tests {
    use transect_sys::FileType;

    use super::*;

    fn begin(publisher: &Publisher, number: u32, parent: u32, name: &str) {
        let own = Attributes::of_type(FileType::Directory);
        let totals = SubtreeTotals::of_entry(&own);
        publisher.publish(|update| {
            update.own.push(FieldMask::empty(), name.as_ref(), &own);
            update.starts.push(DirectoryStart { number, parent, totals });
        });
    }

    #[test]
    fn partial_table_update_before_its_parent_waits() {
        let partial_table = PartialTable::new();
        let publishers = partial_table.start(FieldMask::empty());
        let (one, other) = (publishers.publisher().unwrap(), publishers.publisher().unwrap());
        let names = || {
            let table = partial_table.table().unwrap();
            table.iter().map(|row| table.name(row).to_owned()).collect::<Vec<_>>()
        };
        begin(&other, 3, 2, "below");
        other.publish(|update| {
            let mut large = Attributes::of_type(FileType::File);
            large.set_size(LARGE_FILE);
            update.files.push(FieldMask::SIZE, "large".as_ref(), &large);
            let totals = SubtreeTotals::of_entry(&large);
            update.read.push(DirectoryRead { number: 3, totals, files: 1 });
        });
        begin(&one, 0, Directory::TOP, "");
        begin(&one, 1, 0, "root");
        assert_eq!(names(), ["root"]);
        assert_eq!(partial_table.table().unwrap().grand_total().files, 0);
        begin(&one, 2, 1, "above");
        begin(&other, 4, 1, "Beside");
        assert_eq!(names(), ["root", "Beside", "above", "below", "large"]);
        assert_eq!(partial_table.table().unwrap().grand_total().files, 1);
    }

    #[test]
    fn partial_table_dropped_nothing_published() {
        let partial_table = PartialTable::new();
        let publishers = partial_table.start(FieldMask::empty());
        let publisher = publishers.publisher().unwrap();
        begin(&publisher, 0, Directory::TOP, "");
        drop(partial_table);
        publisher.publish(|_| unreachable!("the view was dropped"));
        assert!(publishers.publisher().is_none());
    }
}
