//! Systems of which no more is known than what the standard library can do everywhere.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

pub(crate) fn open_to_read(path: &Path, _: bool) -> io::Result<File> {
    File::open(path)
}

pub(crate) const HAS_DIRECT: bool = false;

pub(crate) fn open_direct(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// A file that is written past the cache, and through it, in turn: never past it here.
#[derive(Debug, Default)]
pub(crate) struct DirectSwitch;

impl DirectSwitch {
    pub(crate) fn set_direct(&mut self, _: &File, direct: bool) -> io::Result<bool> {
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
    pub(crate) fn map_read(_: &File, _: Range<u64>) -> io::Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn map_write(_: &File, _: Range<u64>) -> io::Result<Option<Self>> {
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

pub(crate) fn allow_holes(_: &File) {}

pub(crate) fn next_data(_: &File, range: Range<u64>) -> Option<Range<u64>> {
    (!range.is_empty()).then_some(range)
}

pub(crate) fn punch_hole(_: &File, _: Range<u64>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
