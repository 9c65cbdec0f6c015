//! A table while it is being filled: the directories known so far, with their totals.
//!
//! ```text
//! sink of a thread ── directory begins: name, own attributes ──┐
//!                  ── directory read: totals of its entries ───┴─► update ─┐
//! sink of a thread ──────────────────────────────────────────────► update ─┴─► known tree ─► table
//! ```
//!
//! Each thread writes into an update of its own. A reader takes those of all threads; a thread
//! waits only while its own is taken, which is an exchange of two pointers. The known tree keeps
//! the updates taken so far, so the next table costs a copy of the directories, not another walk.

use std::ffi::OsStr;
use std::mem;
use std::sync::{Arc, Mutex, Weak};

use transect_sys::{Attributes, FieldMask};

use super::columns::{Chunk, Rows};
use super::directories::{Directories, Directory, SubtreeTotals, UnreadReason};
use super::hard_links::HardLinkIndex;
use super::rank_bitmap::RankBitmap;
use super::{Row, Table, finish};
use crate::error::Error;
use crate::lock::lock;
use crate::sink::{Diagnostics, Omission};

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
    /// It has rows for directories only, from the moment they are entered. Their totals include the
    /// other entries once all of a directory have been read; [`Table::unlisted`] returns those
    /// separately. The texts of errors are not included.
    ///
    /// Totals only grow, up to those of the finished table. Bytes of files with several names are
    /// missing until the end, because only then is it known which name they are charged to. Where
    /// link counts are unknown (Windows), or links are followed, such bytes count at each name, and
    /// the finished table may have less.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`] if there are more directories than a table can hold.
    pub fn table(&self) -> Result<Table, Error> {
        let mut known = lock(&self.0.known);
        for update in self.take_updates() {
            known.add(update);
        }
        known.table()
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

/// A directory of an [outline](outline).
#[doc(hidden)]
#[derive(Debug)]
pub struct OutlineDirectory<'n> {
    /// The index of the directory that contains it; `None` for a root.
    pub parent: Option<u32>,
    /// Its name; of a root, its path.
    pub name: &'n OsStr,
    /// Its own attributes.
    pub own: Attributes,
    /// The totals of everything in and below it that is not in a directory of the outline.
    pub unlisted: SubtreeTotals,
}

