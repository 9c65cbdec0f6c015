//! Patches: other bytes at some places of a file.
//!
//! ```text
//! OFFSET:OLD:NEW  IPS  BPS ─► Patch ─┬─ apply ──────────► a new file, as every result
//!                                    └─ apply_in_place ─► journal, file, no journal
//! ```
//!
//! In place, the file stays the one it is, with all its names: only the bytes that differ are written.
//! What was there before is in a journal beside it until all is done ([`undo`], [`resume`]).

mod bps;
mod copies;
mod in_place;
mod ips;
mod journal;
mod overlay;
mod words;

use std::io;
use std::path::Path;

use bps::Bps;
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

/// Other bytes at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    offset: u64,
    /// What must be there, if the patch says so; as long as what will be.
    old: Option<Vec<u8>>,
    new: Vec<u8>,
}

impl Change {
    fn end(&self) -> u64 {
        self.offset + self.new.len() as u64
    }
}

/// What a patch knows of the files before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KnownFiles {
    size: u64,
    /// The CRC-32 of the file before, and after.
    before: u32,
    after: u32,
}

/// Changes of a file, in order, none of which touches another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Changes {
    list: Vec<Change>,
    /// Where the result ends at the latest.
    cut: Option<u64>,
    /// Whether what lies behind the end of the file makes it longer.
    grows: bool,
    known: Option<KnownFiles>,
}

impl Changes {
    /// Returns whether all changes lie in a file of this size, which stays as long as it is.
    fn keep_size(&self, size: u64) -> bool {
        self.list.last().is_none_or(|last| last.end() <= size)
            && self.cut.is_none_or(|cut| cut >= size)
    }

    /// Returns why a file is refused that is shorter than it has to be.
    fn too_short(&self) -> InvalidData {
        let end = self.list.last().map_or(0, Change::end);
        InvalidData::new(format!("it ends before byte {}, which is to be changed", end - 1))
    }
}

/// A patch.
#[derive(Clone, Debug)]
pub struct Patch(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Changes(Changes),
    /// Parts of the file go elsewhere, or its length is another.
    Copies(Bps),
}

impl Patch {
    /// Returns the patch that words of the form `OFFSET:OLD:NEW` stand for: OFFSET decimal, or
    /// hexadecimal after `0x`; OLD and NEW hexadecimal and equally long. The file must hold OLD.
    ///
    /// # Errors
    /// A word is none of these, or changes what another one changes.
    pub fn parse_words<Word: AsRef<str>>(words: &[Word]) -> Result<Self, InvalidData> {
        Ok(Self(Kind::Changes(words::parse(words.iter().map(AsRef::as_ref))?)))
    }

    /// Returns the patch that the content of a patch file stands for: IPS or BPS, as it begins. IPS
    /// does not say what the file must hold: it can be applied to any file, also to the wrong one.
    /// BPS knows the CRC-32 of the file before and after it, and of itself.
    ///
    /// # Errors
    /// It is neither, or damaged.
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

    /// Reads a patch file as [`Patch::parse`] does.
    ///
    /// # Errors
    /// It cannot be read, is not a patch, or is longer than [`MAX_LENGTH`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::parse(&read_patch_file(path)?).map_err(Error::invalid(path))
    }

    /// Returns whether the patch says what a file must hold: else it can be applied to any.
    pub fn checks_input(&self) -> bool {
        match &self.0 {
            Kind::Changes(changes) => {
                changes.known.is_some() || changes.list.iter().all(|change| change.old.is_some())
            }
            Kind::Copies(_) => true,
        }
    }

    /// Returns whether the patch changes single bytes of a file of this size and nothing else, neither
    /// its length nor the places of others, and so can be applied in place.
    pub fn fits_in_place(&self, size: u64) -> bool {
        match &self.0 {
            Kind::Changes(changes) => changes.keep_size(size),
            Kind::Copies(_) => false,
        }
    }

    /// Makes a new file of `input`. With [`Existing::InPlace`](crate::publish::Existing::InPlace) it
    /// is put in the place of the input as a whole.
    ///
    /// # Errors
    /// The input is not what the patch must be applied to, and else those of
    /// [`transform`].
    pub fn apply(
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

    /// Changes a file where it lies. Before the first byte of it is changed, a journal beside it
    /// (`.NAME.transect-undo`) and its name are on the device; after the last the file is, and then
    /// the journal is removed, unless it is to be kept. Who is killed between leaves the journal.
    ///
    /// Nobody else should write to the file meanwhile.
    ///
    /// # Errors
    /// The patch is for another file, or would make this one longer or shorter; there is a journal
    /// already; somebody asked to stop: then nothing was touched. Or the system refuses to write:
    /// then what was written is taken back, and the journal stays if that cannot be.
    pub fn apply_in_place(
        &self,
        path: &Path,
        options: &InPlaceOptions,
    ) -> Result<PatchReport, Error> {
        self.apply_in_place_observed(path, options, &mut |_| {})
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

/// The longest patch file that is read. All of it is in memory.
pub const MAX_LENGTH: u64 = 256 << 20;

/// Reads a patch file to its end.
fn read_patch_file(path: &Path) -> Result<Vec<u8>, Error> {
    let source = Source::open(path)?;
    // A large file that is not a patch is not read to find that out.
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

/// Reads a file to its end, whose size is not too large for that.
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
