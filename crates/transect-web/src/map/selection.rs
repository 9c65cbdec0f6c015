//! Which entries are shown individually, and in which order.
//!
//! Entries are in breadth-first order, those of a directory together, the largest first. So the
//! numbers of children locate all entries, and drawing can stop at the first entry that is too
//! small.
//!
//! In a partial table, entries without rows are summed up beside the others.

use std::cmp::Reverse;

use transect::table::{Row, SubtreeTotals, Table};
use transect_text::measure::Measure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The parent of several roots.
    Top,
    Entry(Row),
    /// The smallest entries of a directory and those without rows, summed up: an index into
    /// [`Selection::remainders`].
    Remainder(u32),
}

/// The items shown.
#[derive(Debug, Default)]
pub(super) struct Selection {
    pub(super) items: Vec<Item>,
    /// The number of children of each item.
    pub(super) children: Vec<u32>,
    pub(super) sizes: Vec<u64>,
    pub(super) remainders: Vec<SubtreeTotals>,
}

impl Selection {
    /// Returns the `max_entries` largest entries, which include their ancestors: a directory is at
    /// least as large as its entries. Among equals, the first by name is taken.
    pub(super) fn of(table: &Table, measure: Measure, max_entries: usize) -> Self {
        let size = |row: Row| measure.size(&table.totals(row));
        let mut threshold = SizeThreshold::of(table, size, max_entries);
        let mut selection = Self::default();
        // Before anything is read, there is no root either.
        if table.roots().len() != 1 {
            selection.push(Item::Top, measure.size(&table.grand_total()));
        }
        selection.append(
            table,
            measure,
            table.roots(),
            SubtreeTotals::default(),
            &mut SizeThreshold::all(),
        );
        let roots = selection.items.len();
        let mut at = 0;
        while let Some(&item) = selection.items.get(at) {
            let before = selection.items.len();
            if let Item::Entry(row) = item {
                let (children, unlisted) = (table.children(row), table.unlisted(row));
                selection.append(table, measure, children, unlisted, &mut threshold);
                selection.children[at] = count(selection.items.len() - before);
            } else if item == Item::Top {
                selection.children[at] = count(roots - 1);
            }
            at += 1;
        }
        selection
    }

    /// Returns the number of entries shown individually.
    pub(super) fn entries(&self) -> usize {
        self.items.iter().filter(|item| matches!(item, Item::Entry(_))).count()
    }

    /// Appends the entries of a directory, and the remainder of those without rows.
    fn append(
        &mut self,
        table: &Table,
        measure: Measure,
        children: impl Iterator<Item = Row>,
        unlisted: SubtreeTotals,
        threshold: &mut SizeThreshold,
    ) {
        let size = |row: Row| measure.size(&table.totals(row));
        let mut sorted: Vec<(u64, Row)> = children.map(|row| (size(row), row)).collect();
        sorted.sort_by_key(|&(size, _)| Reverse(size));
        // A single area inside another one would show nothing new.
        let beside = unlisted.entries() > 0 && !sorted.is_empty();
        let mut more = beside.then_some(unlisted);
        sorted.retain(|&(size, row)| {
            let accepts = threshold.accepts(size);
            if !accepts {
                *more.get_or_insert_default() += table.totals(row);
            }
            accepts
        });
        // The remainder may be larger than some entries.
        let item = Item::Remainder(count(self.remainders.len()));
        let rest = more.map(|sums| (measure.size(&sums), item));
        self.remainders.extend(more);
        let place = rest.map_or(0, |(rest, _)| sorted.partition_point(|&(size, _)| size >= rest));
        let (larger, smaller) = sorted.split_at(place);
        larger.iter().for_each(|&(size, row)| self.push(Item::Entry(row), size));
        if let Some((size, item)) = rest {
            self.push(item, size);
        }
        smaller.iter().for_each(|&(size, row)| self.push(Item::Entry(row), size));
    }

    fn push(&mut self, item: Item, size: u64) {
        self.items.push(item);
        self.children.push(0);
        self.sizes.push(size);
    }
}

/// The smallest size shown.
struct SizeThreshold {
    /// Entries larger than this are shown; all if `None`.
    above: Option<u64>,
    /// How many entries of exactly that size are shown.
    equals: usize,
}

impl SizeThreshold {
    fn all() -> Self {
        Self { above: None, equals: 0 }
    }

    fn of(table: &Table, size: impl Fn(Row) -> u64, max_entries: usize) -> Self {
        if usize::try_from(table.len()).is_ok_and(|entries| entries <= max_entries) {
            return Self::all();
        }
        // Roots are always shown.
        let max_entries = max_entries.saturating_sub(table.roots().len());
        let mut sizes: Vec<u64> =
            table.roots().flat_map(|root| table.subtree(root).skip(1)).map(size).collect();
        if max_entries >= sizes.len() {
            return Self::all();
        }
        let (larger, &mut above, _) =
            sizes.select_nth_unstable_by_key(max_entries, |&size| Reverse(size));
        let equals = larger.iter().filter(|&&size| size == above).count();
        Self { above: Some(above), equals }
    }

    fn accepts(&mut self, size: u64) -> bool {
        match self.above {
            Some(above) if size == above && self.equals > 0 => {
                self.equals -= 1;
                true
            }
            Some(above) => size > above,
            None => true,
        }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).expect("BUG: a table has no more rows")
}
