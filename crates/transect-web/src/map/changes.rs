//! What changed between two tables, as one table that has the entries of both: those that are there now, with
//! their sizes now, and those that are gone, with their sizes before.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;
use serde::Serialize;
use transect::table::{Row, Table, TableImporter};
use transect::{Attributes, Diagnostics, Error, FieldMask, FileType};
use transect_snapshot::changed_fields;
use transect_text::json_object;
use transect_text::measure::Measure;

use super::columns::ChangeColumns;
use super::selection::Item;

/// The attributes that the page shows, besides the sizes.
const SHOWN: FieldMask = FieldMask::MTIME.union(FieldMask::UID).union(FieldMask::MODE);

/// Two states of a tree.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'t> {
    /// The tree before.
    pub before: &'t Table,
    /// The tree now.
    pub after: &'t Table,
    /// What moved: an entry before, and the same entry now.
    pub moved: &'t [(Row, Row)],
    /// When the tree was read before, in seconds since 1970 UTC.
    pub before_read_at: Option<i64>,
}

/// What happened to an entry.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// The size before; `None` if it was not there, or is not known.
    before: Option<u64>,
    /// The size now; `None` if it is gone.
    after: Option<u64>,
    state: State,
    /// Where it was, if it moved.
    moved_from: Option<Row>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Same = 0,
    /// Its attributes changed, or something below it.
    Modified = 1,
    Moved = 2,
    /// Its directory was not read before.
    NotComparable = 3,
}

/// The entries of two tables, and what happened to each.
#[derive(Debug)]
pub(super) struct Changes<'t> {
    comparison: Comparison<'t>,
    measure: Measure,
    pub(super) table: Table,
    changes: Vec<Change>,
    /// Indices into `changes`, by the numbers of rows.
    places: Vec<u32>,
}

impl<'t> Changes<'t> {
    /// # Errors
    /// Both tables together have more entries than a table can hold.
    pub(super) fn of(comparison: Comparison<'t>, measure: Measure) -> Result<Self, Error> {
        let merger = Merger {
            comparison,
            measure,
            moved_away: comparison.moved.iter().map(|&(from, _)| from).collect(),
            moved_here: comparison.moved.iter().map(|&(from, to)| (to, from)).collect(),
            importer: TableImporter::new(SHOWN),
            found: Vec::new(),
        };
        let (mut importer, changes) = merger.run();
        let mut diagnostics = Diagnostics::new(0);
        for table in [comparison.before, comparison.after] {
            diagnostics.errors += table.diagnostics().errors;
            diagnostics.vanished += table.diagnostics().vanished;
        }
        importer.set_diagnostics(diagnostics);
        let table = importer.finish()?;
        // Both are in the order of names, a directory before its entries.
        let mut places = Vec::new();
        for (row, place) in table.iter().zip(0..) {
            let number = row.number() as usize;
            if number >= places.len() {
                places.resize(number + 1, 0);
            }
            places[number] = place;
        }
        assert_eq!(table.len(), changes.len() as u64, "BUG: an entry was lost");
        Ok(Self { comparison, measure, table, changes, places })
    }

    /// Returns the sizes of both trees.
    pub(super) fn sizes(&self) -> (u64, u64) {
        let size = |table: &Table| self.measure.size(&table.grand_total());
        (size(self.comparison.before), size(self.comparison.after))
    }

    /// Returns what the page says of both trees.
    pub(super) fn facts(&self) -> impl Serialize + use<> {
        let (before, after) = self.sizes();
        let before_read_at = self.comparison.before_read_at;
        json_object! { before_read_at: before_read_at, before: before, after: after }
    }

    fn change(&self, row: Row) -> Change {
        self.changes[self.places[row.number() as usize] as usize]
    }

    /// Returns the sizes of an entry before and now; `None` if it was not there, or is gone.
    pub(super) fn sizes_of(&self, row: Row) -> (Option<u64>, Option<u64>) {
        let change = self.change(row);
        (change.before, change.after)
    }

