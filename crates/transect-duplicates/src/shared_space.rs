//! The space that clones (reflinks) share: counted once in a tree, and what removing an entry would free.
//!
//! `FIEMAP` reports that an extent is shared, but not with what. So the shared extents of all files of the tree are
//! sorted by their place on the device. For each piece of the device:
//!
//! * The first file that has it is charged with it, as the first name of a file with several.
//! * If several files have it, the lowest entry that holds all their names frees it, unless something outside the tree
//!   shares it as well.
//! * If only one file has it, something outside the tree shares it: removing the file does not free it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::io;
use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use transect::table::{Row, Table};
use transect::{Diagnostics, FileType, Operation, ScanError};
use transect_sys::FileId;
use transect_sys::extents::{SharingVolumes, shared_extents};

use crate::parallel::in_parallel;
use crate::progress::Phase;
use crate::read::FileReader;
use crate::search::FindOptions;

/// Files per step of a thread.
const CHUNK: usize = 64;

/// What the files of a table share as clones, with each other or with files elsewhere.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SharedSpace {
    /// Files whose extents could not be queried, or that vanished. They count as if they shared nothing.
    pub diagnostics: Diagnostics,
    /// Bytes that are counted more than once in the grand total of the table.
    pub again: u64,
    of: HashMap<Row, Shares, FixedState>,
}

/// Bytes in and below an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shares {
    /// Charged to another file.
    again: u64,
    /// Shared by files with all their names here.
    shared: u64,
    /// Of these, what no file of the tree elsewhere has, each byte of the device once.
    only_here: u64,
}

impl SharedSpace {
    /// Returns the disk usage of an entry, with everything below it. A byte of the device counts once in the table, so
    /// that the sums of sibling directories add up.
    pub fn disk_usage(&self, table: &Table, row: Row) -> u64 {
        table.totals(row).disk_usage.saturating_sub(self.shares(row).again)
    }

    /// Returns the least and the most that removing an entry would free, with everything below it. They differ by what
    /// only files in it share, as far as the table shows: a snapshot or a file elsewhere may share it, too. A Btrfs frees an
    /// extent as a whole, so parts of it that no file uses any more are freed in addition.
    pub fn exclusive(&self, table: &Table, row: Row) -> Range<u64> {
        let (shares, alone) = (self.shares(row), table.exclusive(row));
        let least = alone.saturating_sub(shares.shared);
        least..alone.min(least.saturating_add(shares.only_here))
    }

    fn shares(&self, row: Row) -> Shares {
        self.of.get(&row).copied().unwrap_or_default()
    }
}

/// Queries which extents the files of a table with [`COLUMNS`](crate::COLUMNS) share: one call for each file on Btrfs,
/// XFS, OCFS2 and bcachefs on Linux. Elsewhere, no file is opened.
///
/// Uses the number of threads, `follow` and `cancel` of the options.
pub fn shared_space(table: &Table, options: &FindOptions) -> SharedSpace {
    let occupies = |row: &Row| {
        table.file_type(*row) == FileType::File && table.allocated(*row).is_some_and(|it| it > 0)
    };
    let rows: Vec<Row> = table.iter().filter(occupies).collect();
    let query = || Query {
        table,
        reader: FileReader::new(table, &options.progress, options.follow),
        volumes: SharingVolumes::default(),
        found: Found::default(),
        failed: Vec::new(),
    };
    let threads = options.thread_count();
    options.progress.begin(Phase::Whole, rows.len());
    let queries =
        in_parallel(threads, rows.len(), CHUNK, &options.cancel, query, |query, index| {
            if let Err(error) = query.file(rows[index], index as u32) {
                query.failed.push((rows[index], error));
            }
            options.progress.add_file();
        });
    let mut found = Found::default();
    let mut diagnostics = Diagnostics::new(Diagnostics::DEFAULT_KEPT);
    for query in queries {
        found.append(query.found);
        for (row, error) in query.failed {
            if error.kind() == io::ErrorKind::NotFound {
                diagnostics.vanished += 1;
                continue;
            }
            let depth = u32::try_from(table.depth(row)).unwrap_or(u32::MAX);
            diagnostics.add(ScanError::new(Operation::ReadFile, table.path(row), depth, error));
        }
    }
    diagnostics.sort();
    found.find_other_names(table, &rows);
    let (again, of) = found.shares(table, &rows);
    SharedSpace { diagnostics, again, of }
}

