//! Windows, where it does otherwise than the standard library.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

pub(crate) fn open_to_read(path: &Path, sequential: bool) -> io::Result<File> {
    let flags = if sequential { FILE_FLAG_SEQUENTIAL_SCAN } else { 0 };
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// As `winbase.h` has it.
const FILE_FLAG_SEQUENTIAL_SCAN: u32 = 0x0800_0000;

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

pub(crate) const HAS_MAPPINGS: bool = false;

pub(crate) fn reserve(_: &File, _: Range<u64>) -> io::Result<bool> {
    Ok(false)
}

/// A part of a file in memory: none here. Nobody catches the faults of a file that is cut, or whose
/// device is gone.
#[derive(Debug)]
pub(crate) enum Mapping {}

impl Mapping {
    pub(crate) fn to_read(_: &File, _: Range<u64>) -> io::Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn to_write(_: &File, _: Range<u64>) -> io::Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn len(&self) -> usize {
        match *self {}
    }

    pub(crate) fn read(&self, _: usize, _: &mut [u8]) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn write(&mut self, _: usize, _: &[u8]) -> io::Result<()> {
        match *self {}
    }
}

pub(crate) fn next_data(_: &File, range: Range<u64>) -> Option<Range<u64>> {
    (!range.is_empty()).then_some(range)
}

pub(crate) fn punch(_: &File, _: Range<u64>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
