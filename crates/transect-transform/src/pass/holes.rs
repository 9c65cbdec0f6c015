//! Holes: parts of a file that read as zeros and occupy no space.

use std::fs::File;
use std::io;
use std::path::Path;

use transect::Cancel;

use super::block::{Block, LARGE_BLOCK};
use crate::error::{Error, Operation, Rejection};
use crate::publish::Replacement;
use crate::source::{PositionedReader, Source, check_cancelled, fill};
use crate::system;

/// The smallest hole to make; every file system supports this size.
const PAGE: usize = 4096;

/// What to do with runs of zeros in a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holes {
    /// Holes of the input stay holes, unless the length may change. Other zeros are written.
    #[default]
    Keep,
    /// Whole pages of zeros become holes, where the file system supports holes.
    ///
    /// In place, a result equal to the input is not rewritten: holes are made in the file itself,
    /// which changes only its ctime. No other process should write to the file meanwhile: data
    /// written to a page between the check for zeros and the hole is lost.
    Make,
    /// No holes: zeros are written, and space is allocated for them. In place, space is allocated
    /// for the holes of a result equal to the input, where the system supports that.
    Fill,
}

/// Appends to a result, with a hole for every page of zeros.
pub(crate) fn append_sparse(out: &mut Replacement, bytes: &[u8]) -> Result<(), Error> {
    append_sparse_with(out, bytes, Replacement::append)
}

/// Appends as [`append_sparse`] does, using `append` for the data.
pub(super) fn append_sparse_with(
    out: &mut Replacement,
    mut bytes: &[u8],
    mut append: impl FnMut(&mut Replacement, &[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    while !bytes.is_empty() {
        let zeros = leading_run(bytes, out.length(), true);
        if zeros > 0 {
            out.hole(zeros as u64)?;
        }
        let data = leading_run(&bytes[zeros..], out.length(), false);
        append(out, &bytes[zeros..zeros + data])?;
        bytes = &bytes[zeros + data..];
    }
    Ok(())
}

/// Makes or fills the holes of an input that does not change.
///
/// Fails on systems that cannot make holes in an existing file; nothing is written instead.
pub(super) fn apply_in_place(
    holes: Holes,
    source: &Source,
    out: &Replacement,
    cancel: &Cancel,
    block: &mut Block,
) -> Result<(), Error> {
    let size = source.size();
    match holes {
        Holes::Fill if size > 0 && source.is_sparse() => out.modify_input(source, |file| {
            let reserved = system::reserve(file, 0..size);
            reserved.map(drop).map_err(Error::system(Operation::Write, source.path()))
        }),
        Holes::Make if size > 0 => {
            out.modify_input(source, |file| HolePuncher { file, source, cancel, block }.punch_all())
        }
        _ => Ok(()),
    }
}

/// Turns zeros into holes.
struct HolePuncher<'a> {
    file: &'a File,
    source: &'a Source,
    cancel: &'a Cancel,
    block: &'a mut Block,
}

impl HolePuncher<'_> {
    fn punch_all(mut self) -> Result<(), Error> {
        let size = self.source.size();
        let mut at = 0;
        while let Some(data) = system::next_data(self.file, at..size) {
            // Data starts and ends at a block of the file system, or at the end of the file.
            let mut there = data.start / PAGE as u64 * PAGE as u64;
            while there < data.end {
                there += self.block(there)?;
            }
            at = there;
        }
        Ok(())
    }

    /// Makes holes in the next block. Returns how many bytes it has checked.
    fn block(&mut self, at: u64) -> Result<u64, Error> {
        check_cancelled(self.cancel, self.source)?;
        let block = self.block.first(LARGE_BLOCK);
        let read = fill(&mut PositionedReader { file: self.file, offset: at }, block)
            .map_err(Error::system(Operation::Read, self.source.path()))?;
        let mut rest = &block[..read];
        if rest.is_empty() {
            return Err(Error::changed(self.source.path()));
        }
        let mut offset = at;
        while !rest.is_empty() {
            let zeros = leading_run(rest, offset, true);
            if zeros > 0 {
                // Beyond the end of the file, there is only the rest of its last page.
                let end = (offset + zeros as u64).next_multiple_of(PAGE as u64);
                system::punch_hole(self.file, offset..end)
                    .map_err(not_punched(self.source.path()))?;
            }
            let data = leading_run(&rest[zeros..], offset + zeros as u64, false);
            rest = &rest[zeros + data..];
            offset += (zeros + data) as u64;
        }
        Ok(read as u64)
    }
}

fn not_punched(path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |error| match error.kind() {
        io::ErrorKind::Unsupported => Error::rejected(Operation::Write, path, Rejection::NoHoles),
        _ => Error::system(Operation::Write, path)(error),
    }
}

/// Returns how many of the first bytes are in pages that are all zeros, or in pages that are not.
/// Pages start at multiples of the page size in the file; the first byte is at `offset`.
fn leading_run(bytes: &[u8], offset: u64, zeros: bool) -> usize {
    let first = PAGE - (offset % PAGE as u64) as usize;
    let mut length = 0;
    while length < bytes.len() {
        let end = if length == 0 { first } else { length + PAGE }.min(bytes.len());
        if is_zero(&bytes[length..end]) != zeros {
            break;
        }
        length = end;
    }
    length
}

fn is_zero(bytes: &[u8]) -> bool {
    static ZEROS: [u8; PAGE] = [0; PAGE];
    bytes == &ZEROS[..bytes.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_run_ends_at_page_of_file() {
        let mut bytes = vec![0; 3 * PAGE];
        bytes[PAGE + 5] = 1;
        assert_eq!(leading_run(&bytes, 0, true), PAGE);
        assert_eq!(leading_run(&bytes[PAGE..], PAGE as u64, false), PAGE);
        // The page that contains the 1 starts 10 bytes later.
        assert_eq!(leading_run(&bytes, 4086, true), 10);
        assert_eq!(leading_run(&bytes[..PAGE], 7, true), PAGE);
        assert_eq!(leading_run(&[], 7, true), 0);
    }
}