/// What one thread queries.
struct Query<'t> {
    table: &'t Table,
    reader: FileReader<'t>,
    volumes: SharingVolumes,
    found: Found,
    failed: Vec<(Row, io::Error)>,
}

impl Query<'_> {
    fn file(&mut self, row: Row, position: u32) -> io::Result<()> {
        if self.table.totals(row).disk_usage == 0 {
            // Charged to another of its names.
            return Ok(());
        }
        let device = self.table.attributes(row).device();
        let path = || self.table.path(self.table.top_of_device(row));
        let volume = self.volumes.volume_of(device, path)?;
        let Some(volume) = volume else { return Ok(()) };
        let parts = shared_extents(&self.reader.open(row)?)?.unwrap_or_default();
        self.found.add(position, row, volume, parts);
        Ok(())
    }
}

/// Shared extents, and the files that have them.
#[derive(Debug, Default)]
struct Found {
    extents: Vec<Extent>,
    files: Vec<SharingFile>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Extent {
    volume: u64,
    start: u64,
    end: u64,
    /// The index of the file.
    file: u32,
}

#[derive(Debug)]
struct SharingFile {
    /// The name that the file is charged to.
    row: Row,
    /// The positions of its first and its last name, in the order of names.
    first: u32,
    last: u32,
    /// Bytes of its shared extents.
    shared: u64,
}

/// The last position of a file with names that are not in the table.
const OUTSIDE: u32 = u32::MAX;

impl Found {
    fn add(&mut self, position: u32, row: Row, volume: u64, parts: Vec<Range<u64>>) {
        let (file, mut shared) = (self.files.len() as u32, 0);
        for Range { start, end } in parts {
            shared += end - start;
            match self.extents.last_mut() {
                Some(last) if last.file == file && last.end == start => last.end = end,
                _ => self.extents.push(Extent { volume, start, end, file }),
            }
        }
        if shared > 0 {
            let (first, last) = (position, position);
            self.files.push(SharingFile { row, first, last, shared });
        }
    }

    fn append(&mut self, other: Self) {
        if self.files.is_empty() {
            *self = other;
            return;
        }
        let before = self.files.len() as u32;
        let extents = other.extents.into_iter();
        self.extents.extend(extents.map(|it| Extent { file: it.file + before, ..it }));
        self.files.extend(other.files);
    }

    /// Finds the first and the last name of each file, in `rows`.
    fn find_other_names(&mut self, table: &Table, rows: &[Row]) {
        let id_of = |row: Row| {
            let attributes = table.attributes(row);
            attributes.file_id().filter(|_| attributes.nlink() != Some(1))
        };
        let linked = self.files.iter_mut().filter_map(|file| Some((id_of(file.row)?, (file, 0))));
        let mut linked: HashMap<FileId, (&mut SharingFile, u32), FixedState> = linked.collect();
        if linked.is_empty() {
            return;
        }
        for (position, &row) in (0..).zip(rows) {
            if let Some((file, names)) = id_of(row).and_then(|id| linked.get_mut(&id)) {
                (file.first, file.last) = (file.first.min(position), file.last.max(position));
                *names += 1;
            }
        }
        for (file, names) in linked.into_values() {
            if table.attributes(file.row).nlink().is_some_and(|count| count > names) {
                file.last = OUTSIDE;
            }
        }
    }