/// Returns a table of directories only, as [`PartialTable::table`] does, from what is known of them otherwise.
///
/// # Errors
/// [`Error::TooManyEntries`] if there are more directories than a table can hold.
#[doc(hidden)]
pub fn outline<'n>(
    columns: FieldMask,
    directories: impl IntoIterator<Item = OutlineDirectory<'n>>,
) -> Result<Table, Error> {
    // The top has number 0.
    let number = |index: u32| index + 1;
    let mut update = Update::default();
    let start = |number, parent, totals| DirectoryStart { number, parent, totals };
    update.starts.push(start(0, Directory::TOP, SubtreeTotals::default()));
    update.own.push(columns, OsStr::new(""), &Attributes::default());
    for (index, OutlineDirectory { parent, name, own, unlisted }) in (0..).zip(directories) {
        let totals = SubtreeTotals::of_entry(&own);
        update.starts.push(start(number(index), parent.map_or(0, number), totals));
        update.own.push(columns, name, &own);
        update.read.push((number(index), unlisted));
    }
    let mut known = KnownTree { own: Rows::new(columns), ..KnownTree::default() };
    known.add(update);
    known.table()
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

/// The directories that one thread has found since the last call of [`PartialTable::table`].
#[derive(Debug, Default)]
pub(super) struct Update {
    /// The names and own attributes of directories that were entered.
    pub(super) own: Chunk,
    pub(super) starts: Vec<DirectoryStart>,
    /// Directories whose entries have been read, and the totals of these without directories.
    pub(super) read: Vec<(u32, SubtreeTotals)>,
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
    /// The names and own attributes of directories, in the order in which they became known.
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
    /// Its row among those of `KnownTree::own`.
    own: u32,
    /// The totals of the directory itself.
    totals: SubtreeTotals,
    /// The totals of its entries without directories; `None` until it is read.
    entry_totals: Option<SubtreeTotals>,
    /// The numbers of the directories in it, sorted by name except for new ones.
    children: Vec<u32>,
}

impl KnownTree {
    fn add(&mut self, update: Update) {
        let Update { own, starts, read, unread, errors, diagnostics } = update;
        for (at, DirectoryStart { number, parent, totals }) in starts.into_iter().enumerate() {
            // The walk ends with an error when the table is full.
            let Some(row) = self.own.next_row(1) else { break };
            self.own.push_row(&own, at);
            let directory = self.directory_mut(number);
            (directory.own, directory.totals) = (row.0, totals);
            if parent != Directory::TOP {
                self.directory_mut(parent).children.push(number);
            }
        }
        for (number, totals) in read {
            self.directory_mut(number).entry_totals = Some(totals);
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

    /// Lays out the directories breadth first, siblings next to each other, so that the index of
    /// each is its row. Directories not connected to a root yet are left out.
    fn table(&mut self) -> Result<Table, Error> {
        let mut rows = Rows::new(self.own.columns());
        // Directories with a row, or waiting for one: their numbers, and the rows of their parents.
        let mut laid_out = Vec::with_capacity(self.directories.len());
        let mut all = Vec::with_capacity(self.directories.len());
        let top = self.lay_out_children(0, (Directory::TOP, Directory::TOP), &mut laid_out);
        while let Some(&(number, parent)) = laid_out.get(all.len()) {
            let row = rows.next_row(1).ok_or(Error::TooManyEntries)?;
            let (chunk, index) = self.own.locate(Row(self.directories[number as usize].own));
            rows.push_row(chunk, index);
            all.push(self.lay_out_children(number, (row.0, parent), &mut laid_out));
        }

        let mut taken = RankBitmap::with_limit(rows.limit());
        let mut indices = vec![None; self.directories.len()];
        let mut unlisted = Vec::with_capacity(all.len());
        for (index, &(number, _)) in (0..).zip(&laid_out) {
            taken.insert(index);
            indices[number as usize] = Some(index);
            unlisted.push(self.directories[number as usize].entry_totals.unwrap_or_default());
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
        let entries = directories.top.totals.entries();
        let (shared, diagnostics) = (HardLinkIndex::default(), self.diagnostics.counts());
        Ok(Table { rows, directories, shared, unlisted, entries, diagnostics })
    }

    /// Appends the directories in a directory to those that wait for a row, sorted by name.
    fn lay_out_children(
        &mut self,
        number: u32,
        (row, parent): (u32, u32),
        laid_out: &mut Vec<(u32, u32)>,
    ) -> Directory {
        let mut children = mem::take(&mut self.directory_mut(number).children);
        children.sort_by(|&a, &b| self.name(a).cmp(self.name(b)));
        let (mut first, count) = (laid_out.len() as u32, children.len() as u32);
        laid_out.extend(children.iter().map(|&child| (child, row)));
        let directory = self.directory_mut(number);
        if directory.entry_totals.is_none() && children.is_empty() {
            first = Directory::UNREAD;
        }
        directory.children = children;
        let mut totals = directory.totals;
        totals += directory.entry_totals.unwrap_or_default();
        Directory { row, parent, first, count, totals }
    }

    fn name(&self, number: u32) -> &[u8] {
        self.own.name(Row(self.directories[number as usize].own)).as_encoded_bytes()
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
            update.read.push((3, SubtreeTotals::of_entry(&Attributes::of_type(FileType::File))))
        });
        begin(&one, 0, Directory::TOP, "");
        begin(&one, 1, 0, "root");
        assert_eq!(names(), ["root"]);
        assert_eq!(partial_table.table().unwrap().grand_total().files, 0);
        begin(&one, 2, 1, "above");
        begin(&other, 4, 1, "Beside");
        assert_eq!(names(), ["root", "Beside", "above", "below"]);
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
