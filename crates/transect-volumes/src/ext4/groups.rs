//! Group descriptors: where the inodes of each group are.
//!
//! Source: Linux, `fs/ext4/ext4.h` (`struct ext4_group_desc`), `fs/ext4/super.c`
//! (`ext4_group_desc_csum`).

use std::io;

use transect_sys::ReadAt;
use transect_sys::processor::crc32c;

use super::super::error::invalid;
use super::super::source::Fields;
use super::checksum::crc16;
use super::superblock::{Superblock, ro_compat};

/// Where the inodes of a group are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) number: u32,
    /// The first block of its inode table.
    pub(super) table: u64,
    /// The block with one bit per inode, whether it is in use.
    pub(super) bitmap: u64,
    pub(super) bitmap_checksum: u32,
    /// The number of inodes up to the last that was ever in use.
    pub(super) used: u32,
    /// About as many are in use now.
    pub(super) in_use: u32,
    /// The checksum of the descriptor is right.
    pub(super) is_right: bool,
}

impl Group {
    /// Returns the group if its descriptor can be trusted.
    pub(super) fn checked(self) -> io::Result<Self> {
        match self.is_right {
            true => Ok(self),
            false => Err(invalid(format!("the checksum of block group {} is wrong", self.number))),
        }
    }
}

const INODES_NEVER_USED: u16 = 1;

/// Reads all descriptors. What is wrong with one is an error of its group, except for its checksum.
pub(super) fn read(
    source: &dyn ReadAt,
    superblock: &Superblock,
) -> io::Result<Vec<io::Result<Group>>> {
    let size = superblock.descriptor_size as usize;
    let per_block = superblock.block_size / superblock.descriptor_size;
    let mut block = vec![0; superblock.block_size as usize];
    let mut groups = Vec::new();
    for part in 0..superblock.groups.div_ceil(per_block) {
        let offset = superblock.descriptor_block(part) * u64::from(superblock.block_size);
        source.read_exact_at(offset, &mut block)?;
        for descriptor in block.chunks_exact(size) {
            let number = groups.len() as u32;
            if number < superblock.groups {
                groups.push(parse(superblock, number, descriptor));
            }
        }
    }
    Ok(groups)
}

fn parse(superblock: &Superblock, number: u32, bytes: &[u8]) -> io::Result<Group> {
    let fields = Fields(bytes);
    let is_wide = superblock.descriptor_size >= 64;
    let is_right = checksum_is_right(superblock, number, bytes);
    let wide = |low: usize, high: usize| match is_wide {
        true => fields.u64_of(low, high),
        false => fields.u32(low).into(),
    };
    let half = |low: usize, high: usize| {
        let high = if is_wide { u32::from(fields.u16(high)) << 16 } else { 0 };
        u32::from(fields.u16(low)) | high
    };
    let (table, bitmap) = (wide(0x8, 0x28), wide(0x4, 0x24));
    let end = table.checked_add(superblock.inode_table_blocks());
    if end.is_none_or(|end| end > superblock.blocks) || bitmap >= superblock.blocks {
        return Err(invalid(format!("the inodes of block group {number} lie outside the volume")));
    }
    // Descriptors with checksums say which inodes were never used.
    let has_checksum =
        superblock.has_ro_compat(ro_compat::METADATA_CHECKSUM | ro_compat::GROUP_CHECKSUM);
    let used = match has_checksum && is_right {
        false => superblock.inodes_per_group,
        true if fields.u16(0x12) & INODES_NEVER_USED != 0 => 0,
        true => superblock.inodes_per_group.saturating_sub(half(0x1C, 0x32)),
    };
    let in_use = superblock.inodes_per_group.saturating_sub(half(0xE, 0x2E)).min(used);
    Ok(Group { number, table, bitmap, bitmap_checksum: half(0x1A, 0x3A), used, in_use, is_right })
}

fn checksum_is_right(superblock: &Superblock, number: u32, bytes: &[u8]) -> bool {
    let stored = Fields(bytes).u16(0x1E);
    let (before, after) = (&bytes[..0x1E], &bytes[0x20..]);
    if superblock.has_checksums() {
        let crc = crc32c(superblock.seed, &number.to_le_bytes());
        let crc = crc32c(crc32c(crc, before), &[0, 0]);
        crc32c(crc, after) as u16 == stored
    } else if superblock.has_ro_compat(ro_compat::GROUP_CHECKSUM) {
        let crc = crc16(crc16(!0, &superblock.uuid), &number.to_le_bytes());
        let after = if superblock.descriptor_size > 32 { after } else { &[] };
        crc16(crc16(crc, before), after) == stored
    } else {
        true
    }
}