    /// Returns the columns for these items.
    pub(super) fn columns(&self, items: &[Item]) -> ChangeColumns {
        let mut columns = ChangeColumns::default();
        for (place, item) in (0..).zip(items) {
            let of_several =
                |before, after, state| Change { before, after, state, moved_from: None };
            let change = match *item {
                Item::Entry(row) => self.change(row),
                Item::Top => {
                    let (before, after) = self.sizes();
                    of_several(Some(before), Some(after), State::Modified)
                }
                Item::Remainder(_) => of_several(None, None, State::NotComparable),
            };
            columns.before.push_size(change.before);
            columns.after.push_size(change.after);
            columns.states.push(change.state as u8);
            if let Some(from) = change.moved_from {
                columns.moved_at.push(place);
                let path = self.comparison.before.path(from);
                columns.moved_from.extend(path.to_string_lossy().bytes().chain([0]));
            }
        }
        columns
    }
}

/// An entry in the two tables; it is in at least one of them.
#[derive(Clone, Copy, Debug)]
struct Pair {
    before: Option<Row>,
    after: Option<Row>,
    /// Whether it was there before is known.
    is_comparable: bool,
    /// A directory above it moved.
    is_in_moved: bool,
}

/// A directory whose entries are being merged.
struct OpenDirectory {
    /// Its place in [`Merger::found`].
    place: usize,
    entries: std::vec::IntoIter<Pair>,
    has_changed: bool,
}

struct Merger<'t> {
    comparison: Comparison<'t>,
    measure: Measure,
    moved_away: HashSet<Row, FixedState>,
    moved_here: HashMap<Row, Row, FixedState>,
    importer: TableImporter,
    /// In the order of the importer.
    found: Vec<Change>,
}

