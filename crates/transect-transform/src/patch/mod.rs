//! Patches: changes of bytes at some offsets of a file.
//!
//! ```text
//! OFFSET:OLD:NEW  IPS  BPS ─► Patch ─┬─ apply ──────────► a new file, published as every result
//!                                    └─ apply_in_place ─► journal, file, journal removed
//! ```
//!
//! In place, the file keeps its identity and all its names: only bytes that differ are written. A
//! journal beside the file holds the old bytes until everything is written ([`undo`], [`resume`]).

mod bps;
mod changes;
mod copies;
mod in_place;
mod ips;
mod journal;
mod overlay;
mod words;

use std::io;
use std::path::Path;

use bps::Bps;
use changes::Changes;
pub use in_place::{InPlaceOptions, PatchReport, resume, undo};
use overlay::ChangeOverlay;

use crate::error::{Error, Operation};
use crate::pass::{PassOptions, PassRunner};
use crate::publish::{PublishReport, ReplaceOptions};
use crate::source::{PositionedReader, Source, fill};
use crate::step::InvalidData;
use crate::whole_file::transform;

/// Why a file is not a patch.
const UNKNOWN: &str = "it is neither an IPS nor a BPS patch";

/// A patch.
#[derive(Clone, Debug)]
pub struct Patch(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Changes(Changes),
    /// Moves parts of the file, or changes its length.
    Copies(Bps),
}

impl Patch {
    /// Parses words of the form `OFFSET:OLD:NEW`: OFFSET is decimal, or hexadecimal after `0x`; OLD
    /// and NEW are hexadecimal and equally long. The file must contain OLD.
    ///
    /// # Errors
    /// A word is invalid, or overlaps another.
    pub fn parse_words<Word: AsRef<str>>(words: &[Word]) -> Result<Self, InvalidData> {
        Ok(Self(Kind::Changes(words::parse(words.iter().map(AsRef::as_ref))?)))
    }

    /// Parses the content of an IPS or BPS patch file. IPS does not specify the old content and can
    /// be applied to any file, even the wrong one. BPS contains the CRC-32 of the file before and
    /// after, and of itself.
    ///
    /// # Errors
    /// The bytes are neither format, or damaged.
    pub fn parse(bytes: &[u8]) -> Result<Self, InvalidData> {
        if bytes.starts_with(ips::MAGIC) {
            return Ok(Self(Kind::Changes(ips::parse(bytes)?)));
        }
        if bytes.starts_with(bps::MAGIC) {
            let bps = Bps::parse(bytes)?;
            return Ok(Self(bps.changes().map_or(Kind::Copies(bps), Kind::Changes)));
        }
        Err(InvalidData::new(UNKNOWN))
    }

