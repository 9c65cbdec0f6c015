//! Windows, where it does otherwise than the standard library.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use transect_sys::file::attributes_of;
pub(crate) use transect_sys::windows::Mapping;
use transect_sys::windows::open_sequential;

pub(crate) fn open_to_read(path: &Path, sequential: bool) -> io::Result<File> {
    if sequential { open_sequential(path) } else { File::open(path) }
}

pub(crate) const HAS_DIRECT: bool = false;

pub(crate) fn open_direct(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// A file that is written past the cache, and through it, in turn: never past it here.
#[derive(Debug, Default)]
pub(crate) struct Turning;

impl Turning {
    pub(crate) fn turn(&mut self, _: &File, direct: bool) -> io::Result<bool> {
        Ok(!direct)
    }

    pub(crate) fn handle<'a>(&'a self, file: &'a File) -> &'a File {
        file
    }
}

pub(crate) fn direct_alignment(_: &File) -> io::Result<Option<usize>> {
    Ok(None)
}

pub(crate) const HAS_MAPPINGS: bool = true;

pub(crate) fn reserve(file: &File, part: Range<u64>) -> io::Result<bool> {
    let there = attributes_of(file)?;
    if there.attribute_bits().is_some_and(|bits| bits & FILE_ATTRIBUTE_SPARSE_FILE != 0) {
        // It gets room when it is written, however long it is.
        return Ok(false);
    }
    if there.size().is_none_or(|size| size < part.end) {
        // All other files occupy their length.
        file.set_len(part.end)?;
    }
    Ok(true)
}

/// As `winnt.h` has it.
const FILE_ATTRIBUTE_SPARSE_FILE: u32 = 0x200;

pub(crate) fn next_data(_: &File, range: Range<u64>) -> Option<Range<u64>> {
    (!range.is_empty()).then_some(range)
}

pub(crate) fn punch(_: &File, _: Range<u64>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
