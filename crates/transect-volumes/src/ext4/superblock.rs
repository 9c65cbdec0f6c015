//! The superblock: the geometry of the file system, and what it uses.
//!
//! Source: Linux, `fs/ext4/ext4.h` (`struct ext4_super_block`) and
//! `Documentation/filesystems/ext4/super.rst`.

use std::io;

use transect_sys::ReadAt;
use transect_sys::processor::crc32c;

use super::super::error::{invalid, unsupported};
use super::super::source::Fields;

/// Where the first superblock begins, at any block size.
const OFFSET: u64 = 1024;
const LENGTH: usize = 1024;
pub(super) const MAGIC: u16 = 0xEF53;
/// Where the volume has [`MAGIC`].
pub(super) const MAGIC_OFFSET: u64 = OFFSET + 0x38;

/// Features without which a reader would misunderstand the tables.
pub(super) mod incompat {
    pub(in super::super) const FILE_TYPE: u32 = 0x2;
    pub(in super::super) const RECOVER: u32 = 0x4;
    pub(in super::super) const META_BG: u32 = 0x10;
    pub(in super::super) const BITS_64: u32 = 0x80;
    pub(in super::super) const CHECKSUM_SEED: u32 = 0x2000;
    pub(in super::super) const LARGE_DIRECTORIES: u32 = 0x4000;
}

/// Features that a reader may ignore, except for the meaning of some fields.
pub(super) mod ro_compat {
    pub(in super::super) const SPARSE_SUPER: u32 = 0x1;
    pub(in super::super) const HUGE_FILE: u32 = 0x8;
    pub(in super::super) const GROUP_CHECKSUM: u32 = 0x10;
    pub(in super::super) const METADATA_CHECKSUM: u32 = 0x400;
}

const COMPAT_HAS_JOURNAL: u32 = 0x4;
const COMPAT_SPARSE_SUPER2: u32 = 0x200;

/// The incompatible features that this reader supports, by the names that `mke2fs` uses.
const KNOWN: &[(u32, &str)] = &[
    (incompat::FILE_TYPE, "filetype"),
    (incompat::RECOVER, "needs_recovery"),
    (incompat::META_BG, "meta_bg"),
    (0x40, "extent"),
    (incompat::BITS_64, "64bit"),
    (0x100, "mmp"),
    (0x200, "flex_bg"),
    (0x400, "ea_inode"),
    (incompat::CHECKSUM_SEED, "metadata_csum_seed"),
    (incompat::LARGE_DIRECTORIES, "large_dir"),
    (0x8000, "inline_data"),
    (0x1_0000, "encrypt"),
    (0x2_0000, "casefold"),
];

/// Those it knows only to refuse them by name.
const REFUSED: &[(u32, &str)] = &[(0x1, "compression"), (0x8, "journal_dev"), (0x1000, "dirdata")];

#[derive(Clone, Debug)]
pub(super) struct Superblock {
    /// Bytes of a block: 1 to 64 KiB, a power of two.
    pub(super) block_size: u32,
    pub(super) blocks: u64,
    pub(super) first_data_block: u32,
    pub(super) blocks_per_group: u32,
    pub(super) inodes_per_group: u32,
    pub(super) inode_size: u32,
    pub(super) descriptor_size: u32,
    pub(super) first_meta_group: u32,
    pub(super) groups: u32,
    pub(super) backups: Option<[u32; 2]>,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "for mounted volumes"))]
    pub(super) has_journal: bool,
    /// The inode of the journal; 0 if it is on another device.
    pub(super) journal_inode: u32,
    pub(super) incompat: u32,
    pub(super) ro_compat: u32,
    /// The beginning of every checksum.
    pub(super) seed: u32,
    pub(super) uuid: [u8; 16],
}

impl Superblock {
    pub(super) fn read(source: &dyn ReadAt) -> io::Result<Self> {
        let mut bytes = [0; LENGTH];
        let size = source.size()?;
        if size < OFFSET + LENGTH as u64 {
            return Err(invalid(format!("{size} bytes hold no file system")));
        }
        source.read_exact_at(OFFSET, &mut bytes)?;
        if Fields(&bytes).u16(0x38) != MAGIC {
            return Err(invalid(match backup(source) {
                Some((block, size)) => format!(
                    "its superblock is damaged; there is a copy in block {block} of {size} bytes, \
                     from which `e2fsck -b {block} -B {size}` repairs it"
                ),
                None => "there is no ext2, ext3 or ext4 in it".to_owned(),
            }));
        }
        let parsed = Self::parse(&bytes)?;
        let end = parsed.blocks.saturating_mul(parsed.block_size.into());
        if size < end {
            return Err(invalid(format!(
                "it is truncated: {size} bytes of a file system of {end}"
            )));
        }
        Ok(parsed)
    }

