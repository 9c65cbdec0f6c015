//! The file made of its parts again.

use std::path::Path;

use transect::Cancel;
use transect_sys::file::attributes_at;

use super::manifest::Manifest;
use super::refused;
use crate::error::{Error, Operation, Unfit};
use crate::pass::{LARGE_BLOCK, append_around, check};
use crate::publish::{Published, ReplaceOptions, Replacement};
use crate::source::Source;

/// The longest manifest that is read: of about ten million parts.
const LONGEST: u64 = 1 << 30;

/// What came of joining parts.
#[derive(Debug)]
pub struct Joined {
    /// What became of the result.
    pub published: Published,
    /// How many parts there were.
    pub parts: usize,
    /// The length of the file.
    pub size: u64,
    /// The BLAKE3 digest of the file, in hexadecimal.
    pub digest: String,
}

/// Joins the parts that a manifest names, and that lie beside it, into `target`. Holes stay holes.
///
/// # Errors
/// The manifest is none; a part is missing, or is not what the manifest says; the target is a part,
/// or may not be replaced; somebody asked to stop; or whatever the system says. The target is then
/// what it was. What is missing or has another length is found before anything is written.
pub fn join(
    manifest: &Path,
    target: &Path,
    options: ReplaceOptions,
    cancel: &Cancel,
) -> Result<Joined, Error> {
    let source = Source::open(manifest)?;
    let said = read(&source)?;
    let mut joiner = Joiner {
        folder: manifest.parent().unwrap_or(Path::new("")),
        manifest: &said,
        result: Replacement::begin(target, Some(&source), options)?,
        sparse: false,
        whole: blake3::Hasher::new(),
        cancel,
    };
    joiner.look(target)?;
    joiner.copy()?;
    let Joiner { result, whole, .. } = joiner;
    if whole.finalize().to_hex().as_str() != said.digest {
        let reason = "its parts are what it says, but make another file than it says";
        return Err(refused(manifest, reason));
    }
    drop(source);
    let published = result.publish()?;
    Ok(Joined { published, parts: said.lines.len(), size: said.size, digest: said.digest })
}

fn read(source: &Source) -> Result<Manifest, Error> {
    let size = source.size();
    if size > LONGEST {
        return Err(refused(source.path(), "it is too long for a manifest"));
    }
    let mut text = vec![0; size as usize];
    source.fill(&mut text)?;
    source.verify_unchanged()?;
    Manifest::parse(&text).map_err(|reason| refused(source.path(), reason))
}

/// Parts being joined.
struct Joiner<'a> {
    /// Where the parts lie.
    folder: &'a Path,
    manifest: &'a Manifest,
    result: Replacement,
    /// Whether a part has holes.
    sparse: bool,
    whole: blake3::Hasher,
    cancel: &'a Cancel,
}

impl Joiner<'_> {
    /// Looks at all parts, without reading them.
    fn look(&mut self, target: &Path) -> Result<(), Error> {
        let there = attributes_at(target).ok().and_then(|there| there.file_id());
        for (line, length) in self.manifest.parts() {
            let part = Source::open(self.folder.join(&line.name))?;
            if part.size() != length {
                let reason = format!("it has {} bytes, and should have {length}", part.size());
                return Err(refused(part.path(), reason));
            }
            if there.is_some() && part.identity() == there {
                return Err(Error::unfit(Operation::Replace, target, Unfit::IsInput));
            }
            self.sparse |= part.is_sparse();
        }
        Ok(())
    }

    fn copy(&mut self) -> Result<(), Error> {
        let mut block = vec![0; LARGE_BLOCK];
        self.result.start()?;
        if !self.sparse {
            self.result.reserve(self.manifest.size)?;
        }
        for (line, length) in self.manifest.parts() {
            let part = Source::open(self.folder.join(&line.name))?;
            let digest = self.part(&part, length, &mut block)?;
            part.verify_unchanged()?;
            if digest.to_hex().as_str() != line.digest {
                return Err(refused(part.path(), "its BLAKE3 digest is not the one it should be"));
            }
        }
        Ok(())
    }

    /// Appends a part, and returns its digest.
    fn part(
        &mut self,
        part: &Source,
        length: u64,
        block: &mut [u8],
    ) -> Result<blake3::Hash, Error> {
        let mut hasher = blake3::Hasher::new();
        let mut left = length;
        while left > 0 {
            check(self.cancel, part)?;
            let size = left.min(block.len() as u64) as usize;
            let read = part.fill(&mut block[..size])?;
            if read == 0 {
                return Err(Error::Changed { path: part.path().to_owned() });
            }
            let bytes = &block[..read];
            hasher.update(bytes);
            self.whole.update(bytes);
            if self.sparse {
                append_around(&mut self.result, bytes)?;
            } else {
                self.result.append(bytes)?;
            }
            left -= read as u64;
        }
        Ok(hasher.finalize())
    }
}