    /// Returns the sum of what is counted more than once, and the shares of each entry.
    fn shares(mut self, table: &Table, rows: &[Row]) -> (u64, HashMap<Row, Shares, FixedState>) {
        // The deepest come first, so that each entry is complete when it is added to its directory.
        let mut waiting: BTreeMap<(Reverse<usize>, Row), Shares> = BTreeMap::new();
        let key = |row| (Reverse(table.depth(row)), row);
        let mut lowest: Option<((u32, u32), Option<Row>)> = None;
        self.extents.sort_unstable();
        let Self { extents, files } = &self;
        let mut charged = vec![0; files.len()];
        sweep(extents, files, |piece| {
            charged[piece.file as usize] += piece.length;
            if piece.uses == 1 || piece.last == OUTSIDE {
                return;
            }
            // Neighbours most often belong to the same files.
            let ends = (piece.first, piece.last);
            if lowest.is_none_or(|(of, _)| of != ends) {
                let rows = [piece.first, piece.last].map(|position| rows[position as usize]);
                lowest = Some((ends, lowest_common(table, rows)));
            }
            if let Some((_, Some(row))) = lowest {
                waiting.entry(key(row)).or_default().only_here += piece.length;
            }
        });
        for (file, charged) in files.iter().zip(charged) {
            waiting.entry(key(file.row)).or_default().again += file.shared - charged;
            if file.last != OUTSIDE {
                let rows = [file.first, file.last].map(|position| rows[position as usize]);
                if let Some(row) = lowest_common(table, rows) {
                    waiting.entry(key(row)).or_default().shared += file.shared;
                }
            }
        }
        let (mut again, mut of) = (0, HashMap::default());
        while let Some(((Reverse(depth), row), shares)) = waiting.pop_first() {
            of.insert(row, shares);
            match table.parent(row) {
                Some(parent) => {
                    let above = waiting.entry((Reverse(depth - 1), parent)).or_default();
                    above.again += shares.again;
                    above.shared += shares.shared;
                    above.only_here += shares.only_here;
                }
                None => again += shares.again,
            }
        }
        (again, of)
    }
}

/// Returns the lowest entry that holds both rows, or is both.
fn lowest_common(table: &Table, rows: [Row; 2]) -> Option<Row> {
    let [one, other] = rows.map(|row| {
        let mut path: Vec<Row> = table.ancestors(row).collect();
        path.reverse();
        path
    });
    let common = one.into_iter().zip(other).take_while(|(one, other)| one == other);
    common.last().map(|(row, _)| row)
}

/// A piece of a device that the same files share.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    length: u64,
    /// How often files of the table use it.
    uses: usize,
    /// The file with the first name.
    file: u32,
    /// The positions of the first and of the last name of all its files.
    first: u32,
    last: u32,
}

/// Cuts sorted extents where one of them begins or ends. The time for a piece grows with the logarithm of its uses.
fn sweep(extents: &[Extent], files: &[SharingFile], mut each: impl FnMut(Piece)) {
    // The extents at the current place, by their ends and by the names of their files.
    let mut ends: BinaryHeap<Reverse<(u64, u64, usize)>> = BinaryHeap::new();
    let (mut firsts, mut lasts) = (BTreeSet::<(u32, usize)>::new(), BTreeSet::new());
    let mut at = 0;
    let mut next = 0;
    loop {
        let begins = extents.get(next).map(|it| (it.volume, it.start));
        let ending = ends.peek().map(|&Reverse((volume, end, _))| (volume, end));
        let Some(place) = begins.into_iter().chain(ending).min() else { return };
        if let (Some(&(first, index)), Some(&(last, _))) = (firsts.first(), lasts.last())
            && place.1 > at
        {
            let file = extents[index].file;
            each(Piece { length: place.1 - at, uses: ends.len(), file, first, last });
        }
        at = place.1;
        // All that end here come before those that begin.
        if let Some(&Reverse((volume, end, index))) = ends.peek()
            && (volume, end) == place
        {
            ends.pop();
            let file = &files[extents[index].file as usize];
            firsts.remove(&(file.first, index));
            lasts.remove(&(file.last, index));
        } else {
            let Extent { volume, end, file, .. } = extents[next];
            let file = &files[file as usize];
            ends.push(Reverse((volume, end, next)));
            firsts.insert((file.first, next));
            lasts.insert((file.last, next));
            next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweep_cuts_at_every_end() {
        let files = [(0, 0), (3, OUTSIDE), (1, 2)];
        let row = Table::read("src").unwrap().roots().next().unwrap();
        let files = files.map(|(first, last)| SharingFile { row, first, last, shared: 0 });
        let extent = |volume, start, end, file| Extent { volume, start, end, file };
        // Of the second volume, the same places are others.
        let extents = [
            extent(1, 0, 10, 0),
            extent(1, 5, 15, 2),
            extent(1, 20, 30, 1),
            extent(1, 20, 30, 2),
            extent(2, 20, 25, 0),
            extent(2, 20, 25, 0),
        ];
        let mut pieces = Vec::new();
        sweep(&extents, &files, |it| {
            pieces.push((it.length, it.uses, it.file, it.first, it.last));
        });
        let expected = [
            (5, 1, 0, 0, 0),
            (5, 2, 0, 0, 2),
            (5, 1, 2, 1, 2),
            (10, 2, 2, 1, OUTSIDE),
            (5, 2, 0, 0, 0),
        ];
        assert_eq!(pieces, expected);
    }
}
