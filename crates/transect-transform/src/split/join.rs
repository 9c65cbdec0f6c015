//! Joins the parts of a file.

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use transect::Cancel;
use transect_sys::FileId;
use transect_sys::file::attributes_at;

use super::manifest::{Manifest, read_whole_digest};
use super::{DIGEST_SUFFIX, MANIFEST_SUFFIX, invalid};
use crate::error::{Error, Operation, Rejection};
use crate::pass::{LARGE_BLOCK, append_sparse};
use crate::publish::{PublishReport, ReplaceOptions, Replacement};
use crate::source::{Source, check_cancelled};

/// The report of joining parts.
#[derive(Debug)]
#[non_exhaustive]
pub struct JoinReport {
    /// The published result.
    pub published: PublishReport,
    /// Number of parts.
    pub parts: usize,
    /// Length of the file.
    pub size: u64,
    /// BLAKE3 digest of the file, in hexadecimal.
    pub digest: String,
}

/// Joins the parts that a manifest names, and that lie beside it, into `target`. Holes stay holes.
/// The digest of the whole file lies beside the manifest, too, with [`DIGEST_SUFFIX`] instead of
/// [`MANIFEST_SUFFIX`], unless the manifest has the first form, which contains it.
///
/// # Errors
/// The manifest is invalid; a part is missing or differs from the manifest; the target is a part,
/// or must not be replaced; the operation was cancelled; or the system reported an error. The
/// target is then unchanged. Missing parts and impossible lengths are detected before anything is
/// written.
pub fn join(
    manifest: &Path,
    target: &Path,
    options: ReplaceOptions,
    cancel: &Cancel,
) -> Result<JoinReport, Error> {
    join_parts(manifest, target, options, cancel).map_err(Error::during(Operation::Join))
}

fn join_parts(
    manifest: &Path,
    target: &Path,
    options: ReplaceOptions,
    cancel: &Cancel,
) -> Result<JoinReport, Error> {
    let source = Source::open(manifest)?;
    let parsed = read(&source, Manifest::read)?;
    let there = attributes_at(target).ok().and_then(|there| there.file_id());
    let digest = match &parsed.whole {
        Some(whole) => whole.digest.clone(),
        None => {
            let whole = Source::open(whole_digest_path(manifest)?)?;
            check_not_target(&whole, target, there)?;
            read(&whole, read_whole_digest)?
        }
    };
    let mut joiner = PartJoiner {
        directory: manifest.parent().unwrap_or(Path::new("")),
        manifest: &parsed,
        result: Replacement::begin(target, Some(&source), options)?,
        size: 0,
        sparse: false,
        whole: blake3::Hasher::new(),
        cancel,
    };
    joiner.check_parts(target, there)?;
    joiner.copy()?;
    let PartJoiner { result, size, whole, .. } = joiner;
    if whole.finalize().to_hex().as_str() != digest {
        let reason = "its parts match their digests, but not the digest of the whole file";
        return Err(invalid(manifest, reason));
    }
    drop(source);
    let published = result.publish()?;
    Ok(JoinReport { published, parts: parsed.lines.len(), size, digest })
}

/// Returns the path of the file with the digest of the whole.
fn whole_digest_path(manifest: &Path) -> Result<PathBuf, Error> {
    if manifest.extension().is_some_and(|end| end == &MANIFEST_SUFFIX[1..]) {
        return Ok(manifest.with_extension(&DIGEST_SUFFIX[1..]));
    }
    let reason = format!(
        "its name does not end with '{MANIFEST_SUFFIX}', and it does not contain the digest of the \
         whole file"
    );
    Err(invalid(manifest, reason))
}

/// Checks that an input is not the target. `there` is the ID of the file at the target.
fn check_not_target(source: &Source, target: &Path, there: Option<FileId>) -> Result<(), Error> {
    if there.is_some() && source.file_id() == there {
        return Err(Error::rejected(Operation::Replace, target, Rejection::IsInput));
    }
    Ok(())
}

/// Reads and parses a text file.
fn read<'a, T>(
    source: &'a Source,
    parse: fn(BufReader<&'a Source>) -> io::Result<Result<T, String>>,
) -> Result<T, Error> {
    let parsed = parse(BufReader::new(source));
    let parsed = parsed.map_err(Error::system(Operation::Read, source.path()))?;
    let parsed = parsed.map_err(|reason| invalid(source.path(), reason))?;
    source.verify_unchanged()?;
    Ok(parsed)
}

/// Joins parts.
struct PartJoiner<'a> {
    /// The directory of the parts.
    directory: &'a Path,
    manifest: &'a Manifest,
    result: Replacement,
    /// Length of all parts.
    size: u64,
    /// Whether a part has holes.
    sparse: bool,
    whole: blake3::Hasher,
    cancel: &'a Cancel,
}

impl PartJoiner<'_> {
    /// Checks all parts without reading them.
    fn check_parts(&mut self, target: &Path, there: Option<FileId>) -> Result<(), Error> {
        let mut lengths = Vec::with_capacity(self.manifest.lines.len());
        for line in &self.manifest.lines {
            let part = Source::open(self.directory.join(&line.name))?;
            lengths.push(part.size());
            check_not_target(&part, target, there)?;
            self.sparse |= part.is_sparse();
        }
        self.size = lengths.iter().sum();
        let verified = self.manifest.verify(&lengths);
        verified.map_err(|(line, reason)| invalid(&self.directory.join(&line.name), reason))
    }

    fn copy(&mut self) -> Result<(), Error> {
        let mut block = vec![0; LARGE_BLOCK];
        self.result.start()?;
        if !self.sparse {
            self.result.reserve(self.size)?;
        }
        for line in &self.manifest.lines {
            let part = Source::open(self.directory.join(&line.name))?;
            let digest = self.part(&part, &mut block)?;
            part.verify_unchanged()?;
            if digest.to_hex().as_str() != line.digest {
                return Err(invalid(part.path(), "its BLAKE3 digest differs from the manifest"));
            }
        }
        Ok(())
    }

    /// Appends a part, and returns its digest.
    fn part(&mut self, part: &Source, block: &mut [u8]) -> Result<blake3::Hash, Error> {
        let mut hasher = blake3::Hasher::new();
        loop {
            check_cancelled(self.cancel, part)?;
            let read = part.fill(block)?;
            if read == 0 {
                break;
            }
            let bytes = &block[..read];
            hasher.update(bytes);
            self.whole.update(bytes);
            if self.sparse {
                append_sparse(&mut self.result, bytes)?;
            } else {
                self.result.append(bytes)?;
            }
        }
        Ok(hasher.finalize())
    }
}
