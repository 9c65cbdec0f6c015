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
use super::links::Shared;
use super::rank::Ranks;
use super::{Row, Table, finish};
use crate::error::{Error, ScanError};
use crate::sink::{Diagnostics, SkipReason};

/// A look at a table that is still being filled.
///
/// Give it to the builder of the table ([`TableBuilder::outline`](super::TableBuilder::outline)), and
/// ask for [`table`](Self::table) as often as you like, from any thread. Clones look at the same walk.
/// When all of them are gone, the walk goes on without keeping anything for them.
///
/// ```
/// use transect::{FieldMask, ScanOptions};
/// use transect::table::{Outline, TableBuilder};
///
/// let outline = Outline::new();
/// let builder = TableBuilder::new(FieldMask::MTIME).outline(&outline);
/// let plan = ScanOptions::new(["src"]).plan()?;
/// let finished = std::thread::scope(|scope| {
///     let walk = scope.spawn(|| plan.run(|| builder.sink())?.sink.into_table());
///     println!("{} files so far", outline.table()?.grand_total().files);
///     walk.join().expect("the walk does not panic")
/// })?;
/// assert_eq!(outline.table()?.grand_total().files, finished.grand_total().files);
/// # Ok::<(), transect::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Outline(Arc<Looked>);

impl Outline {
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
        for part in self.take() {
            known.add(part);
        }
        known.table()
    }

    /// Begins anew, for a walk whose tables have these columns.
    pub(super) fn begin(&self, columns: FieldMask) -> Observed {
        lock(&self.0.parts).clear();
        *lock(&self.0.known) = Known { own: Rows::new(columns), ..Known::default() };
        Observed(Arc::downgrade(&self.0))
    }

    /// Takes what all threads have found since the last time.
    fn take(&self) -> Vec<Part> {
        let mut parts = lock(&self.0.parts);
        let taken = parts.iter().map(|part| mem::take(&mut *lock(part))).collect();
        // Who writes into the others is gone.
        parts.retain(|part| Arc::weak_count(part) > 0);
        taken
    }
}

/// What the clones of an outline share.
#[derive(Debug, Default)]
struct Looked {
    parts: Mutex<Vec<Arc<Mutex<Part>>>>,
    known: Mutex<Known>,
}

/// A builder's end of an outline; of none, if nobody looks.
#[derive(Debug, Default)]
pub(super) struct Observed(Weak<Looked>);

impl Observed {
    /// Returns what a new thread tells, if anybody looks.
    pub(super) fn teller(&self) -> Option<Teller> {
        let looked = self.0.upgrade()?;
        let part = Arc::default();
        let teller = Teller(Arc::downgrade(&part));
        lock(&looked.parts).push(part);
        Some(teller)
    }
}

/// A thread's end of an outline.
#[derive(Debug)]
pub(super) struct Teller(Weak<Mutex<Part>>);

impl Teller {
    /// Tells something, if anybody still looks.
    pub(super) fn tell(&self, tell: impl FnOnce(&mut Part)) {
        if let Some(part) = self.0.upgrade() {
            tell(&mut lock(&part));
        }
    }
}

/// What one thread has found since it was last asked.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// Directories that begin, by name and with what they know of themselves.
    own: Chunk,
    begun: Vec<Begun>,
    /// Those whose entries have been read, and what these come to without directories.
    read: Vec<(u32, SubtreeTotals)>,
    unread: Vec<(u32, UnreadReason)>,
    errors: Vec<u32>,
    diagnostics: Diagnostics,
}

/// A directory that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub(super) number: u32,
    /// [`Directory::TOP`] if it is that above the roots.
    pub(super) parent: u32,
    /// What it comes to by itself.
    pub(super) totals: SubtreeTotals,
}