    /// Reads a patch file and parses it as [`Patch::parse`] does.
    ///
    /// # Errors
    /// The file cannot be read, is not a patch, or is longer than [`MAX_LENGTH`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        read_patch_file(path)
            .and_then(|bytes| Self::parse(&bytes).map_err(Error::invalid(path)))
            .map_err(Error::during(Operation::Read))
    }

    /// Returns whether the patch specifies the content of its input. Otherwise it can be applied to
    /// any file.
    pub fn checks_input(&self) -> bool {
        match &self.0 {
            Kind::Changes(changes) => {
                changes.known.is_some() || changes.list.iter().all(|change| change.old.is_some())
            }
            Kind::Copies(_) => true,
        }
    }

    /// Returns whether the patch only changes bytes of a file of this size, neither its length nor
    /// the offsets of other bytes, so that it can be applied in place.
    pub fn fits_in_place(&self, size: u64) -> bool {
        match &self.0 {
            Kind::Changes(changes) => changes.keep_size(size),
            Kind::Copies(_) => false,
        }
    }

    /// Writes the patched `input` to `target`. With
    /// [`Existing::InPlace`](crate::publish::Existing::InPlace), the input is replaced as a whole.
    ///
    /// # Errors
    /// The patch is for another file; also the errors of [`transform`].
    pub fn apply(
        &self,
        input: &Path,
        target: &Path,
        pass: &PassOptions,
        options: ReplaceOptions,
    ) -> Result<PublishReport, Error> {
        self.write_patched(input, target, pass, options).map_err(Error::during(Operation::Patch))
    }

    fn write_patched(
        &self,
        input: &Path,
        target: &Path,
        pass: &PassOptions,
        options: ReplaceOptions,
    ) -> Result<PublishReport, Error> {
        match &self.0 {
            Kind::Changes(changes) => {
                let size = Source::open(input)?.size();
                let mut overlay = ChangeOverlay::new(changes, size);
                let mut passes = PassRunner::new(pass.clone());
                let report =
                    transform(input, Some(target), Some(&mut overlay), &mut passes, options)?;
                Ok(report.published.expect("BUG: there is a target"))
            }
            Kind::Copies(bps) => copies::apply(bps, input, target, options, &pass.cancel),
        }
    }

    /// Changes a file in place. Before the first byte is changed, a journal beside it
    /// (`.NAME.transect-undo`) and its name are synced. After the last, the file is synced, and
    /// then the journal is removed, unless it is to be kept. A killed process leaves the journal
    /// behind.
    ///
    /// No other process should write to the file meanwhile.
    ///
    /// # Errors
    /// If the patch is for another file or would change the length, if a journal exists, or after a
    /// cancellation, the file is unchanged. If a write fails, earlier writes are undone; if that
    /// fails, too, the journal is kept.
    pub fn apply_in_place(
        &self,
        path: &Path,
        options: &InPlaceOptions,
    ) -> Result<PatchReport, Error> {
        self.apply_in_place_observed(path, options, &mut |_| {})
            .map_err(Error::during(Operation::Patch))
    }

    fn apply_in_place_observed(
        &self,
        path: &Path,
        options: &InPlaceOptions,
        observe: &mut dyn FnMut(in_place::Progress),
    ) -> Result<PatchReport, Error> {
        match &self.0 {
            Kind::Changes(changes) => in_place::apply(changes, path, options, observe),
            Kind::Copies(_) => {
                let reason = "the patch moves parts of it, or changes its length, and so can only \
                              make a new file";
                Err(Error::invalid(path)(InvalidData::new(reason)))
            }
        }
    }
}

/// Maximum length of a patch file, which is read into memory.
pub const MAX_LENGTH: u64 = 256 << 20;

/// Reads a patch file to its end.
fn read_patch_file(path: &Path) -> Result<Vec<u8>, Error> {
    let source = Source::open(path)?;
    // Check the beginning first, so that a large file of another kind is not read.
    let mut magic = [0; ips::MAGIC.len()];
    let read = fill(&mut PositionedReader { file: source.file(), offset: 0 }, &mut magic);
    let begins = &magic[..read.map_err(Error::system(Operation::Read, path))?];
    let is_known = [ips::MAGIC, bps::MAGIC].iter().any(|known| begins.starts_with(known));
    let invalid = |reason: String| Error::invalid(path)(InvalidData::new(reason));
    match source.size() {
        _ if !is_known => Err(invalid(UNKNOWN.to_owned())),
        size if size > MAX_LENGTH => {
            Err(invalid(format!("it has {size} bytes, and a patch has {MAX_LENGTH} at most")))
        }
        _ => read_all(&source),
    }
}

/// Reads a whole file into memory.
fn read_all(source: &Source) -> Result<Vec<u8>, Error> {
    let failed = Error::system(Operation::Read, source.path());
    let out_of_memory = io::Error::from(io::ErrorKind::OutOfMemory);
    let Ok(size) = usize::try_from(source.size()) else {
        return Err(failed(out_of_memory));
    };
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(size).is_err() {
        return Err(failed(out_of_memory));
    }
    bytes.resize(size, 0);
    source.fill(&mut bytes)?;
    source.verify_unchanged()?;
    Ok(bytes)
}
