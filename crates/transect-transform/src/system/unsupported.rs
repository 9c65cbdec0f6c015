//! Stubs for systems other than Linux and Windows.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

pub(crate) fn open_to_read(path: &Path, _: bool) -> io::Result<File> {
    File::open(path)
}

pub(crate) fn open_direct(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Direct I/O: not supported.
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

pub(crate) fn reserve(_: &File, _: Range<u64>) -> io::Result<bool> {
    Ok(false)
}

/// A mapped part of a file: not supported, as nothing catches the faults of a truncated file or a
/// removed device.
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
