//! Files with several names: each counts once in the whole tree, not once in each part.
//!
//! A file is charged to the first of its names, by the directories that hold them in tree order; a part knows only
//! some of them. So all names of all files are sorted by file; where a part charged another name than the
//! whole tree does, bytes go from one row to another. What a directory gains or loses is the sum of that over its rows:
//!
//! ```text
//! names by file ─► (row, ± bytes) ─► by row ─► sums up to each row ─► a directory: sum at its end − sum at its row
//! ```

use std::collections::HashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::io;
use std::path::{Path, PathBuf};

use foldhash::fast::FixedState;
use transect_sys::FileId;

use crate::scratch::Scratch;
use crate::sorter::{Sorted, Sorter, u64_at, u128_at};

/// The bytes of a name, of a change, and of a sum.
const NAME_BYTES: usize = 56;
const CHANGE_BYTES: usize = 25;
const SUM_BYTES: usize = 40;

/// The number of sums in a block, and the number of blocks that stay in memory.
const BLOCK_SUMS: usize = 1024;
const KEPT_BLOCKS: usize = 8;

/// A name of a file that may have others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinkedName {
    pub(super) id: FileId,
    /// Its place in the whole tree, and in its part.
    pub(super) place: NamePlace,
    pub(super) in_part: NamePlace,
    pub(super) part: u32,
    /// The directory that holds it has the totals of the part, which charges each file once.
    pub(super) is_charged_by_part: bool,
    pub(super) size: u64,
    pub(super) allocated: u64,
}

/// Where a name is. Names in the same directory are in the order of their rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NamePlace {
    /// The row of its directory, from 1 on; 0 for a root.
    pub(super) parent: u32,
    pub(super) row: u32,
}

impl LinkedName {
    /// Returns the name as bytes, which sort by file and place.
    fn to_bytes(self) -> [u8; NAME_BYTES] {
        let pair = |first: u32, second: u32| u64::from(first) << 32 | u64::from(second);
        let numbers = [
            self.id.device,
            self.id.inode,
            pair(self.place.parent, self.place.row),
            pair(self.in_part.parent, self.in_part.row),
            pair(self.part, self.is_charged_by_part.into()),
            self.size,
            self.allocated,
        ];
        let mut bytes = [0; NAME_BYTES];
        for (bytes, number) in bytes.as_chunks_mut().0.iter_mut().zip(numbers) {
            *bytes = number.to_be_bytes();
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; NAME_BYTES]) -> Self {
        let wide = |at: usize| u64_at(bytes, at);
        let narrow = |at: usize| (wide(at) >> 32) as u32;
        Self {
            id: FileId { device: wide(0), inode: wide(8) },
            place: NamePlace { parent: narrow(16), row: narrow(20) },
            in_part: NamePlace { parent: narrow(24), row: narrow(28) },
            part: narrow(32),
            is_charged_by_part: narrow(36) != 0,
            size: wide(40),
            allocated: wide(48),
        }
    }
}

/// The names that were found.
#[derive(Debug)]
pub(super) struct LinkedNames {
    names: Sorter<NAME_BYTES>,
    folder: PathBuf,
    memory: usize,
}

impl LinkedNames {
    /// Returns an empty set that uses up to `2 * memory` bytes.
    pub(super) fn new(folder: &Path, memory: usize) -> Self {
        Self { names: Sorter::new(folder, memory), folder: folder.to_owned(), memory }
    }

    pub(super) fn add(&mut self, name: LinkedName) -> io::Result<()> {
        self.names.push(name.to_bytes())
    }

    /// Returns the changes against the totals of parts.
    pub(super) fn changes(self) -> io::Result<Changes> {
        let mut changes = Sorter::new(&self.folder, self.memory);
        let mut names = self.names.sorted()?;
        let mut file: Option<OneFile> = None;
        while let Some(bytes) = names.next()? {
            let name = LinkedName::from_bytes(&bytes);
            match &mut file {
                Some(file) if file.id == name.id => file.add(name, &mut changes)?,
                _ => {
                    let mut next =
                        OneFile { id: name.id, first: name, charged: HashMap::default() };
                    next.add(name, &mut changes)?;
                    if let Some(file) = file.replace(next) {
                        file.end(&mut changes)?;
                    }
                }
            }
        }
        if let Some(file) = file {
            file.end(&mut changes)?;
        }
        Changes::of(changes.sorted()?, &self.folder)
    }
}

/// The names of one file, in the order of the whole tree.
struct OneFile {
    id: FileId,
    first: LinkedName,
    /// For each part, the first of the names so far in its order.
    charged: HashMap<u32, LinkedName, FixedState>,
}

