//! Joins the parts: records get numbers, and names the numbers of their records.

use std::io;

use super::super::error::unsupported;
use super::super::index::{About, UNIX_FIELDS, VolumeIndex, record_of};
use super::super::inode_table::{InodeGroup, InodeTable, Role};
use super::super::threads::share_out;
use super::part::{PER_GROUP, Part};

/// A part, with the number of its first record and of its first directory.
struct Numbered {
    part: Part,
    first_record: u32,
    first_directory: u32,
}

/// Joins parts that are in the order of their inode numbers. Returns also, for each directory, whether it is damaged.
pub(super) fn join(
    parts: Vec<Part>,
    device: u64,
    root: u64,
    threads: usize,
) -> io::Result<(VolumeIndex, Vec<bool>)> {
    let (mut parts, inode_numbers) = number(parts)?;
    let records = Records::new(&inode_numbers);
    share_out(threads, parts.iter_mut(), || (), |(), part| renumber(part, &records));
    let per_group = PER_GROUP as u32;
    let mut inodes = InodeTable { first_inode: 1, per_group, ..InodeTable::default() };
    let (mut directories, mut names, mut damaged) = (Vec::new(), Vec::new(), Vec::new());
    for (number, Numbered { part, first_record, .. }) in (0..).zip(parts) {
        damaged.extend(part.directories.iter().map(|it| it.is_damaged));
        directories.extend(part.directories.iter().map(|it| first_record + it.record as u32));
        let count = part.inodes.records.len() as u32;
        inodes.groups.extend((0..count).step_by(PER_GROUP).map(|first| {
            let count = per_group.min(count - first);
            InodeGroup { part: number, first, count, error: None }
        }));
        inodes.parts.push(part.inodes);
        names.push(part.names);
    }
    let root = record_of(&inode_numbers, root).unwrap_or(0);
    let about = About { device, root, fields: UNIX_FIELDS, inode: "inode" };
    let index = VolumeIndex::new(about, inodes, directories, names, Vec::new());
    Ok((index.with_inode_numbers(inode_numbers), damaged))
}

/// Numbers the records of all parts. Returns also their inode numbers. Each part begins with a new group; the last
/// number of a part fills the group before, so that they are in ascending order.
fn number(parts: Vec<Part>) -> io::Result<(Vec<Numbered>, Vec<u64>)> {
    let groups_of = |part: &Part| part.inode_numbers.len().div_ceil(PER_GROUP);
    let groups: usize = parts.iter().map(groups_of).sum();
    if u32::try_from(groups * PER_GROUP + 1).is_err() {
        return Err(unsupported("it has more than 4,294,967,295 inodes"));
    }
    let mut inode_numbers = Vec::with_capacity(groups * PER_GROUP);
    let (mut numbered, mut first_directory) = (Vec::with_capacity(parts.len()), 0);
    for mut part in parts {
        let first_record = inode_numbers.len() as u32 + 1;
        let last = part.inode_numbers.last().copied().unwrap_or(0);
        let end = inode_numbers.len() + groups_of(&part) * PER_GROUP;
        inode_numbers.append(&mut part.inode_numbers);
        inode_numbers.resize(end, last);
        let directories = part.directories.len() as u32;
        numbered.push(Numbered { part, first_record, first_directory });
        first_directory += directories;
    }
    Ok((numbered, inode_numbers))
}

/// Finds the records of inode numbers.
struct Records<'a> {
    inode_numbers: &'a [u64],
    /// For 64 numbers each, the place of the first one from there on; one more at the end. Empty if most of them would
    /// have no number.
    first: Vec<u32>,
}

impl<'a> Records<'a> {
    fn new(inode_numbers: &'a [u64]) -> Self {
        let last = inode_numbers.last().copied().unwrap_or(0);
        let mut first = Vec::new();
        if last >> 6 < inode_numbers.len() as u64 {
            for (at, number) in (0..).zip(inode_numbers) {
                while first.len() as u64 <= number >> 6 {
                    first.push(at);
                }
            }
            first.push(inode_numbers.len() as u32);
        }
        Self { inode_numbers, first }
    }

    /// Returns the record of an inode number; 0 if there is none.
    fn find(&self, number: u64) -> u32 {
        let begin = match self.first.is_empty() {
            true => return record_of(self.inode_numbers, number).unwrap_or(0),
            false => usize::try_from(number >> 6).ok().and_then(|at| self.first.get(at..at + 2)),
        };
        let Some(&[begin, end]) = begin else { return 0 };
        let candidates = &self.inode_numbers[begin as usize..end as usize];
        record_of(candidates, number).map_or(0, |record| begin + record)
    }
}

fn renumber(numbered: &mut Numbered, records: &Records<'_>) {
    let Numbered { part, first_directory, .. } = numbered;
    for (directory, found) in (*first_directory..).zip(&part.directories) {
        part.inodes.records[found.record].set_role(Role::Directory(directory));
    }
    let named = std::mem::take(&mut part.named);
    // Most entries of a directory were created one after the other.
    let mut before = 0;
    let record = |number: u64| {
        before = match records.inode_numbers.get(before as usize) == Some(&number) {
            true => before + 1,
            false => records.find(number),
        };
        before
    };
    // The top of another subvolume has none: only the system has its attributes.
    part.names.renumber(*first_directory, named.into_iter().map(record));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_found_dense_and_sparse() {
        // Some are missing, and the last number of a part fills its group.
        let dense: Vec<u64> = (256..700).filter(|it| it % 7 != 0).chain([699; 40]).collect();
        let sparse: Vec<u64> = dense.iter().map(|it| it << 40).collect();
        for (numbers, is_dense) in [(dense, true), (sparse, false)] {
            let records = Records::new(&numbers);
            assert_eq!(records.first.is_empty(), !is_dense);
            for (at, number) in numbers.iter().enumerate().take(380) {
                assert_eq!(records.find(*number), at as u32 + 1);
                assert_eq!(records.find(number + 1) == 0, !numbers.contains(&(number + 1)));
            }
            for absent in [0, 1, 255, 259, 700, 10_000, 1 << 39, u64::MAX] {
                assert_eq!(records.find(absent), 0, "{absent}");
            }
        }
        assert_eq!(Records::new(&[]).find(256), 0);
    }
}