impl Part {
    pub(super) fn begin(
        &mut self,
        columns: FieldMask,
        begun: Begun,
        name: &OsStr,
        own: &Attributes,
    ) {
        // What lies beyond a boundary has not even a type.
        let mut own = *own;
        own.set_file_type(FileType::Directory);
        self.own.push(columns, name, &own);
        self.begun.push(begun);
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
struct Known {
    /// Directories in the order in which they became known.
    own: Rows,
    found: Vec<Found>,
    unread: Vec<(u32, UnreadReason)>,
    errors: Vec<u32>,
    diagnostics: Diagnostics,
}

/// A directory of which something is known; perhaps no more than what is in it, as another thread has
/// told that it began.
#[derive(Clone, Debug)]
struct Found {
    own: Row,
    /// What it comes to by itself.
    totals: SubtreeTotals,
    /// What is in it, without directories; nothing as long as it is being read.
    others: Option<SubtreeTotals>,
    /// The numbers of the directories in it, sorted by name but for those that are new.
    inside: Vec<u32>,
}

impl Known {
    fn add(&mut self, part: Part) {
        let Part { own, begun, read, unread, errors, diagnostics } = part;
        for (at, Begun { number, parent, totals }) in begun.into_iter().enumerate() {
            // Without room the walk ends, and says so.
            let Some(row) = self.own.room_for(1) else { break };
            self.own.push_row(&own, at);
            let found = self.found(number);
            (found.own, found.totals) = (row, totals);
            if parent != Directory::TOP {
                self.found(parent).inside.push(number);
            }
        }
        for (number, totals) in read {
            self.found(number).others = Some(totals);
        }
        self.unread.extend(unread);
        self.errors.extend(errors);
        self.diagnostics.merge(diagnostics);
    }

    fn found(&mut self, number: u32) -> &mut Found {
        let number = number as usize;
        if number >= self.found.len() {
            let unknown = Found {
                own: Row(0),
                totals: SubtreeTotals::default(),
                others: None,
                inside: Vec::new(),
            };
            self.found.resize(number + 1, unknown);
        }
        &mut self.found[number]
    }

    /// Lays the directories out breadth first, those in one beside each other: then the place of each is
    /// its row. What is not connected with a root yet is left for another time.
    fn table(&mut self) -> Result<Table, Error> {
        let mut rows = Rows::new(self.own.columns());
        // Those that have their rows or wait for them: their numbers, and the places of those above.
        let mut laid_out = Vec::with_capacity(self.found.len());
        let mut all = Vec::with_capacity(self.found.len());
        let top = self.open(0, (Directory::TOP, Directory::TOP), &mut laid_out);
        while let Some(&(number, parent)) = laid_out.get(all.len()) {
            let row = rows.room_for(1).ok_or(Error::TooManyEntries)?;
            let (chunk, index) = self.own.at(self.found[number as usize].own);
            rows.push_row(chunk, index);
            all.push(self.open(number, (row.0, parent), &mut laid_out));
        }

        let mut taken = Ranks::below(rows.limit());
        let mut places = vec![None; self.found.len()];
        let mut unlisted = Vec::with_capacity(all.len());
        for (place, &(number, _)) in (0..).zip(&laid_out) {
            taken.insert(place);
            places[number as usize] = Some(place);
            unlisted.push(self.found[number as usize].others.unwrap_or_default());
        }
        let place_of = |number: u32| places.get(number as usize).copied().flatten();
        let unread = self
            .unread
            .iter()
            .filter_map(|&(number, why)| Some((place_of(number)?, why)))
            .collect();
        let errors = self.errors.iter().filter_map(|&number| place_of(number)).collect();
        let mut directories = Directories::new(top, all, taken.counted(), unread);
        let order = directories.parents_first();
        directories.errors = finish::errors_above(&directories, errors, &order);
        finish::add_upwards(&mut directories, &order);
        let entries = directories.top.totals.entries();
        let (shared, diagnostics) = (Shared::default(), self.diagnostics.counts());
        Ok(Table { rows, directories, shared, unlisted, entries, diagnostics })
    }

    /// Appends the directories in one to those that wait for their rows, sorted by name.
    fn open(
        &mut self,
        number: u32,
        (row, parent): (u32, u32),
        laid_out: &mut Vec<(u32, u32)>,
    ) -> Directory {
        let mut inside = mem::take(&mut self.found(number).inside);
        inside.sort_by(|&a, &b| self.name(a).cmp(self.name(b)));
        let (mut first, count) = (laid_out.len() as u32, inside.len() as u32);
        laid_out.extend(inside.iter().map(|&inside| (inside, row)));
        let found = self.found(number);
        if found.others.is_none() && inside.is_empty() {
            first = Directory::UNREAD;
        }
        found.inside = inside;
        let mut totals = found.totals;
        totals += found.others.unwrap_or_default();
        Directory { row, parent, first, count, totals }
    }

    fn name(&self, number: u32) -> &[u8] {
        self.own.name(self.found[number as usize].own).as_encoded_bytes()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(teller: &Teller, number: u32, parent: u32, name: &str) {
        let own = Attributes::default();
        let totals = SubtreeTotals::of_entry(&Attributes::of_type(FileType::Directory));
        let begun = Begun { number, parent, totals };
        teller.tell(|part| part.begin(FieldMask::empty(), begun, name.as_ref(), &own));
    }

    #[test]
    fn what_is_told_before_the_directory_above_it_waits_for_that() {
        let outline = Outline::new();
        let observed = outline.begin(FieldMask::empty());
        let (one, other) = (observed.teller().unwrap(), observed.teller().unwrap());
        let names = || {
            let table = outline.table().unwrap();
            table.iter().map(|row| table.name(row).to_owned()).collect::<Vec<_>>()
        };
        begin(&other, 3, 2, "below");
        other.tell(|part| {
            part.read(3, SubtreeTotals::of_entry(&Attributes::of_type(FileType::File)))
        });
        begin(&one, 0, Directory::TOP, "");
        begin(&one, 1, 0, "root");
        assert_eq!(names(), ["root"]);
        assert_eq!(outline.table().unwrap().grand_total().files, 0);
        begin(&one, 2, 1, "above");
        begin(&other, 4, 1, "Beside");
        assert_eq!(names(), ["root", "Beside", "above", "below"]);
        assert_eq!(outline.table().unwrap().grand_total().files, 1);
    }

    #[test]
    fn nothing_is_kept_for_nobody() {
        let outline = Outline::new();
        let observed = outline.begin(FieldMask::empty());
        let teller = observed.teller().unwrap();
        begin(&teller, 0, Directory::TOP, "");
        drop(outline);
        teller.tell(|_| unreachable!("nobody looks"));
        assert!(observed.teller().is_none());
    }
}
