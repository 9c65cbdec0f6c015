//! Splits a file into parts, and joins them again.
//!
//! ```text
//! NAME ── split ─► NAME.000001  NAME.000002 ...  NAME.blake3  NAME.parts ── join ─► NAME
//! ```
//!
//! Parts are published when all are complete, then the digest of the whole, and the manifest last:
//! without a manifest, the split is incomplete. Joining reads every part once. It publishes a file
//! only if each part and the whole match the digests.

mod join;
mod manifest;

use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

pub use join::{JoinReport, join};
use transect::Cancel;

use crate::error::{Error, Operation};
use crate::manifest::Line;
use crate::pass::{LARGE_BLOCK, append_sparse};
use crate::publish::{Batch, Durability, Existing, ReplaceOptions, Replacement};
use crate::source::{Source, check_cancelled};
use crate::step::InvalidData;

/// Suffix of the manifest.
pub const MANIFEST_SUFFIX: &str = ".parts";

/// Suffix of the file with the digest of the whole.
pub const DIGEST_SUFFIX: &str = ".blake3";

/// Digits in the number of a part, so that names sort in the order of the parts.
const DIGITS: usize = 6;

/// Maximum number of parts, limited by the digits in its number. Information about each part is
/// held in memory.
pub const MAX_PARTS: u64 = 10_u64.pow(DIGITS as u32) - 1;

/// The report of splitting a file.
#[derive(Debug)]
#[non_exhaustive]
pub struct SplitReport {
    /// The manifest.
    pub manifest: PathBuf,
    /// The parts, in order.
    pub parts: Vec<PathBuf>,
    /// Length of the file.
    pub size: u64,
    /// BLAKE3 digest of the file, in hexadecimal.
    pub digest: String,
}

/// Splits a file into parts of `part` bytes; the last may be shorter. Parts are named `target` with
/// a dot and a number, the digest of the whole has [`DIGEST_SUFFIX`], and the manifest
/// [`MANIFEST_SUFFIX`]. An empty file has no parts. Holes stay holes. A pseudo file, which does not
/// report its size, is rejected as changed.
///
/// `options` apply to every part and the manifest; [`Existing::InPlace`] is not possible.
///
/// # Errors
/// There would be more than [`MAX_PARTS`]; a part or the manifest exists, which is detected before
/// anything is written; the file changed; the operation was cancelled; or the system reported an
/// error. New files are removed again, but parts of an earlier split may already have been
/// replaced.
pub fn split(
    input: &Path,
    target: &Path,
    part: NonZeroU64,
    options: ReplaceOptions,
    cancel: &Cancel,
) -> Result<SplitReport, Error> {
    split_file(input, target, part, options, cancel).map_err(Error::during(Operation::Split))
}

fn split_file(
    input: &Path,
    target: &Path,
    part: NonZeroU64,
    options: ReplaceOptions,
    cancel: &Cancel,
) -> Result<SplitReport, Error> {
    let source = Source::open(input)?;
    let mut parts = PartWriter::begin(&source, target, part, options)?;
    let begin = |suffix| Replacement::begin(&with_suffix(target, suffix), Some(&source), options);
    let (line, listing) = (begin(DIGEST_SUFFIX)?, begin(MANIFEST_SUFFIX)?);
    let batch = parts.write(cancel)?;
    let PartWriter { lines, whole, .. } = parts;
    source.verify_unchanged()?;
    let size = source.size();
    drop(source);

    let digest = whole.finalize().to_hex().to_string();
    let whole = Line::new(digest.as_str(), target.file_name().unwrap_or_default());
    let parts = publish(batch, options.existing)?;
    let undo = |also: &[PathBuf]| {
        remove(&parts, options.existing);
        remove(also, options.existing);
    };
    let whole = write_lines(line, &[whole]).inspect_err(|_| undo(&[]))?;
    let manifest = write_lines(listing, &lines).inspect_err(|_| undo(&[whole]))?;
    Ok(SplitReport { manifest, parts, size, digest })
}

/// Writes the parts of a file.
struct PartWriter<'a> {
    source: &'a Source,
    /// Results with their lengths.
    results: Vec<(Replacement, u64)>,
    durability: Durability,
    lines: Vec<Line>,
    whole: blake3::Hasher,
}