    fn parse(bytes: &[u8; LENGTH]) -> io::Result<Self> {
        let fields = Fields(bytes);
        let incompat = fields.u32(0x60);
        refuse_unknown(incompat)?;
        let ro_compat = fields.u32(0x64);
        if ro_compat & ro_compat::METADATA_CHECKSUM != 0
            && crc32c(!0, &bytes[..0x3FC]) != fields.u32(0x3FC)
        {
            return Err(invalid("the checksum of its superblock is wrong"));
        }
        let is_64 = incompat & incompat::BITS_64 != 0;
        let revision = fields.u32(0x4C);
        let mut uuid = [0; 16];
        uuid.copy_from_slice(&bytes[0x68..0x78]);
        let high = if is_64 { u64::from(fields.u32(0x150)) << 32 } else { 0 };
        let mut this = Self {
            block_size: 1024u32.checked_shl(fields.u32(0x18)).unwrap_or(0),
            blocks: u64::from(fields.u32(0x4)) | high,
            first_data_block: fields.u32(0x14),
            blocks_per_group: fields.u32(0x20),
            inodes_per_group: fields.u32(0x28),
            inode_size: if revision == 0 { 128 } else { fields.u16(0x58).into() },
            descriptor_size: if is_64 { fields.u16(0xFE).into() } else { 32 },
            first_meta_group: match incompat & incompat::META_BG {
                0 => u32::MAX,
                _ => fields.u32(0x104),
            },
            groups: 0,
            backups: (fields.u32(0x5C) & COMPAT_SPARSE_SUPER2 != 0)
                .then(|| [fields.u32(0x24C), fields.u32(0x250)]),
            journal_inode: fields.u32(0xE0),
            has_journal: fields.u32(0x5C) & COMPAT_HAS_JOURNAL != 0,
            incompat,
            ro_compat,
            seed: match incompat & incompat::CHECKSUM_SEED {
                0 => crc32c(!0, &uuid),
                _ => fields.u32(0x270),
            },
            uuid,
        };
        this.groups = this
            .check(fields.u32(0))
            .ok_or_else(|| invalid("its superblock describes no possible file system"))?;
        Ok(this)
    }

    /// Returns the number of groups, if the geometry is possible.
    fn check(&self, inodes: u32) -> Option<u32> {
        let size = self.block_size;
        let is_possible = size.is_power_of_two()
            && size <= 64 << 10
            && self.inode_size.is_power_of_two()
            && (128..=size).contains(&self.inode_size)
            && self.descriptor_size.is_power_of_two()
            && (32..=size.min(1024)).contains(&self.descriptor_size)
            && (1..=8 * size).contains(&self.inodes_per_group)
            && self.blocks_per_group > 0
            && self.inode_table_blocks() <= self.blocks_per_group.into();
        if !is_possible {
            return None;
        }
        let blocks = self.blocks.checked_sub(self.first_data_block.into())?;
        let groups = u32::try_from(blocks.div_ceil(self.blocks_per_group.into())).ok()?;
        let expected = u64::from(groups) * u64::from(self.inodes_per_group);
        (groups > 0 && expected == u64::from(inodes)).then_some(groups)
    }

    pub(super) fn inode_table_blocks(&self) -> u64 {
        (u64::from(self.inodes_per_group) * u64::from(self.inode_size))
            .div_ceil(self.block_size.into())
    }

    pub(super) fn has_incompat(&self, feature: u32) -> bool {
        self.incompat & feature != 0
    }

    pub(super) fn has_ro_compat(&self, feature: u32) -> bool {
        self.ro_compat & feature != 0
    }

    /// Returns whether metadata has CRC32C checksums.
    pub(super) fn has_checksums(&self) -> bool {
        self.has_ro_compat(ro_compat::METADATA_CHECKSUM)
    }

    /// Returns the device number that stands for the volume: the beginning of its UUID.
    pub(super) fn device(&self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.uuid[..8]);
        u64::from_le_bytes(first).max(1)
    }

    /// Returns the block with this part of the group descriptors.
    pub(super) fn descriptor_block(&self, part: u32) -> u64 {
        if part < self.first_meta_group {
            // After the superblock, which is in block 1 where blocks have 1 KiB.
            return u64::from(self.block_size == 1024) + 1 + u64::from(part);
        }
        let group = part * (self.block_size / self.descriptor_size);
        let first =
            u64::from(self.first_data_block) + u64::from(group) * u64::from(self.blocks_per_group);
        // Where blocks have 1 KiB, the boot block comes before the superblock of group 0.
        let boot = u64::from(self.block_size == 1024 && group == 0 && self.first_data_block == 0);
        first + u64::from(self.has_superblock(group)) + boot
    }

    fn has_superblock(&self, group: u32) -> bool {
        if group == 0 {
            return true;
        }
        if let Some(backups) = self.backups {
            return backups.contains(&group);
        }
        if !self.has_ro_compat(ro_compat::SPARSE_SUPER) || group == 1 {
            return true;
        }
        [3, 5, 7].into_iter().any(|base| {
            let mut power: u32 = base;
            while power < group && power <= u32::MAX / base {
                power *= base;
            }
            power == group
        })
    }
}

fn refuse_unknown(incompat: u32) -> io::Result<()> {
    let known = KNOWN.iter().fold(0, |all, (bit, _)| all | bit);
    let unknown = incompat & !known;
    if unknown == 0 {
        return Ok(());
    }
    let named = REFUSED.iter().filter(|(bit, _)| unknown & bit != 0).map(|&(_, name)| name.into());
    let rest = REFUSED.iter().fold(unknown, |rest, (bit, _)| rest & !bit);
    let rest = (rest != 0).then(|| format!("{rest:#x}"));
    let names: Vec<String> = named.chain(rest).collect();
    let text = format!("it has features that are not supported: {}", names.join(", "));
    Err(unsupported(text))
}

/// Looks for a copy of the superblock in group 1. Returns its block, and the size of blocks.
fn backup(source: &dyn ReadAt) -> Option<(u64, u32)> {
    (0..7).map(|shift| 1024u32 << shift).find_map(|size| {
        let block = u64::from(8 * size) + u64::from(size == 1024);
        let mut bytes = [0; LENGTH];
        source.read_exact_at(block * u64::from(size), &mut bytes).ok()?;
        let fields = Fields(&bytes);
        let is_copy = fields.u16(0x38) == MAGIC
            && fields.u16(0x5A) == 1
            && 1024u32.checked_shl(fields.u32(0x18)) == Some(size);
        is_copy.then_some((block, size))
    })
}