impl OneFile {
    fn add(&mut self, name: LinkedName, changes: &mut Sorter<CHANGE_BYTES>) -> io::Result<()> {
        match self.charged.entry(name.part) {
            Entry::Vacant(entry) => {
                entry.insert(name);
                Ok(())
            }
            Entry::Occupied(mut entry) => {
                let later = match name.in_part < entry.get().in_part {
                    true => entry.insert(name),
                    false => name,
                };
                self.change(&later, false, changes)
            }
        }
    }

    fn end(self, changes: &mut Sorter<CHANGE_BYTES>) -> io::Result<()> {
        self.charged.values().try_for_each(|name| self.change(name, true, changes))
    }

    /// Records what changes if the part charges a name, or not, where it charges names.
    fn change(
        &self,
        name: &LinkedName,
        charged_in_part: bool,
        changes: &mut Sorter<CHANGE_BYTES>,
    ) -> io::Result<()> {
        let before = charged_in_part || !name.is_charged_by_part;
        let after = name.place == self.first.place;
        if before == after {
            return Ok(());
        }
        let mut bytes = [0; CHANGE_BYTES];
        bytes[..8].copy_from_slice(&u64::from(name.place.row).to_be_bytes());
        bytes[8] = after.into();
        bytes[9..17].copy_from_slice(&name.size.to_be_bytes());
        bytes[17..].copy_from_slice(&name.allocated.to_be_bytes());
        changes.push(bytes)
    }
}

/// Bytes that directories gain or lose: apparent and allocated.
pub(super) type Bytes = (i128, i128);

/// What all rows up to each one gain and lose.
#[derive(Debug)]
pub(super) struct Changes {
    /// Row, sum of apparent and of allocated bytes, by row.
    sums: Scratch,
    count: usize,
    /// The row of the first sum of each block.
    blocks: Vec<u64>,
    /// Blocks that were read last.
    kept: VecDeque<(usize, Vec<u8>)>,
}

impl Changes {
    fn of(mut sorted: Sorted<CHANGE_BYTES>, folder: &Path) -> io::Result<Self> {
        let sums = Scratch::new(Some(folder));
        let mut changes = Self { sums, count: 0, blocks: Vec::new(), kept: VecDeque::new() };
        let mut sum: Bytes = (0, 0);
        while let Some(change) = sorted.next()? {
            let row = u64_at(&change, 0);
            let sign = if change[8] == 0 { -1 } else { 1 };
            sum.0 += sign * i128::from(u64_at(&change, 9));
            sum.1 += sign * i128::from(u64_at(&change, 17));
            if changes.count.is_multiple_of(BLOCK_SUMS) {
                changes.blocks.push(row);
            }
            changes.count += 1;
            let mut bytes = [0; SUM_BYTES];
            bytes[..8].copy_from_slice(&row.to_be_bytes());
            bytes[8..24].copy_from_slice(&sum.0.to_be_bytes());
            bytes[24..].copy_from_slice(&sum.1.to_be_bytes());
            changes.sums.append(&bytes)?;
        }
        Ok(changes)
    }

    /// Returns what some rows gain and lose together.
    pub(super) fn between(&mut self, first: u64, end: u64) -> io::Result<Bytes> {
        if self.count == 0 {
            return Ok((0, 0));
        }
        let (before, all) = (self.before(first)?, self.before(end)?);
        Ok((all.0 - before.0, all.1 - before.1))
    }

    /// Returns what all rows before one gain and lose.
    fn before(&mut self, row: u64) -> io::Result<Bytes> {
        let Some(number) = self.blocks.partition_point(|&first| first < row).checked_sub(1) else {
            return Ok((0, 0));
        };
        let block = self.block(number)?;
        let (sums, _) = block.as_chunks::<SUM_BYTES>();
        let last = sums.partition_point(|sum| u64_at(sum, 0) < row) - 1;
        Ok((u128_at(&sums[last], 8) as i128, u128_at(&sums[last], 24) as i128))
    }

    fn block(&mut self, number: usize) -> io::Result<&[u8]> {
        let at = match self.kept.iter().position(|(kept, _)| *kept == number) {
            Some(at) => at,
            None => {
                let first = number * BLOCK_SUMS;
                let mut block = vec![0; BLOCK_SUMS.min(self.count - first) * SUM_BYTES];
                self.sums.read_exact_at((first * SUM_BYTES) as u64, &mut block)?;
                if self.kept.len() == KEPT_BLOCKS {
                    self.kept.pop_front();
                }
                self.kept.push_back((number, block));
                self.kept.len() - 1
            }
        };
        Ok(&self.kept[at].1)
    }
}
