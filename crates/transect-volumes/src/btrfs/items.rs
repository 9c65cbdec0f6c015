//! The items that a tree search finds, and the records in them.
//!
//! Source: Linux, `include/uapi/linux/btrfs.h` (`struct btrfs_ioctl_search_header`),
//! `include/uapi/linux/btrfs_tree.h` (`struct btrfs_inode_item`, `struct btrfs_dir_item`), `fs/btrfs/inode.c`
//! (`btrfs_read_locked_inode`, `btrfs_getattr`).

use transect_sys::FileType;
use transect_sys::linux::BtrfsKey;

use super::super::inode_table::{InodeRecord, Sectors, Times};
use super::super::source::Fields;

/// Kinds of items. Those of one inode are in this order; others lie between them and after them.
pub(super) mod kind {
    pub(in super::super) const INODE: u8 = 1;
    pub(in super::super) const DIRECTORY_ENTRY: u8 = 96;
    pub(in super::super) const SUBVOLUME: u8 = 132;
}

const HEADER: usize = 32;
const INODE_LENGTH: usize = 160;
const BEFORE_NAME: usize = 30;
const TYPE_DIRECTORY: u8 = 2;

#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    pub(super) key: BtrfsKey,
    pub(super) content: &'a [u8],
}

/// The items that one call found. Ends where they are damaged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Items<'a> {
    pub(super) left: u32,
    pub(super) bytes: &'a [u8],
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        self.left = self.left.checked_sub(1)?;
        let (header, rest) = self.bytes.split_at_checked(HEADER)?;
        // The kernel's numbers, not those of the file system: in the order of this machine.
        let u64_at = |at: usize| header[at..].first_chunk().copied().map_or(0, u64::from_ne_bytes);
        let u32_at = |at: usize| header[at..].first_chunk().copied().map_or(0, u32::from_ne_bytes);
        let (content, bytes) = rest.split_at_checked(u32_at(28) as usize)?;
        self.bytes = bytes;
        let kind = u8::try_from(u32_at(24)).ok()?;
        Some(Item { key: BtrfsKey { object: u64_at(8), kind, offset: u64_at(16) }, content })
    }
}

/// The attributes of a file.
#[derive(Clone, Copy)]
pub(super) struct Inode<'a>(Fields<'a>);

impl<'a> Inode<'a> {
    /// Returns `None` if the item is too short.
    pub(super) fn new(content: &'a [u8]) -> Option<Self> {
        content.get(..INODE_LENGTH).map(|content| Self(Fields(content)))
    }

    /// Returns the generation in which it changed last.
    pub(super) fn changed_in(self) -> u64 {
        self.0.u64(8)
    }

    pub(super) fn is_directory(self) -> bool {
        FileType::from_mode(self.0.u32(52)) == FileType::Directory
    }

    /// Returns the attributes that most walks want. Content is allocated in units of `sector_size` bytes.
    pub(super) fn record(self, sector_size: u32) -> InodeRecord {
        let unit = u64::from(sector_size.max(512));
        let allocated = self.0.u64(24).div_ceil(unit).saturating_mul(unit);
        let mut record = InodeRecord::default();
        record.size = self.0.u64(16);
        record.mtime = self.time(136);
        record.allocated = Sectors::new(allocated / 512);
        record.mode = self.0.u32(52) as u16;
        // The kernel allows no more.
        record.nlink = u16::try_from(self.0.u32(40)).unwrap_or(u16::MAX);
        record.more = [self.0.u32(44), self.0.u32(48)];
        record
    }

    pub(super) fn times(self) -> Times {
        Times { ctime: self.time(124), atime: self.time(112), btime: self.time(148) }
    }

    /// Returns a time in nanoseconds since 1970 UTC.
    fn time(self, at: usize) -> i64 {
        let seconds = self.0.u64(at).cast_signed();
        seconds.saturating_mul(1_000_000_000).saturating_add(self.0.u32(at + 8).into())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DirectoryEntry<'a> {
    pub(super) name: &'a [u8],
    /// The inode number; `None` if it is the top of another subvolume.
    pub(super) inode: Option<u64>,
    pub(super) is_directory: bool,
}

impl<'a> DirectoryEntry<'a> {
    /// Returns `None` if the item is damaged.
    pub(super) fn new(content: &'a [u8]) -> Option<Self> {
        let fields = Fields(content);
        let length = usize::from(fields.u16(27));
        let name = content.get(BEFORE_NAME..)?.get(..length)?;
        let is_possible =
            (1..=255).contains(&length) && !name.iter().any(|it| matches!(it, 0 | b'/'));
        let inode = match fields.u8(8) {
            kind::INODE => Some(fields.u64(0)),
            kind::SUBVOLUME => None,
            _ => return None,
        };
        let is_directory = inode.is_some() && fields.u8(29) == TYPE_DIRECTORY;
        is_possible.then_some(Self { name, inode, is_directory })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_bounded_by_their_bytes() {
        let mut bytes = vec![0; HEADER + 3];
        bytes[8] = 7;
        bytes[24] = 96;
        bytes[28] = 3;
        let count = |left: u32, bytes: &[u8]| Items { left, bytes }.count();
        assert_eq!(count(1, &bytes), 1);
        assert_eq!(count(2, &bytes), 1, "fewer than the kernel says");
        assert_eq!(count(1, &bytes[..HEADER + 2]), 0);
        assert_eq!(count(1, &bytes[..HEADER - 1]), 0);
        let item = Items { left: 1, bytes: &bytes }.next().unwrap();
        assert_eq!((item.key.object, item.key.kind, item.content.len()), (7, 96, 3));
        bytes[28..32].fill(0xFF);
        assert_eq!(count(1, &bytes), 0);
        bytes[25] = 1;
        assert_eq!(count(1, &bytes), 0, "there are 256 kinds");
    }

    #[test]
    fn directory_entries_impossible_names_refused() {
        let entry = |name: &[u8]| {
            let mut content = vec![0; BEFORE_NAME];
            content[..9].copy_from_slice(&[1, 2, 0, 0, 0, 0, 0, 0, kind::INODE]);
            content[27..29].copy_from_slice(&(name.len() as u16).to_le_bytes());
            content[29] = TYPE_DIRECTORY;
            content.extend(name);
            content
        };
        let good = entry(b"name");
        let found = DirectoryEntry { name: b"name", inode: Some(513), is_directory: true };
        assert_eq!(DirectoryEntry::new(&good), Some(found));
        assert_eq!(DirectoryEntry::new(&good[..good.len() - 1]), None);
        assert_eq!(DirectoryEntry::new(&[]), None);
        for name in [&b""[..], b"a/b", b"a\0", &[b'x'; 256]] {
            assert_eq!(DirectoryEntry::new(&entry(name)), None);
        }
        let mut other = good;
        other[8] = kind::SUBVOLUME;
        let other = DirectoryEntry::new(&other).unwrap();
        assert_eq!((other.inode, other.is_directory), (None, false));
    }

    #[test]
    fn inode_allocated_in_sectors() {
        let mut bytes = [0; INODE_LENGTH];
        bytes[24] = 1;
        assert_eq!(Inode::new(&bytes).unwrap().record(4096).allocated.bytes(), 4096);
        bytes[24] = 0;
        assert_eq!(Inode::new(&bytes).unwrap().record(4096).allocated.bytes(), 0);
        bytes[24..32].fill(0xFF);
        let most = Inode::new(&bytes).unwrap().record(4096).allocated.bytes();
        assert!(most > 1 << 56, "{most}");
        assert!(Inode::new(&bytes[1..]).is_none());
    }
}
