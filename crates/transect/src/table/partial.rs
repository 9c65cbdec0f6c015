//! What is known of a tree while it is still being read: its directories, and what they come to so far.
//!
//! ```text
//! sink of a thread ── directory begins: name, own attributes ─┐
//!                  ── directory read: sums of its entries ────┴─► part ─┐
//! sink of a thread ─────────────────────────────────────────────► part ─┴─► known ─► table
//! ```
//!
//! Each thread writes into a part of its own. Whoever looks takes what is in all of them; threads wait
//! for nobody but who takes theirs, and that is an exchange of two pointers. What was taken is kept, so
//! that a look costs a copy of the directories and not another walk.

use std::ffi::OsStr;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use transect_sys::{Attributes, FieldMask, FileType};

use super::columns::{Chunk, Rows};
use super::directories::{Directories, Directory, SubtreeTotals, UnreadReason};
use super::hard_links::HardLinkIndex;
use super::rank_bitmap::RankBitmap;
use super::{Row, Table, finish};
use crate::error::{Error, ScanError};
use crate::sink::{Diagnostics, SkipReason};

/// A look at a table that is still being filled.
///
/// Give it to the builder of the table ([`TableBuilder::partial_table`](super::TableBuilder::partial_table)), and
/// ask for [`table`](Self::table) as often as you like, from any thread. Clones look at the same walk.
/// When all of them are gone, the walk goes on without keeping anything for them.
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
    /// Returns an outline of nothing, until a builder is given it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns what is known now, as a table.
    ///
    /// It has rows for directories only, each as soon as it is being read. The sums hold the other
    /// entries of a directory when all of them have been read, and [`Table::unlisted`] tells them apart.
    /// The texts of errors are not in it.
    ///
    /// Sums only grow, towards those of the finished table: bytes of files that have several names are
    /// missing until the end, as only then it is known to which of them they are charged. Where a
    /// listing does not tell how many names a file has (Windows), or links are followed, its bytes are
    /// counted at each name, and the finished table may have less.
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

    /// Begins anew, for a walk whose tables have these columns.
    pub(super) fn start(&self, columns: FieldMask) -> PublisherSource {
        lock(&self.0.updates).clear();
        *lock(&self.0.known) = KnownTree { own: Rows::new(columns), ..KnownTree::default() };
        PublisherSource(Arc::downgrade(&self.0))
    }

    /// Takes what all threads have found since the last time.
    fn take_updates(&self) -> Vec<Update> {
        let mut updates = lock(&self.0.updates);
        let taken = updates.iter().map(|update| mem::take(&mut *lock(update))).collect();
        // Who writes into the others is gone.
        updates.retain(|update| Arc::weak_count(update) > 0);
        taken
    }
}

/// What the clones of an outline share.
#[derive(Debug, Default)]
struct PartialState {
    updates: Mutex<Vec<Arc<Mutex<Update>>>>,
    known: Mutex<KnownTree>,
}

/// A builder's end of an outline; of none, if nobody looks.
#[derive(Debug, Default)]
pub(super) struct PublisherSource(Weak<PartialState>);

impl PublisherSource {
    /// Returns what a new thread tells, if anybody looks.
    pub(super) fn publisher(&self) -> Option<Publisher> {
        let state = self.0.upgrade()?;
        let update = Arc::default();
        let publisher = Publisher(Arc::downgrade(&update));
        lock(&state.updates).push(update);
        Some(publisher)
    }
}

/// A thread's end of an outline.
#[derive(Debug)]
pub(super) struct Publisher(Weak<Mutex<Update>>);

impl Publisher {
    /// Tells something, if anybody still looks.
    pub(super) fn publish(&self, publish: impl FnOnce(&mut Update)) {
        if let Some(update) = self.0.upgrade() {
            publish(&mut lock(&update));
        }
    }
}

/// What one thread has found since it was last asked.
#[derive(Debug, Default)]
pub(super) struct Update {
    /// Directories that begin, by name and with what they know of themselves.
    own: Chunk,
    starts: Vec<DirectoryStart>,
    /// Those whose entries have been read, and what these come to without directories.
    read: Vec<(u32, SubtreeTotals)>,
    unread: Vec<(u32, UnreadReason)>,
    errors: Vec<u32>,
    diagnostics: Diagnostics,
}

/// A directory that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectoryStart {
    pub(super) number: u32,
    /// [`Directory::TOP`] if it is that above the roots.
    pub(super) parent: u32,
    /// What it comes to by itself.
    pub(super) totals: SubtreeTotals,
}

impl Update {
    pub(super) fn begin(
        &mut self,
        columns: FieldMask,
        start: DirectoryStart,
        name: &OsStr,
        own: &Attributes,
    ) {
        // What lies beyond a boundary has not even a type.
        let mut own = *own;
        own.set_file_type(FileType::Directory);
        self.own.push(columns, name, &own);
        self.starts.push(start);
    }

    pub(super) fn read(&mut self, number: u32, totals: SubtreeTotals) {
        self.read.push((number, totals));
    }

    pub(super) fn unread(&mut self, number: u32, why: UnreadReason) {
        self.unread.push((number, why));
    }

    pub(super) fn error(&mut self, number: u32, error: &ScanError) {
        self.errors.push(number);
        self.diagnostics.count_error(error);
    }

