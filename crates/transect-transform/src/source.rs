//! The input: opened once, read to its end, and then checked for changes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use transect::Cancel;
use transect_sys::file::{attributes_at, attributes_of};
use transect_sys::{Attributes, FileId, FileType};

use crate::error::{Error, Operation, Reason};
use crate::system;

/// A regular file that is read once, from beginning to end.
///
/// Readers and comparers share it: only a counter changes.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    file: File,
    before: Attributes,
    consumed: AtomicU64,
    /// Reads should leave nothing in the page cache. Reset once the system reports that it cannot
    /// do that.
    spares_cache: AtomicBool,
}

/// How to open a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourceOptions {
    /// A walk has just listed it as a regular file, so its type is not checked before opening. If
    /// it has become a device since, opening may have side effects; whatever it is, it is then
    /// rejected.
    pub(crate) is_listed: bool,
    /// Advise the system that the file is read from beginning to end, so that it reads further
    /// ahead and keeps less.
    pub(crate) sequential: bool,
    /// Leave data that was not cached out of the page cache, where the system supports that.
    pub(crate) spares_cache: bool,
}

impl Source {
    /// Opens a file. Follows links.
    ///
    /// # Errors
    /// The file cannot be opened, or is not a regular file.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        Self::open_as(path.into(), SourceOptions::default())
    }

    pub(crate) fn open_as(path: PathBuf, options: SourceOptions) -> Result<Self, Error> {
        let SourceOptions { is_listed, sequential, spares_cache } = options;
        if !is_listed {
            // Check before opening: opening a device may have side effects, and opening a pipe
            // blocks.
            let there = attributes_at(&path).map_err(Error::system(Operation::Read, &path))?;
            regular(&path, &there)?;
        }
        let file = system::open_to_read(&path, sequential);
        let file = file.map_err(Error::system(Operation::Read, &path))?;
        let before = attributes_of(&file).map_err(Error::system(Operation::Read, &path))?;
        // It may have been replaced between check and open.
        regular(&path, &before)?;
        let (consumed, spares_cache) = (AtomicU64::new(0), AtomicBool::new(spares_cache));
        Ok(Self { path, file, before, consumed, spares_cache })
    }

    /// Returns the path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its size when it was opened. Pseudo files (`/proc`) report 0, so 0 is never a reason
    /// not to read.
    pub fn size(&self) -> u64 {
        self.before.size().unwrap_or(0)
    }

    /// Returns the file's ID, if the system reports it.
    pub fn file_id(&self) -> Option<FileId> {
        self.before.file_id()
    }

    /// Returns its attributes when it was opened.
    pub fn attributes(&self) -> &Attributes {
        &self.before
    }

    /// Returns whether it has holes: parts that read as zeros and occupy no space.
    pub fn is_sparse(&self) -> bool {
        self.before.is_sparse()
    }

    /// Returns how many bytes have been read.
    pub fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Fills a block with the next bytes. A partly filled block means the end.
    pub fn fill(&self, block: &mut [u8]) -> Result<usize, Error> {
        let mut source = self;
        let read = |rest: &mut [u8], filled| {
            // A short read at the known size is the end; another call to find that out is not
            // needed. For pseudo files, a short read means nothing.
            let is_end = filled > 0 && self.consumed() == self.size();
            if is_end { Ok(0) } else { source.read(rest) }
        };
        fill(block, read).map_err(self.read_error())
    }

    /// Returns a function that turns a system error about reading the file into an [`Error`].
    pub(crate) fn read_error(&self) -> impl FnOnce(io::Error) -> Error {
        Error::system(Operation::Read, &self.path)
    }

    /// Returns whether the file has `bytes` at `offset`. Does not move the read position.
    ///
    /// # Errors
    /// The system reports an error. A file that ends earlier is not an error.
    pub(crate) fn contains_at(&self, bytes: &[u8], offset: u64) -> Result<bool, Error> {
        let mut piece = [0; 16 << 10];
        let mut at = offset;
        for expected in bytes.chunks(piece.len()) {
            let piece = &mut piece[..expected.len()];
            let read = fill_at(&self.file, piece, at).map_err(self.read_error())?;
            if piece[..read] != *expected {
                return Ok(false);
            }
            at += read as u64;
        }
        Ok(true)
    }

    /// Returns to the beginning.
    pub(crate) fn rewind(&self) {
        self.consumed.store(0, Ordering::Relaxed);
    }

    /// Returns whether there is nothing to read. Reads to find out, as pseudo files report size 0.
    pub(crate) fn is_empty(&self) -> Result<bool, Error> {
        Ok(fill_at(&self.file, &mut [0], 0).map_err(self.read_error())? == 0)
    }

    /// Checks that a second handle refers to the same file.
    pub(crate) fn verify_same(&self, file: &File) -> Result<(), Error> {
        let there = attributes_of(file).map_err(self.read_error())?;
        if there.file_id() != self.file_id() {
            return Err(Error::changed(&self.path));
        }
        Ok(())
    }

    /// Returns [`Reason::Changed`] if the file's size has changed; otherwise the system's error.
    pub(crate) fn changed_or(&self, error: io::Error) -> Error {
        match attributes_of(&self.file) {
            Ok(now) if now.size() != self.before.size() => Error::changed(&self.path),
            _ => self.read_error()(error),
        }
    }

    /// Checks that everything was read, and that the file did not change since it was opened. Call
    /// it at the end of the file.
    ///
    /// # Errors
    /// The file has changed, or the system does not report its attributes.
    pub fn verify_unchanged(&self) -> Result<(), Error> {
        let after = attributes_of(&self.file).map_err(self.read_error())?;
        let changed = || Err(Error::changed(&self.path));
        if after.size() != self.before.size() {
            return changed();
        }
        if self.consumed() == self.size() {
            return if same_state(&self.before, &after) { Ok(()) } else { changed() };
        }
        // Sizes of pseudo files mean nothing: 0 in /proc, a whole page in /sys.
        if system::is_pseudo_file(&self.path) { Ok(()) } else { changed() }
    }

    /// Reads the next bytes without leaving them in the page cache, if that is requested and
    /// supported.
    fn read_past_cache(&self, block: &mut [u8]) -> io::Result<Option<usize>> {
        if !self.spares_cache.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let read = system::read_past_cache(&self.file, block, self.consumed())?;
        self.spares_cache.store(read.is_some(), Ordering::Relaxed);
        Ok(read)
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Counts bytes that were read without [`Source::fill`].
    pub(crate) fn add_consumed(&self, bytes: u64) {
        self.consumed.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Read for &Source {
    /// Reads the next bytes. Only one thread may do this at a time: a second would read the same
    /// bytes.
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let read = match self.read_past_cache(block)? {
            Some(read) => read,
            None => system::read_at(&self.file, block, self.consumed())?,
        };
        self.add_consumed(read as u64);
        Ok(read)
    }
}

/// Reads until the block is full or the input ends. `read` gets the rest of the block, and the number
/// of bytes before it. Retries after interrupts.
pub(crate) fn fill(
    block: &mut [u8],
    mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut filled = 0;
    while filled < block.len() {
        match read(&mut block[filled..], filled) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Reads a file from an offset on, until the block is full or the file ends.
pub(crate) fn fill_at(file: &File, block: &mut [u8], offset: u64) -> io::Result<usize> {
    fill(block, |rest, filled| system::read_at(file, rest, offset + filled as u64))
}

/// Returns whether a file still has the same identity, size and times.
pub(crate) fn same_state(before: &Attributes, after: &Attributes) -> bool {
    before.file_id() == after.file_id()
        && before.size() == after.size()
        && before.mtime() == after.mtime()
        && before.ctime() == after.ctime()
}

/// Returns [`Reason::Cancelled`] if a stop was requested.
pub(crate) fn check_cancelled(cancel: &Cancel, source: &Source) -> Result<(), Error> {
    if cancel.is_cancelled() {
        return Err(Error::cancelled(source.path()));
    }
    Ok(())
}

fn regular(path: &Path, attributes: &Attributes) -> Result<(), Error> {
    match attributes.file_type() {
        FileType::File => Ok(()),
        other => Err(Error::new(Operation::Read, path, Reason::NotAFile(other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one byte at a time, and is interrupted before each.
    struct Slow<'a>(&'a [u8], bool);

    impl Read for Slow<'_> {
        fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.0.read(&mut block[..1])
        }
    }

    #[test]
    fn fill_short_reads_resumed() {
        let mut block = [0; 4];
        let mut slow = Slow(b"abcdef", false);
        let mut fill = |block: &mut [u8]| fill(block, |rest, _| slow.read(rest)).unwrap();
        assert_eq!(fill(&mut block), 4);
        assert_eq!(&block, b"abcd");
        assert_eq!(fill(&mut block), 2);
        assert_eq!(fill(&mut block), 0);
    }
}
