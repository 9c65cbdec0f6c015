//! Queries over many entries.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::ffi::OsStr;
use std::hash::Hash;
use std::path::Path;

use foldhash::fast::FixedState;

use super::directories::{Children, Directory};
use super::{Row, SubtreeTotals, Table};

impl Table {
    /// Iterates over an entry and everything below it, sorted by name, a directory before its
    /// entries.
    pub fn subtree(&self, row: Row) -> Subtree<'_> {
        Subtree { table: self, next: Some(row), open: Vec::new() }
    }

    /// Iterates over all entries, sorted by name, a directory before its entries.
    pub fn iter(&self) -> impl Iterator<Item = Row> {
        self.roots().flat_map(|root| self.subtree(root))
    }

    /// Groups entries by `key` and adds up the totals of each group, sorted by key; entries with the key `None`
    /// are left out. An entry counts by itself, a directory without its entries, and each file is
    /// charged to one name: all groups together equal the [grand total](Table::grand_total).
    ///
    /// ```
    /// # use transect::{FieldMask, FileType, ScanOptions, table::TableBuilder};
    /// # let builder = TableBuilder::new(FieldMask::empty());
    /// # let table = ScanOptions::new(["src"]).plan()?.run(|| builder.sink())?.sink.into_table()?;
    /// let by_extension = table.group(table.iter(), |row| {
    ///     (table.file_type(row) == FileType::File).then(|| table.extension(row))
    /// });
    /// # assert!(by_extension.len() > 0);
    /// # Ok::<(), transect::Error>(())
    /// ```
    pub fn group<K: Hash + Ord>(
        &self,
        rows: impl IntoIterator<Item = Row>,
        key: impl Fn(Row) -> Option<K>,
    ) -> BTreeMap<K, SubtreeTotals> {
        let mut groups: HashMap<K, SubtreeTotals, FixedState> = HashMap::default();
        for row in rows {
            if let Some(key) = key(row) {
                *groups.entry(key).or_default() += self.own_totals(row);
            }
        }
        groups.into_iter().collect()
    }

    /// Groups entries by user id and adds up the totals, as [`Table::group`] does; `None` is an
    /// unknown owner. Without the column [`UID`](transect_sys::FieldMask::UID) all owners are
    /// unknown.
    pub fn by_owner(
        &self,
        rows: impl IntoIterator<Item = Row>,
    ) -> BTreeMap<Option<u32>, SubtreeTotals> {
        self.group(rows, |row| Some(self.attributes(row).uid()))
    }

    /// Returns the totals of an entry without the entries below it.
    pub fn own_totals(&self, row: Row) -> SubtreeTotals {
        match self.directory(row) {
            Some(_) => SubtreeTotals::of_entry(&self.attributes(row)),
            None => self.totals_of_leaf(row),
        }
    }

    /// Returns the part of a name after its last dot, unless that dot is the first byte.
    pub fn extension(&self, row: Row) -> Option<&OsStr> {
        Path::new(self.name(row)).extension()
    }

    /// Returns the `limit` rows with the highest `rank`, highest first. Rows of equal rank keep
    /// their order; rows of rank 0 are left out.
    pub fn largest(
        &self,
        rows: impl IntoIterator<Item = Row>,
        limit: usize,
        rank: impl Fn(Row) -> u64,
    ) -> Vec<Row> {
        // The lowest of those kept is on top.
        let mut kept: BinaryHeap<Reverse<(u64, Reverse<usize>, Row)>> = BinaryHeap::new();
        for (met, row) in rows.into_iter().enumerate() {
            let rank = rank(row);
            let is_less = |&Reverse((least, _, _)): &Reverse<(u64, _, _)>| rank <= least;
            if rank == 0 || (kept.len() >= limit && kept.peek().is_none_or(is_less)) {
                continue;
            }
            kept.push(Reverse((rank, Reverse(met), row)));
            if kept.len() > limit {
                kept.pop();
            }
        }
        kept.into_sorted_vec().into_iter().map(|Reverse((_, _, row))| row).collect()
    }
}

/// Iterator over an entry and everything below it.
#[derive(Debug)]
pub struct Subtree<'t> {
    table: &'t Table,
    next: Option<Row>,
    open: Vec<Children>,
}

impl Iterator for Subtree<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let row = self.next.take().or_else(|| {
            while let Some(children) = self.open.last_mut() {
                match children.next() {
                    Some(row) => return Some(row),
                    None => drop(self.open.pop()),
                }
            }
            None
        })?;
        if let Some(directory) = self.table.directory(row) {
            self.open.push(Directory::children(directory));
        }
        Some(row)
    }
}