    pub(super) fn vanished(&mut self) {
        self.diagnostics.vanished += 1;
    }

    pub(super) fn skip(&mut self, reason: SkipReason) {
        self.diagnostics.add_skip(reason);
    }
}

/// What was taken from all threads, by the numbers of directories.
#[derive(Debug, Default)]
struct KnownTree {
    /// Directories in the order in which they became known.
    own: Rows,
    directories: Vec<KnownDirectory>,
    unread: Vec<(u32, UnreadReason)>,
    errors: Vec<u32>,
    diagnostics: Diagnostics,
}

/// A directory of which something is known; perhaps no more than what is in it, as another thread has
/// told that it began.
#[derive(Clone, Debug)]
struct KnownDirectory {
    own: Row,
    /// What it comes to by itself.
    totals: SubtreeTotals,
    /// What is in it, without directories; nothing as long as it is being read.
    entry_totals: Option<SubtreeTotals>,
    /// The numbers of the directories in it, sorted by name but for those that are new.
    children: Vec<u32>,
}

impl KnownTree {
    fn add(&mut self, update: Update) {
        let Update { own, starts, read, unread, errors, diagnostics } = update;
        for (at, DirectoryStart { number, parent, totals }) in starts.into_iter().enumerate() {
            // Without room the walk ends, and says so.
            let Some(row) = self.own.next_row(1) else { break };
            self.own.push_row(&own, at);
            let directory = self.directory_mut(number);
            (directory.own, directory.totals) = (row, totals);
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
            let unknown = KnownDirectory {
                own: Row(0),
                totals: SubtreeTotals::default(),
                entry_totals: None,
                children: Vec::new(),
            };
            self.directories.resize(number + 1, unknown);
        }
        &mut self.directories[number]
    }

    /// Lays the directories out breadth first, those in one beside each other: then the place of each is
    /// its row. What is not connected with a root yet is left for another time.
    fn table(&mut self) -> Result<Table, Error> {
        let mut rows = Rows::new(self.own.columns());
        // Those that have their rows or wait for them: their numbers, and the places of those above.
        let mut laid_out = Vec::with_capacity(self.directories.len());
        let mut all = Vec::with_capacity(self.directories.len());
        let top = self.lay_out_children(0, (Directory::TOP, Directory::TOP), &mut laid_out);
        while let Some(&(number, parent)) = laid_out.get(all.len()) {
            let row = rows.next_row(1).ok_or(Error::TooManyEntries)?;
            let (chunk, index) = self.own.locate(self.directories[number as usize].own);
            rows.push_row(chunk, index);
            all.push(self.lay_out_children(number, (row.0, parent), &mut laid_out));
        }

        let mut taken = RankBitmap::with_limit(rows.limit());
        let mut places = vec![None; self.directories.len()];
        let mut unlisted = Vec::with_capacity(all.len());
        for (place, &(number, _)) in (0..).zip(&laid_out) {
            taken.insert(place);
            places[number as usize] = Some(place);
            unlisted.push(self.directories[number as usize].entry_totals.unwrap_or_default());
        }
        let place_of = |number: u32| places.get(number as usize).copied().flatten();
        let unread = self
            .unread
            .iter()
            .filter_map(|&(number, why)| Some((place_of(number)?, why)))
            .collect();
        let errors = self.errors.iter().filter_map(|&number| place_of(number)).collect();
        let mut directories = Directories::new(top, all, taken.indexed(), unread);
        let order = directories.preorder();
        directories.errors = finish::accumulate_errors(&directories, errors, &order);
        finish::accumulate_totals(&mut directories, &order);
        let entries = directories.top.totals.entries();
        let (shared, diagnostics) = (HardLinkIndex::default(), self.diagnostics.counts());
        Ok(Table { rows, directories, shared, unlisted, entries, diagnostics })
    }

    /// Appends the directories in one to those that wait for their rows, sorted by name.
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
        self.own.name(self.directories[number as usize].own).as_encoded_bytes()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(publisher: &Publisher, number: u32, parent: u32, name: &str) {
        let own = Attributes::default();
        let totals = SubtreeTotals::of_entry(&Attributes::of_type(FileType::Directory));
        let start = DirectoryStart { number, parent, totals };
        publisher.publish(|update| update.begin(FieldMask::empty(), start, name.as_ref(), &own));
    }

    #[test]
    fn what_is_told_before_the_directory_above_it_waits_for_that() {
        let partial_table = PartialTable::new();
        let publishers = partial_table.start(FieldMask::empty());
        let (one, other) = (publishers.publisher().unwrap(), publishers.publisher().unwrap());
        let names = || {
            let table = partial_table.table().unwrap();
            table.iter().map(|row| table.name(row).to_owned()).collect::<Vec<_>>()
        };
        begin(&other, 3, 2, "below");
        other.publish(|update| {
            update.read(3, SubtreeTotals::of_entry(&Attributes::of_type(FileType::File)))
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
    fn nothing_is_kept_for_nobody() {
        let partial_table = PartialTable::new();
        let publishers = partial_table.start(FieldMask::empty());
        let publisher = publishers.publisher().unwrap();
        begin(&publisher, 0, Directory::TOP, "");
        drop(partial_table);
        publisher.publish(|_| unreachable!("nobody looks"));
        assert!(publishers.publisher().is_none());
    }
}