impl<'a> PartWriter<'a> {
    /// Checks the targets of all parts, and creates nothing.
    fn begin(
        source: &'a Source,
        target: &Path,
        part: NonZeroU64,
        options: ReplaceOptions,
    ) -> Result<Self, Error> {
        let count = source.size().div_ceil(part.get());
        if count > MAX_PARTS {
            let least = source.size().div_ceil(MAX_PARTS);
            return Err(invalid(
                source.path(),
                format!(
                    "it has {count} parts of that size, and {MAX_PARTS} are the most; choose a \
                     size of {least} or more"
                ),
            ));
        }
        let each = ReplaceOptions { durability: Durability::Batch, ..options };
        let begin = |at: u64| {
            let path = with_suffix(target, &format!(".{:0DIGITS$}", at + 1));
            let length = part.get().min(source.size() - at * part.get());
            Ok((Replacement::begin(&path, Some(source), each)?, length))
        };
        let results = (0..count).map(begin).collect::<Result<_, _>>()?;
        let whole = blake3::Hasher::new();
        Ok(Self { source, results, durability: options.durability, lines: Vec::new(), whole })
    }

    /// Writes all parts, and returns them as a batch to publish together.
    fn write(&mut self, cancel: &Cancel) -> Result<Batch, Error> {
        let mut batch = match self.durability {
            Durability::None => Batch::without_sync(),
            Durability::File | Durability::Batch => Batch::new(),
        };
        let mut block = vec![0; LARGE_BLOCK];
        for (mut result, length) in std::mem::take(&mut self.results) {
            let digest = self.part(&mut result, length, &mut block, cancel)?;
            let name = result.path().file_name().expect("BUG: it was looked at, and has a name");
            self.lines.push(Line::new(digest.to_hex().as_str(), name));
            batch.add(result)?;
        }
        // The file has more bytes than its size: it grows, or is a pseudo file.
        if self.source.fill(&mut block[..1])? > 0 {
            return Err(Error::changed(self.source.path()));
        }
        Ok(batch)
    }

    fn part(
        &mut self,
        result: &mut Replacement,
        length: u64,
        block: &mut [u8],
        cancel: &Cancel,
    ) -> Result<blake3::Hash, Error> {
        let sparse = self.source.is_sparse();
        if !sparse {
            result.reserve(length)?;
        }
        let mut hasher = blake3::Hasher::new();
        let mut left = length;
        while left > 0 {
            check_cancelled(cancel, self.source)?;
            let size = left.min(block.len() as u64) as usize;
            let read = self.source.fill(&mut block[..size])?;
            let bytes = &block[..read];
            if read < size {
                return Err(Error::changed(self.source.path()));
            }
            hasher.update(bytes);
            self.whole.update(bytes);
            if sparse {
                append_sparse(result, bytes)?
            } else {
                result.append(bytes)?
            }
            left -= read as u64;
        }
        Ok(hasher.finalize())
    }
}

/// Publishes all parts. If one fails, removes the others, unless they may have replaced earlier
/// parts.
fn publish(batch: Batch, existing: Existing) -> Result<Vec<PathBuf>, Error> {
    let (mut parts, mut failed) = (Vec::new(), None);
    for outcome in batch.publish() {
        match outcome {
            Ok(published) => parts.push(published.path),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    match failed {
        None => Ok(parts),
        Some(error) => {
            remove(&parts, existing);
            Err(error)
        }
    }
}

/// Removes parts of an incomplete split, unless they may have replaced earlier parts.
fn remove(parts: &[PathBuf], existing: Existing) {
    if existing == Existing::Keep {
        for part in parts {
            // Report the first error.
            let _ = std::fs::remove_file(part);
        }
    }
}

fn write_lines(mut listing: Replacement, lines: &[Line]) -> Result<PathBuf, Error> {
    listing.append(&lines.iter().flat_map(Line::to_bytes).collect::<Vec<_>>())?;
    Ok(listing.publish()?.path)
}

/// Appends a suffix to the name of a path.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut whole = OsString::from(path);
    whole.push(suffix);
    whole.into()
}

/// Returns an error about the content of a manifest or a part.
fn invalid(path: &Path, reason: impl Into<String>) -> Error {
    Error::invalid(path)(InvalidData::new(reason))
}
