//! Reads the blocks of all directories in the order in which they lie on the volume.

use std::io;
use std::ops::Range;

use transect_sys::ReadAt;

use super::super::error::same_error;
use super::super::index::Names;
use super::super::source::Buffer;
use super::super::threads::share_out;
use super::content::DirectoryRun;
use super::directory::Records;
use super::inode_tables::{Found, Inodes};
use super::superblock::Superblock;

const MAX_READ: u64 = 1 << 19;
/// So many other blocks are read along rather than skipped.
const MAX_GAP: u64 = 8;
/// The bytes of most entries are fewer than that.
const EXPECTED_ENTRY: usize = 32;
/// Runs that a thread takes at once.
const TAKEN: usize = 256;

/// What a thread found: names, and for some directories why names are missing.
#[derive(Default)]
struct Part {
    names: Names,
    errors: Vec<(u32, io::Error)>,
}

/// Reads the names of all directories. Errors are added to those of the inodes.
pub(super) fn read(
    source: &dyn ReadAt,
    superblock: &Superblock,
    inodes: &mut Inodes,
    threads: usize,
) -> Vec<Names> {
    let mut runs = std::mem::take(&mut inodes.runs);
    // Those of each thread are in order already: a stable sort merges such runs.
    runs.sort_by_key(|run| run.physical);
    let reader = Reader { source, superblock, directories: &inodes.directories };
    // One thread may read more than the others.
    let room = inodes.in_use / threads / 4 * 5 * EXPECTED_ENTRY;
    let begin = || {
        let names = Names::with_room(room);
        (Part { names, errors: Vec::new() }, Buffer::default())
    };
    let parts = share_out(threads, runs.chunks(TAKEN), begin, |(part, buffer), taken| {
        reader.read_runs(taken, buffer, part);
    });
    let parts = parts.into_iter().map(|(part, _)| part).chain([reader.inline(&inodes.inline)]);
    let part = |part: Part| {
        inodes.errors.extend(part.errors);
        part.names
    };
    parts.map(part).collect()
}

/// Returns the blocks to read at once, at most `max` or those of one item, with the items in them. These are in the order of
/// their blocks, which `blocks` returns; so many others as `gap` are read along rather than skipped.
pub(super) fn together<T>(
    mut items: &[T],
    max: u64,
    gap: u64,
    blocks: impl Fn(&T) -> Range<u64>,
) -> impl Iterator<Item = (Range<u64>, &[T])> {
    std::iter::from_fn(move || {
        let Range { start, mut end } = blocks(items.first()?);
        let mut count = 1;
        while let Some(next) = items.get(count).map(&blocks)
            && next.start <= end + gap
            && next.end.max(end) - start <= max
        {
            end = end.max(next.end);
            count += 1;
        }
        Some((start..end, items.split_off(..count)?))
    })
}

struct Reader<'a> {
    source: &'a dyn ReadAt,
    superblock: &'a Superblock,
    directories: &'a [Found],
}

impl Reader<'_> {
    fn records(&self, directory: u32) -> Records<'_> {
        let directory = &self.directories[directory as usize];
        Records { superblock: self.superblock, directory }
    }

    /// Adds the entries that are stored in inodes of directories.
    fn inline(&self, inline: &[(u32, Vec<u8>)]) -> Part {
        let mut part = Part::default();
        for &(number, ref records) in inline {
            part.names.begin(number, 0);
            if let Err(error) = self.records(number).add_records(records, &mut part.names) {
                part.errors.push((number, error));
            }
        }
        part
    }

    fn read_runs(&self, runs: &[DirectoryRun], buffer: &mut Buffer, part: &mut Part) {
        let block_size = u64::from(self.superblock.block_size);
        let max = MAX_READ / block_size;
        // The device works on the next blocks while these records are read.
        for (blocks, _) in together(runs, max, MAX_GAP, DirectoryRun::blocks) {
            let length = (blocks.end - blocks.start) * block_size;
            self.source.prefetch(blocks.start * block_size, length);
        }
        for (blocks, runs) in together(runs, max, MAX_GAP, DirectoryRun::blocks) {
            // A run that is longer than a read is alone.
            let mut begin = blocks.start;
            while begin < blocks.end {
                let count = (blocks.end - begin).min(max);
                self.read_blocks(begin, count, runs, buffer, part);
                begin += count;
            }
        }
    }

    /// Reads these blocks, and adds the entries of the runs in them.
    fn read_blocks(
        &self,
        begin: u64,
        blocks: u64,
        runs: &[DirectoryRun],
        buffer: &mut Buffer,
        part: &mut Part,
    ) {
        let size = self.superblock.block_size as usize;
        let read = buffer.read(self.source, begin * size as u64, blocks as usize * size);
        for run in runs {
            let from = run.physical.max(begin);
            let to = run.blocks().end.min(begin + blocks);
            if from >= to {
                continue;
            }
            let bytes = match &read {
                Ok(bytes) => bytes,
                Err(error) => {
                    part.errors.push((run.directory, same_error(error)));
                    continue;
                }
            };
            let own = &bytes[(from - begin) as usize * size..(to - begin) as usize * size];
            let logical = run.logical + (from - run.physical) as u32;
            part.names.begin(run.directory, logical);
            let records = self.records(run.directory);
            for (block, logical) in own.chunks_exact(size).zip(logical..) {
                if let Err(error) = records.add_block(block, logical == 0, &mut part.names) {
                    part.errors.push((run.directory, error));
                }
            }
        }
    }
}
