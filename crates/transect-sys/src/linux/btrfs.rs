//! The trees of a mounted Btrfs: `BTRFS_IOC_TREE_SEARCH_V2` and `BTRFS_IOC_FS_INFO`.
//!
//! Source: Linux, `include/uapi/linux/btrfs.h`, `fs/btrfs/ioctl.c`.

use std::io;
use std::ops::RangeInclusive;
use std::os::fd::BorrowedFd;

use rustix::ioctl::Opcode;

use super::ioctl;

/// `struct btrfs_ioctl_search_args_v2` without its buffer, whose length is the last field.
const SEARCH_HEAD: usize = 112;
const TREE_SEARCH: Opcode = rustix::ioctl::opcode::read_write::<[u8; SEARCH_HEAD]>(0x94, 17);
/// Offsets of its fields.
mod at {
    pub(super) const MIN_OBJECT: usize = 8;
    pub(super) const MAX_OBJECT: usize = 16;
    pub(super) const MIN_OFFSET: usize = 24;
    pub(super) const MAX_OFFSET: usize = 32;
    pub(super) const MIN_GENERATION: usize = 40;
    pub(super) const MAX_GENERATION: usize = 48;
    pub(super) const MIN_KIND: usize = 56;
    pub(super) const MAX_KIND: usize = 60;
    pub(super) const ITEMS: usize = 64;
    pub(super) const LENGTH: usize = 104;
}

/// `struct btrfs_ioctl_fs_info_args`.
const INFO: usize = 1024;
const FS_INFO: Opcode = rustix::ioctl::opcode::read::<[u8; INFO]>(0x94, 31);
/// `BTRFS_FS_INFO_FLAG_GENERATION`, Linux 5.10.
const WITH_GENERATION: u64 = 1 << 1;

/// The place of an item in a tree. Items are in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BtrfsKey {
    /// In the tree of a subvolume, an inode number.
    pub object: u64,
    /// The kind of the item (`BTRFS_*_KEY`).
    pub kind: u8,
    /// What it means depends on the kind.
    pub offset: u64,
}

/// Which items of the tree of a subvolume a search returns.
#[derive(Clone, Copy, Debug)]
pub struct TreeSearch {
    /// The smallest key that is returned.
    pub first: BtrfsKey,
    /// The object of the last items.
    pub last_object: u64,
    /// Nodes of earlier generations are not read.
    pub min_generation: u64,
    /// The search ends after this number of items.
    pub max_items: u32,
}

impl TreeSearch {
    /// Returns a search for all items of these objects.
    pub fn objects(range: RangeInclusive<u64>) -> Self {
        Self {
            first: BtrfsKey { object: *range.start(), kind: 0, offset: 0 },
            last_object: *range.end(),
            min_generation: 0,
            max_items: u32::MAX,
        }
    }

    /// Reads items from the tree of the subvolume that a directory is on, as many as fit into the buffer. Returns
    /// them as the kernel stores them, each with a header (`struct btrfs_ioctl_search_header`), and their
    /// number: 0 if there are none.
    ///
    /// # Errors
    /// The system's: `EPERM` without `CAP_SYS_ADMIN`.
    pub fn read<'b>(
        &self,
        directory: BorrowedFd<'_>,
        buffer: &'b mut SearchBuffer,
    ) -> io::Result<(u32, &'b [u8])> {
        let bytes = &mut buffer.0;
        let length = bytes.len() - SEARCH_HEAD;
        bytes[..SEARCH_HEAD].fill(0);
        let mut set = |at: usize, value: u64| {
            bytes[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        };
        set(at::MIN_OBJECT, self.first.object);
        set(at::MAX_OBJECT, self.last_object);
        set(at::MIN_OFFSET, self.first.offset);
        set(at::MAX_OFFSET, u64::MAX);
        set(at::MIN_GENERATION, self.min_generation);
        set(at::MAX_GENERATION, u64::MAX);
        set(at::LENGTH, length as u64);
        let mut set = |at: usize, value: u32| {
            bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        };
        set(at::MIN_KIND, self.first.kind.into());
        set(at::MAX_KIND, u8::MAX.into());
        set(at::ITEMS, self.max_items);
        // SAFETY: the kernel reads the head, and writes to it and to as many bytes behind it as the head says.
        unsafe { ioctl(directory, TREE_SEARCH, bytes.as_mut_ptr().cast()) }?;
        let items = bytes[at::ITEMS..].first_chunk().copied().map_or(0, u32::from_ne_bytes);
        Ok((items, &bytes[SEARCH_HEAD..]))
    }
}

/// Memory for the items that one call finds.
#[derive(Debug)]
pub struct SearchBuffer(Vec<u8>);

impl SearchBuffer {
    /// Returns a buffer. No item has more than 64 KiB.
    pub fn new(length: usize) -> Self {
        Self(vec![0; SEARCH_HEAD + length])
    }
}

/// What the kernel reports of a Btrfs.
#[derive(Clone, Copy, Debug)]
pub struct BtrfsInfo {
    /// The last transaction that was begun.
    pub generation: u64,
    /// The unit of allocation of files, in bytes.
    pub sector_size: u32,
}

/// Returns properties of the Btrfs that a directory is on.
///
/// # Errors
/// The system's; the kernel is older than Linux 5.10.
pub fn btrfs_info(directory: BorrowedFd<'_>) -> io::Result<BtrfsInfo> {
    let mut bytes = vec![0; INFO];
    bytes[48..56].copy_from_slice(&WITH_GENERATION.to_ne_bytes());
    // SAFETY: the kernel reads and writes as many bytes as the number of the call says.
    unsafe { ioctl(directory, FS_INFO, bytes.as_mut_ptr().cast()) }?;
    let number = |at: usize| bytes[at..].first_chunk().copied().map_or(0, u64::from_ne_bytes);
    if number(48) & WITH_GENERATION == 0 {
        let text = "this kernel does not report the generation of a Btrfs (Linux 5.10 does)";
        return Err(io::Error::new(io::ErrorKind::Unsupported, text));
    }
    let sector_size = bytes[36..].first_chunk().copied().map_or(0, u32::from_ne_bytes);
    Ok(BtrfsInfo { generation: number(56), sector_size })
}
