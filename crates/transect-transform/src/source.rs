//! The input: opened once, read to its end, and found to be the same afterwards.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use transect_sys::file::{attributes_at, attributes_of};
use transect_sys::{Attributes, FileId, FileType};

use crate::error::{Error, Operation, Rejection};
use crate::system;

/// A regular file that is read once, from its beginning to its end.
///
/// It is shared by whoever reads and whoever compares: all it changes is a count.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    file: File,
    before: Attributes,
    consumed: AtomicU64,
    /// What is read on is not to stay in the system's cache; no more, once the system has said that
    /// it cannot leave it.
    spares_cache: AtomicBool,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourceOptions {
    /// A walk has just found it to be a regular file, and nobody asks again. If it has become a
    /// device since, opening it may do something; whatever it has become, it is no input then.
    pub(crate) is_listed: bool,
    /// The system is told that it will be read from its beginning to its end: it may read further
    /// ahead, and keep less of what was read.
    pub(crate) sequential: bool,
    /// What is read, and was not in the system's cache, does not stay there, where it can be left.
    pub(crate) spares_cache: bool,
}

impl Source {
    /// Opens a file. A link is followed.
    ///
    /// # Errors
    /// It cannot be opened, or is no regular file.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        Self::open_as(path.into(), SourceOptions::default())
    }

    /// Opens a file about which more is known, or wanted.
    pub(crate) fn open_as(path: PathBuf, options: SourceOptions) -> Result<Self, Error> {
        let SourceOptions { is_listed, sequential, spares_cache } = options;
        if !is_listed {
            // Before it is opened: to open a device may do something, and to open a pipe waits.
            let there = attributes_at(&path).map_err(Error::system(Operation::Read, &path))?;
            regular(&path, &there)?;
        }
        let file = system::open_to_read(&path, sequential);
        let file = file.map_err(Error::system(Operation::Read, &path))?;
        let before = attributes_of(&file).map_err(Error::system(Operation::Read, &path))?;
        // It may have become something else before it was opened.
        regular(&path, &before)?;
        let (consumed, spares_cache) = (AtomicU64::new(0), AtomicBool::new(spares_cache));
        Ok(Self { path, file, before, consumed, spares_cache })
    }

    /// Returns the path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its size when it was opened. 0 may mean that the system makes up the content while
    /// it is read (`/proc`): never a reason not to read.
    pub fn size(&self) -> u64 {
        self.before.size().unwrap_or(0)
    }

    /// Returns which file it is, if the system tells.
    pub fn file_id(&self) -> Option<FileId> {
        self.before.file_id()
    }

    /// Returns what it was when it was opened.
    pub fn attributes(&self) -> &Attributes {
        &self.before
    }

    /// Returns whether parts of it are holes: they read as zeros and occupy nothing.
    pub fn is_sparse(&self) -> bool {
        self.before.is_sparse()
    }

    /// Returns how much of it has been read.
    pub fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Fills a block with what comes next. Less than a whole block is the end.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn fill(&self, block: &mut [u8]) -> Result<usize, Error> {
        let mut filled = 0;
        while filled < block.len() {
            let read = fill_once(&mut &*self, &mut block[filled..]);
            let read = read.map_err(Error::system(Operation::Read, &self.path))?;
            filled += read;
            // Less than was asked for, and all there is: the end, and nobody asks for more of it.
            // Where sizes are made up, less may be anything.
            if read == 0 || filled < block.len() && self.consumed() == self.size() {
                break;
            }
        }
        Ok(filled)
    }

    /// Returns whether `bytes` stand at `offset`. Whoever reads on is not disturbed.
    ///
    /// # Errors
    /// Whatever the system says. That the file ends before is no error.
    pub(crate) fn contains_at(&self, bytes: &[u8], offset: u64) -> Result<bool, Error> {
        let mut piece = [0; 16 << 10];
        let mut at = offset;
        for expected in bytes.chunks(piece.len()) {
            let piece = &mut piece[..expected.len()];
            let mut there = PositionedReader { file: &self.file, offset: at };
            let read =
                fill(&mut there, piece).map_err(Error::system(Operation::Read, &self.path))?;
            if piece[..read] != *expected {
                return Ok(false);
            }
            at += read as u64;
        }
        Ok(true)
    }

    /// Goes back to the beginning.
    pub(crate) fn rewind(&self) {
        self.consumed.store(0, Ordering::Relaxed);
    }

    /// Returns whether there is nothing to read: where sizes are made up, 0 says nothing.
    pub(crate) fn is_empty(&self) -> Result<bool, Error> {
        let mut start = PositionedReader { file: &self.file, offset: 0 };
        let read = fill(&mut start, &mut [0]);
        Ok(read.map_err(Error::system(Operation::Read, &self.path))? == 0)
    }

    /// Makes sure that what was opened once more is the same file.
    pub(crate) fn verify_same(&self, file: &File) -> Result<(), Error> {
        let there = attributes_of(file).map_err(Error::system(Operation::Read, &self.path))?;
        if there.file_id() != self.file_id() {
            return Err(Error::Changed { path: self.path.clone() });
        }
        Ok(())
    }

    /// Returns the error for a part that could not be had: the file has been cut, or what the system
    /// said.
    pub(crate) fn changed_or(&self, error: io::Error) -> Error {
        match attributes_of(&self.file) {
            Ok(now) if now.size() != self.before.size() => {
                Error::Changed { path: self.path.clone() }
            }
            _ => Error::system(Operation::Read, &self.path)(error),
        }
    }

    /// Makes sure that what was read is what the file held when it was opened, and all of it. To be
    /// called when it was read to its end.
    ///
    /// # Errors
    /// It is shorter, longer or otherwise changed; or the system does not tell.
    pub fn verify_unchanged(&self) -> Result<(), Error> {
        let after =
            attributes_of(&self.file).map_err(Error::system(Operation::Read, &self.path))?;
        let changed = || Err(Error::Changed { path: self.path.clone() });
        if after.size() != self.before.size() {
            return changed();
        }
        if self.consumed() == self.size() {
            return if same_state(&self.before, &after) { Ok(()) } else { changed() };
        }
        // Here the size says nothing: files of /proc have none, those of /sys a whole page.
        if system::is_pseudo_file(&self.path) { Ok(()) } else { changed() }
    }

    /// Reads what comes next, and leaves nothing of it in the system's cache that was not there; if that
    /// is wanted, and can be.
    fn read_past_cache(&self, block: &mut [u8]) -> io::Result<Option<usize>> {
        if !self.spares_cache.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let read = system::read_past_cache(&self.file, block, self.consumed())?;
        self.spares_cache.store(read.is_some(), Ordering::Relaxed);
        Ok(read)
    }

    /// Returns the open file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Counts what was read past [`Source::fill`].
    pub(crate) fn add_consumed(&self, bytes: u64) {
        self.consumed.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Read for &Source {
    /// Reads on. Only one may do this at a time: a second one would read the same.
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let read = match self.read_past_cache(block)? {
            Some(read) => read,
            None => system::read_at(&self.file, block, self.consumed())?,
        };
        self.add_consumed(read as u64);
        Ok(read)
    }
}

