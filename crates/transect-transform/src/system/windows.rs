//! Windows, where it differs from the standard library.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

pub(crate) use transect_sys::Mapping;
use transect_sys::file::attributes_of;
use transect_sys::windows::{
    make_sparse, next_allocated_range, open_sequential, open_unbuffered, reopen_write_unbuffered,
    sector_size,
};

pub(crate) fn open_to_read(path: &Path, sequential: bool) -> io::Result<File> {
    if sequential { open_sequential(path) } else { File::open(path) }
}

pub(crate) fn open_direct(path: &Path) -> io::Result<Option<File>> {
    none_if_unsupported(open_unbuffered(path))
}

pub(crate) fn direct_alignment(file: &File) -> io::Result<Option<usize>> {
    // Page alignment suits all disks that do not report their sector size.
    Ok(Some(sector_size(file).unwrap_or(4096)))
}

/// Switches between two handles, one of which bypasses the cache. The kernel keeps their writes in
/// order, as no part is written by both.
#[derive(Debug, Default)]
pub(crate) struct DirectSwitch {
    direct: bool,
    /// Opened when it is first needed.
    past: Option<File>,
}

impl DirectSwitch {
    pub(crate) fn set_direct(&mut self, file: &File, direct: bool) -> io::Result<bool> {
        if direct && self.past.is_none() {
            self.past = none_if_unsupported(reopen_write_unbuffered(file))?;
        }
        self.direct = direct;
        Ok(!direct || self.past.is_some())
    }

    pub(crate) fn handle<'a>(&'a self, file: &'a File) -> &'a File {
        self.past.as_ref().filter(|_| self.direct).unwrap_or(file)
    }
}

/// Returns `None` if the file system does not support the request.
fn none_if_unsupported<T>(answer: io::Result<T>) -> io::Result<Option<T>> {
    const INVALID_FUNCTION: i32 = 1;
    const NOT_SUPPORTED: i32 = 50;
    const INVALID_PARAMETER: i32 = 87;
    match answer {
        Err(error)
            if matches!(
                error.raw_os_error(),
                Some(INVALID_FUNCTION | NOT_SUPPORTED | INVALID_PARAMETER)
            ) =>
        {
            Ok(None)
        }
        answer => answer.map(Some),
    }
}

pub(crate) fn reserve(file: &File, part: Range<u64>) -> io::Result<bool> {
    let there = attributes_of(file)?;
    if there.attribute_bits().is_some_and(|bits| bits & FILE_ATTRIBUTE_SPARSE_FILE != 0) {
        // A sparse file allocates space when it is written, whatever its length.
        return Ok(false);
    }
    if there.size().is_none_or(|size| size < part.end) {
        // Other files allocate their length.
        file.set_len(part.end)?;
    }
    Ok(true)
}

/// From `winnt.h`.
const FILE_ATTRIBUTE_SPARSE_FILE: u32 = 0x200;

pub(crate) fn allow_holes(file: &File) {
    // If the file system has no holes, zeros are written.
    let _ = make_sparse(file);
}

/// Returns the next part of `range` that is not a hole; `None` if the rest is a hole.
pub(crate) fn next_data(file: &File, range: Range<u64>) -> Option<Range<u64>> {
    // If holes are not reported, everything is data.
    next_allocated_range(file, range.clone())
        .unwrap_or_else(|_| Some(range).filter(|r| !r.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::write_all_at;
    use transect_testkit::TempDir;

    #[test]
    fn direct_switch_interleaved_writes_complete() {
        const PAGE: usize = 4096;
        let temp = TempDir::new();
        let path = temp.join("file");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        assert!(direct_alignment(&file).unwrap().is_some_and(|alignment| alignment <= PAGE));
        let memory = vec![b'a'; 3 * PAGE];
        let pages = &memory[memory.as_ptr().align_offset(PAGE)..][..2 * PAGE];
        let mut switch = DirectSwitch::default();
        assert!(std::ptr::eq(switch.handle(&file), &raw const file));
        for round in 0..2 {
            assert!(switch.set_direct(&file, true).unwrap());
            let past = switch.handle(&file);
            assert!(!std::ptr::eq(past, &raw const file));
            write_all_at(past, pages, round * pages.len() as u64).unwrap();
            assert!(switch.set_direct(&file, false).unwrap());
            let end = (round + 1) * pages.len() as u64;
            write_all_at(switch.handle(&file), b"end", end).unwrap();
        }
        drop(switch);
        let expected = [pages, pages, b"end"].concat();
        assert!(std::fs::read(&path).unwrap() == expected);
        let direct = open_direct(&path).unwrap().unwrap();
        assert_eq!(direct.metadata().unwrap().len(), expected.len() as u64);
        assert!(open_direct(&temp.join("missing")).is_err());
    }
}
