//! The records of a directory block.
//!
//! Source: Linux, `fs/ext4/ext4.h` (`struct ext4_dir_entry_2`, `ext4_rec_len_from_disk`),
//! `fs/ext4/namei.c` (`ext4_dirblock_csum_verify`), `Documentation/filesystems/ext4/directory.rst`.
//! The blocks of a directory's hash tree look like unused records.

use std::io;

use transect_sys::processor::crc32c;

use super::super::error::invalid;
use super::super::index::Names;
use super::super::source::Fields;
use super::inode_tables::Found;
use super::superblock::{Superblock, incompat};

/// The record at the end of a block that holds its checksum.
const TAIL: [u8; 8] = [0, 0, 0, 0, 12, 0, 0, 0xDE];
const TYPE_DIRECTORY: u8 = 2;
const TYPE_UNKNOWN: u8 = 0;

/// How the records of a directory are to be read.
#[derive(Clone, Copy)]
pub(super) struct Records<'a> {
    pub(super) superblock: &'a Superblock,
    pub(super) directory: &'a Found,
}

impl Records<'_> {
    /// Adds the entries of a block, which may be the first one.
    /// Of a damaged block, the entries before the damage are added; all of them if only `.` or `..` is wrong.
    pub(super) fn add_block(
        self,
        block: &[u8],
        is_first: bool,
        names: &mut Names,
    ) -> io::Result<()> {
        self.add_entries(block, names)?;
        match is_first && !self.has_dots(block) {
            true => Err(invalid("`.` or `..` is missing in the directory")),
            false => Ok(()),
        }
    }

    /// Returns whether a block begins with the directory itself and the one above it.
    fn has_dots(self, block: &[u8]) -> bool {
        let fields = Fields(block);
        let second = self.record_length(fields.u16(4));
        let name = |at: usize| block.get(at + 8..at + 8 + usize::from(block[at + 6]));
        fields.u32(0) == self.directory.inode
            && name(0) == Some(b".")
            && second + 8 <= block.len()
            && name(second) == Some(b"..")
    }

    fn add_entries(self, block: &[u8], names: &mut Names) -> io::Result<()> {
        let wrong = || invalid("the checksum of a block of the directory is wrong");
        let has_checksums = self.superblock.has_checksums();
        if let Some(entries) = self.index_entries(block) {
            return match has_checksums && !self.index_is_right(block, entries) {
                true => Err(wrong()),
                false => Ok(()),
            };
        }
        if !has_checksums {
            return self.add_records(block, names);
        }
        let (covered, tail) = block.split_at(block.len() - 12);
        if tail[..8] != TAIL || crc32c(self.directory.seed, covered) != Fields(tail).u32(8) {
            return Err(wrong());
        }
        self.add_records(covered, names)
    }

    /// Returns where the entries of a hash tree's block begin, if it is one: it has one record that is not in use, or
    /// `.` and `..`, up to its end. Its checksum is at another place, and the end of an earlier use may be left.
    fn index_entries(self, block: &[u8]) -> Option<usize> {
        let fields = Fields(block);
        let length = |at: usize| self.record_length(fields.u16(at + 4));
        let is_root = length(0) == 12
            && &block[8..10] == b".\0"
            && length(12) == block.len() - 12
            && block[18] == 2
            && &block[20..22] == b"..";
        let is_node = fields.u32(0) == 0 && length(0) == block.len();
        if is_node { Some(8) } else { is_root.then_some(32) }
    }

    /// Returns whether the checksum of a hash tree's block is right (`ext4_dx_csum`): behind the room for entries, of
    /// those that are in use.
    fn index_is_right(self, block: &[u8], entries: usize) -> bool {
        let fields = Fields(block);
        let [room, used] = [0, 2].map(|at| entries + 8 * usize::from(fields.u16(entries + at)));
        if used > room || room + 8 > block.len() {
            return false;
        }
        let crc = crc32c(crc32c(self.directory.seed, &block[..used]), &block[room..room + 4]);
        crc32c(crc, &[0; 4]) == fields.u32(room + 4)
    }

    /// Adds the entries of consecutive records.
    /// Those before a damaged one are added.
    pub(super) fn add_records(self, mut records: &[u8], names: &mut Names) -> io::Result<()> {
        let has_type = self.superblock.has_incompat(incompat::FILE_TYPE);
        let damaged = || invalid("a record of the directory is damaged");
        while !records.is_empty() {
            let Some(&[a, b, c, d, low, high, name_length, file_type]) = records.first_chunk()
            else {
                return Err(damaged());
            };
            let inode = u32::from_le_bytes([a, b, c, d]);
            let length = self.record_length(u16::from_le_bytes([low, high]));
            let name_length = usize::from(name_length);
            if length < 8 + name_length || !length.is_multiple_of(4) || length > records.len() {
                return Err(damaged());
            }
            let name = &records[8..8 + name_length];
            records = &records[length..];
            if inode == 0 || name == b"." || name == b".." {
                continue;
            }
            let file_type = if has_type { file_type & 0x7 } else { TYPE_UNKNOWN };
            let may_be_directory = matches!(file_type, TYPE_DIRECTORY | TYPE_UNKNOWN);
            if self.directory.encrypted {
                names.push(encoded(name).as_bytes(), inode, may_be_directory);
            } else if !is_possible(name) {
                return Err(damaged());
            } else {
                names.push(name, inode, may_be_directory);
            }
        }
        Ok(())
    }

    /// Returns the length of a record. In blocks of 64 KiB, the lowest bits stand for the highest.
    fn record_length(self, stored: u16) -> usize {
        let stored = usize::from(stored);
        match self.superblock.block_size {
            65536 if stored == 0 || stored == 0xFFFF => 65536,
            65536 => (stored & 0xFFFC) | (stored & 3) << 16,
            _ => stored,
        }
    }
}

/// Returns whether an entry can have this name: there is a byte, and none is NUL or a slash.
fn is_possible(name: &[u8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // The highest bit of the lowest byte that is zero, and perhaps of some behind it.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & ONES << 7;
    let found = |word: u64| zeros(word) | zeros(word ^ (ONES * u64::from(b'/')));
    let found_in = |word: &[u8; 8]| found(u64::from_le_bytes(*word));
    let (words, rest) = name.as_chunks();
    // The last word may have some bytes of the one before it.
    let in_last = name.last_chunk().map_or_else(
        || {
            let mut last = [b'.'; 8];
            last[..rest.len()].copy_from_slice(rest);
            found_in(&last)
        },
        found_in,
    );
    words.iter().fold(in_last, |all, word| all | found_in(word)) == 0 && !name.is_empty()
}

/// Returns encrypted bytes as text: hexadecimal digits. A name may have 255 bytes, so that of a longer one
/// ends with a checksum.
fn encoded(name: &[u8]) -> String {
    let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match name.get(..120) {
        None => digits(name),
        Some(first) => format!("{}~{:08x}", digits(first), crc32c(!0, name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_possible_nul_and_slash_at_every_place() {
        assert!(!is_possible(b""));
        for length in 1..40 {
            let mut name: Vec<u8> = (0..length).map(|at| b'0' + (at * 7 % 200) as u8).collect();
            assert!(is_possible(&name), "{name:?}");
            for at in 0..length {
                for impossible in [0, b'/'] {
                    let before = std::mem::replace(&mut name[at], impossible);
                    assert!(!is_possible(&name), "{name:?}");
                    name[at] = before;
                }
            }
        }
    }
}