impl Merger<'_> {
    fn run(mut self) -> (TableImporter, Vec<Change>) {
        let Comparison { before, after, .. } = self.comparison;
        // Trees of one root each are compared whatever the roots are called.
        let roots = match (before.roots().collect::<Vec<_>>(), after.roots().collect::<Vec<_>>()) {
            (before, after) if before.len() == 1 && after.len() == 1 => {
                let (before, after) = (before.first().copied(), after.first().copied());
                vec![Pair { before, after, is_comparable: true, is_in_moved: false }]
            }
            (before, after) => {
                let above =
                    Pair { before: None, after: None, is_comparable: true, is_in_moved: false };
                self.merge(&before, &after, above).0
            }
        };
        let mut open: Vec<OpenDirectory> = Vec::new();
        let mut next = roots.into_iter();
        loop {
            let pair = match open.last_mut() {
                Some(directory) => directory.entries.next(),
                None => next.next(),
            };
            if let Some(pair) = pair {
                self.add(pair, &mut open);
            } else if let Some(left) = open.pop() {
                self.leave(&left, open.last_mut());
            } else {
                return (self.importer, self.found);
            }
        }
    }

    fn add(&mut self, pair: Pair, open: &mut Vec<OpenDirectory>) {
        let Comparison { before, after, .. } = self.comparison;
        let (table, row) = match (pair.before, pair.after) {
            (_, Some(row)) => (after, row),
            (Some(row), None) => (before, row),
            (None, None) => unreachable!("BUG: an entry that is nowhere"),
        };
        let change = self.change(pair);
        let place = self.found.len();
        self.found.push(change);
        let attributes = own_attributes(table, row);
        if attributes.file_type() != FileType::Directory {
            self.importer.add_entry(table.name(row), &attributes);
            if let Some(above) = open.last_mut() {
                above.has_changed |= is_change(&change);
            }
            return;
        }
        self.importer.enter(table.name(row), &attributes);
        if let Some(why) = table.unread_reason(row) {
            self.importer.mark_unread(why);
        }
        let (entries, has_changed) = self.entries(pair);
        open.push(OpenDirectory { place, entries: entries.into_iter(), has_changed });
    }

    fn leave(&mut self, left: &OpenDirectory, above: Option<&mut OpenDirectory>) {
        // A table has no two entries of the same name in a directory, and neither has the merge.
        self.importer.leave().expect("BUG: a name is there twice");
        let change = &mut self.found[left.place];
        if left.has_changed && change.state == State::Same {
            change.state = State::Modified;
        }
        if let Some(above) = above {
            above.has_changed |= is_change(change);
        }
    }

    fn change(&self, pair: Pair) -> Change {
        let Comparison { before, after, .. } = self.comparison;
        let size = |table: &Table, row: Row| self.measure.size(&table.totals(row));
        let moved_from = pair.after.and_then(|row| self.moved_here.get(&row).copied());
        let state = match (pair.before, pair.after) {
            _ if moved_from.is_some() => State::Moved,
            _ if !pair.is_comparable => State::NotComparable,
            (Some(old), Some(new)) if differs(before, old, after, new) => State::Modified,
            (Some(_), Some(_)) if pair.is_in_moved => State::Moved,
            _ => State::Same,
        };
        Change {
            before: pair.before.map(|row| size(before, row)),
            after: pair.after.map(|row| size(after, row)),
            state,
            moved_from,
        }
    }

    /// Returns the entries of a directory, sorted by name, and whether one is gone that is not among them.
    fn entries(&self, pair: Pair) -> (Vec<Pair>, bool) {
        let Comparison { before, after, .. } = self.comparison;
        let old = pair.before.filter(|&row| before.file_type(row) == FileType::Directory);
        // What was in a directory that could not be read now is not gone.
        let is_gone = pair.after.is_none_or(|row| after.unread_reason(row).is_none());
        let was_read = old.is_none_or(|row| before.unread_reason(row).is_none());
        let old: Vec<Row> = old.into_iter().flat_map(|row| before.children(row)).collect();
        let new: Vec<Row> = pair.after.into_iter().flat_map(|row| after.children(row)).collect();
        let is_in_moved =
            pair.is_in_moved || pair.after.is_some_and(|row| self.moved_here.contains_key(&row));
        let is_comparable = pair.is_comparable && was_read;
        let above = Pair { is_comparable, is_in_moved, ..pair };
        if is_gone {
            return self.merge(&old, &new, above);
        }
        let is_there = |row: &&Row| {
            let name = before.name(**row);
            pair.after.is_some_and(|directory| after.child(directory, name).is_some())
        };
        let old: Vec<Row> = old.iter().filter(is_there).copied().collect();
        self.merge(&old, &new, above)
    }

    /// Merges the entries of a directory, two lists that are sorted by name.
    fn merge(&self, old: &[Row], new: &[Row], above: Pair) -> (Vec<Pair>, bool) {
        let Comparison { before, after, .. } = self.comparison;
        let mut pairs = Vec::with_capacity(new.len());
        let mut has_lost = false;
        let (mut old, mut new) = (old.iter().copied().peekable(), new.iter().copied().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return (pairs, has_lost),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(&old), Some(&new)) => {
                    let (old, new) = (before.name(old), after.name(new));
                    old.as_encoded_bytes().cmp(new.as_encoded_bytes())
                }
            };
            let gone = if order.is_le() { old.next() } else { None };
            // What moved away is shown where it is now.
            has_lost |= gone.is_some_and(|row| self.moved_away.contains(&row));
            let gone = gone.filter(|row| !self.moved_away.contains(row));
            let here = if order.is_ge() { new.next() } else { None };
            let origin = here.and_then(|row| self.moved_here.get(&row).copied());
            // An entry that another one replaced has no place of its own.
            has_lost |= origin.is_some();
            let before = origin.or(gone);
            if before.is_some() || here.is_some() {
                let is_comparable = above.is_comparable || before.is_some();
                pairs.push(Pair { before, after: here, is_comparable, ..above });
            }
        }
    }
}

fn is_change(change: &Change) -> bool {
    change.state != State::Same || change.before != change.after
}

/// Returns the attributes that the page shows; the sizes are those that this name is charged with.
fn own_attributes(table: &Table, row: Row) -> Attributes {
    let (mut attributes, own) = (table.attributes(row), table.own_totals(row));
    attributes.retain(SHOWN);
    if attributes.file_type() != FileType::Directory {
        attributes.set_size(own.apparent);
    }
    attributes.set_allocated(own.disk_usage);
    attributes
}

/// Returns whether an entry other than a directory has other attributes, as far as both are known.
fn differs(before: &Table, old: Row, after: &Table, new: Row) -> bool {
    let (old, new) = (before.attributes(old), after.attributes(new));
    if old.file_type() != new.file_type() {
        return true;
    }
    old.file_type() != FileType::Directory
        && changed_fields(&old, &new).intersects(SHOWN | FieldMask::SIZE)
}
