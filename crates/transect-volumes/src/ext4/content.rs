//! Which blocks have the content of a directory: extents, or the block maps of ext2 and ext3.
//!
//! Source: Linux, `fs/ext4/ext4_extents.h`, `Documentation/filesystems/ext4/ifork.rst`.

use std::io;
use std::ops::Range;

use transect_sys::ReadAt;
use transect_sys::processor::crc32c;

use super::super::error::invalid;
use super::super::source::Fields;
use super::inode::{Inode, flag};
use super::superblock::Superblock;

const EXTENT_MAGIC: u16 = 0xF30A;
/// The kernel allows as many levels (`EXT4_MAX_EXTENT_DEPTH`).
const MAX_DEPTH: u16 = 5;
/// A longer extent is reserved, for as many blocks more than this. In a directory, the kernel reads them
/// nevertheless.
const MAX_WRITTEN: u16 = 32768;
const DIRECT_BLOCKS: usize = 12;

/// Consecutive blocks of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DirectoryRun {
    /// The first block on the volume.
    pub(super) physical: u64,
    pub(super) directory: u32,
    /// The first block within the directory.
    pub(super) logical: u32,
    pub(super) count: u32,
}

impl DirectoryRun {
    /// Returns the blocks on the volume.
    pub(super) fn blocks(&self) -> Range<u64> {
        self.physical..self.physical + u64::from(self.count)
    }
}

/// Collects the runs of one directory.
pub(super) struct Content<'a> {
    source: &'a dyn ReadAt,
    superblock: &'a Superblock,
    seed: u32,
    /// The number of blocks that the size of the directory allows.
    size: u64,
    /// Blocks that may still be read: no directory is larger than its volume.
    left: u64,
    /// Blocks that were found.
    found: u64,
    directory: u32,
    runs: &'a mut Vec<DirectoryRun>,
}

impl<'a> Content<'a> {
    /// Adds the runs of a directory, which has this number.
    /// If its content is damaged, what was found before is added.
    pub(super) fn add_to(
        runs: &'a mut Vec<DirectoryRun>,
        directory: u32,
        source: &'a dyn ReadAt,
        superblock: &'a Superblock,
        inode: Inode<'_>,
    ) -> io::Result<()> {
        let size = inode.size(superblock).div_ceil(superblock.block_size.into());
        let mut this = Self {
            source,
            superblock,
            seed: inode.seed(superblock),
            size: size.min(u32::MAX.into()),
            left: superblock.blocks,
            found: 0,
            directory,
            runs,
        };
        match inode.flags() & flag::EXTENTS {
            0 => this.add_map(inode.content())?,
            _ => this.add_extents(inode.content(), None)?,
        }
        // There is always a block, with `.` and `..`.
        match this.found < this.size.max(1) {
            true => Err(invalid("a part of the directory has no blocks")),
            false => Ok(()),
        }
    }

    fn read(&mut self, block: u64) -> io::Result<Vec<u8>> {
        self.spend(1)?;
        let mut bytes = vec![0; self.superblock.block_size as usize];
        self.source.read_exact_at(block.saturating_mul(bytes.len() as u64), &mut bytes)?;
        Ok(bytes)
    }

    fn spend(&mut self, blocks: u64) -> io::Result<()> {
        let too_many = || invalid("the directory claims more blocks than the volume has");
        self.left = self.left.checked_sub(blocks).ok_or_else(too_many)?;
        Ok(())
    }

    fn add(&mut self, physical: u64, blocks: u32, logical: u64) -> io::Result<()> {
        // Beyond the size, there may be blocks for later.
        let blocks = u64::from(blocks).min(self.size.saturating_sub(logical));
        if blocks == 0 {
            return Ok(());
        }
        if physical.checked_add(blocks).is_none_or(|end| end > self.superblock.blocks) {
            return Err(invalid(format!(
                "the directory has blocks outside the volume: {physical}"
            )));
        }
        self.spend(blocks)?;
        self.found += blocks;
        let (directory, count, logical) = (self.directory, blocks as u32, logical as u32);
        self.runs.push(DirectoryRun { physical, directory, logical, count });
        Ok(())
    }

    /// Adds the extents below a node, which must have the given depth.
    fn add_extents(&mut self, node: &[u8], expected: Option<u16>) -> io::Result<()> {
        let header = Fields(node);
        let (entries, depth) = (usize::from(header.u16(2)), header.u16(6));
        let is_expected = expected.map_or(depth <= MAX_DEPTH, |expected| depth == expected);
        if header.u16(0) != EXTENT_MAGIC || !is_expected || 12 + entries * 12 > node.len() {
            return Err(invalid("the directory's tree of extents is damaged"));
        }
        for entry in node[12..12 + entries * 12].chunks_exact(12).map(Fields) {
            let logical = entry.u32(0).into();
            if depth == 0 {
                let physical = u64::from(entry.u32(8)) | u64::from(entry.u16(6)) << 32;
                let blocks = entry.u16(4);
                let blocks = if blocks > MAX_WRITTEN { blocks - MAX_WRITTEN } else { blocks };
                self.add(physical, blocks.into(), logical)?;
            } else {
                let child = u64::from(entry.u32(4)) | u64::from(entry.u16(8)) << 32;
                let child = self.read(child)?;
                self.check_node(&child)?;
                self.add_extents(&child, Some(depth - 1))?;
            }
        }
        Ok(())
    }

    fn check_node(&self, node: &[u8]) -> io::Result<()> {
        let end = 12 + usize::from(Fields(node).u16(4)) * 12;
        let is_right = || {
            let covered = node.get(..end)?;
            Some(crc32c(self.seed, covered) == Fields(node).u32(end))
        };
        if self.superblock.has_checksums() && is_right() != Some(true) {
            return Err(invalid("a checksum of the directory's extents is wrong"));
        }
        Ok(())
    }

    /// Adds the blocks of a map: 12 direct ones, then trees of one, two and three levels.
    fn add_map(&mut self, map: &[u8]) -> io::Result<()> {
        let mut logical = 0;
        for (at, number) in map.chunks_exact(4).map(|bytes| Fields(bytes).u32(0)).enumerate() {
            let levels = (at + 1).saturating_sub(DIRECT_BLOCKS) as u32;
            self.add_mapped(number, levels, &mut logical)?;
        }
        Ok(())
    }

    fn add_mapped(&mut self, number: u32, levels: u32, logical: &mut u64) -> io::Result<()> {
        let per_block = u64::from(self.superblock.block_size / 4);
        if number == 0 || *logical >= self.size {
            *logical += per_block.pow(levels);
            return Ok(());
        }
        if levels == 0 {
            self.add(number.into(), 1, *logical)?;
            *logical += 1;
            return Ok(());
        }
        let block = self.read(number.into())?;
        for number in block.chunks_exact(4).map(|bytes| Fields(bytes).u32(0)) {
            self.add_mapped(number, levels - 1, logical)?;
        }
        Ok(())
    }
}