/// A file from an offset on.
pub(crate) struct PositionedReader<'a> {
    pub(crate) file: &'a File,
    pub(crate) offset: u64,
}

impl Read for PositionedReader<'_> {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let read = system::read_at(self.file, block, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

/// Reads until the block is full or nothing comes any more.
pub(crate) fn fill(input: &mut impl Read, block: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < block.len() {
        match fill_once(input, &mut block[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// Reads as much as comes at once.
fn fill_once(input: &mut impl Read, block: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

/// Returns whether a file is, as far as the system tells, in the state it was in.
pub(crate) fn same_state(before: &Attributes, after: &Attributes) -> bool {
    before.file_id() == after.file_id()
        && before.size() == after.size()
        && before.mtime() == after.mtime()
        && before.ctime() == after.ctime()
}

fn regular(path: &Path, attributes: &Attributes) -> Result<(), Error> {
    match attributes.file_type() {
        FileType::File => Ok(()),
        other => Err(Error::rejected(Operation::Read, path, Rejection::NotAFile(other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte at a time, and is interrupted before each.
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
    fn short_reads_are_resumed() {
        let mut block = [0; 4];
        let mut slow = Slow(b"abcdef", false);
        assert_eq!(fill(&mut slow, &mut block).unwrap(), 4);
        assert_eq!(&block, b"abcd");
        assert_eq!(fill(&mut slow, &mut block).unwrap(), 2);
        assert_eq!(fill(&mut slow, &mut block).unwrap(), 0);
    }
}
