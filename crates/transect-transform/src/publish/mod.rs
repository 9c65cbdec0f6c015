//! The output: written beside its target, and put in its place when it is complete.
//!
//! ```text
//! begin ── checks the target; nothing is made yet
//! start ── .NAME.PID-BOOT-NAMESPACE.N.transect beside it, or a file without a name
//! write
//! publish ── room given back, attributes, sync, close, rename, sync of the folder
//! ```
//!
//! Until `publish` renames, the target is what it was, whatever happens; dropping a replacement
//! removes the temporary file. Who is killed leaves that at most (`leftover.rs`).

mod batch;
mod leftover;
mod read_back;
mod relink;
mod target;
mod temporary;

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub use batch::Batch;
pub(crate) use leftover::is_temporary;
pub use leftover::{CleanupReport, KeepReason, keep_reason, remove_abandoned};
pub(crate) use read_back::{Digest, Digester};
pub(crate) use relink::replace_with_link;
use target::Target;
pub(crate) use target::{parent_dir, resolve_link};
use temporary::TemporaryFile;
use transect_sys::Attributes;
use transect_sys::file::attributes_of;

use crate::error::{Error, Operation, Rejection};
use crate::source::{Source, same_state};
use crate::system;

/// Bytes that [`put_with`] gathers before it appends them.
const BUFFER: usize = 64 * 1024;

/// What may be done to what is at the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Nothing: the target must be new, until the end.
    #[default]
    Keep,
    /// It may be replaced, unless it is the input.
    Replace,
    /// It is the input, and is replaced if the result differs from it.
    InPlace,
}

/// What has to be on the device before a result is said to be there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Nothing: after a crash of the system the target may be old, new, or on some file systems empty.
    #[default]
    None,
    /// Each file, before it is put in its place, and its name.
    File,
    /// All files of a [`Batch`] at once, before the first is put in its place. Alone, a file is
    /// treated as with [`Durability::File`].
    Batch,
}

/// How results are put in their place.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplaceOptions {
    /// What may be done to what is there.
    pub existing: Existing,
    /// A target with several names (hard links) may be replaced: the others keep the old content.
    pub break_links: bool,
    /// What has to be on the device at the end.
    pub durability: Durability,
    /// The result has the times of the input.
    pub keep_times: bool,
}

/// Something beside the content that a result could not have.
#[derive(Debug)]
pub struct LostMetadata {
    /// What: `owner`, `permissions`, or the name of an extended attribute.
    pub what: String,
    /// Why.
    pub reason: io::Error,
}

/// What became of a result.
#[derive(Debug)]
pub struct PublishReport {
    /// The file that holds it: the end of a link, if the target was one.
    pub path: PathBuf,
    /// Whether anything was written. In place, a result equal to the input is not.
    pub written: bool,
    /// What the new file has not of the one it replaced.
    pub lost_metadata: Vec<LostMetadata>,
}

/// A result on its way to its target.
///
/// A new file has the permissions of the input, less what the process's mask takes; one that
/// replaces another has the owner, the permissions and the extended attributes of that. On Windows
/// it has what its folder gives.
#[derive(Debug)]
pub struct Replacement {
    target: Target,
    options: ReplaceOptions,
    input: Option<Attributes>,
    /// A new file is nobody's but ours to read.
    private: bool,
    temporary: Option<TemporaryFile>,
    /// How much of the result there is, holes included.
    length: u64,
    /// How much room was made; the file is that long already.
    reserved: u64,
    /// Where the last hole ends: if nothing follows, the file ends before it.
    skipped_to: u64,
    may_have_holes: bool,
    /// The digest of all of it, if the device is to be asked for it.
    expected: Option<Digest>,
    /// What is appended is not to stay in the system's cache; no more, once the system has said that it
    /// cannot leave it.
    spares_cache: bool,
}

impl Replacement {
    /// Looks at the target, and makes nothing. In place, it is looked at when something is to be
    /// written.
    ///
    /// # Errors
    /// There is something at the target that is not to be replaced, or no folder to put it in.
    pub fn begin(
        target: &Path,
        source: Option<&Source>,
        options: ReplaceOptions,
    ) -> Result<Self, Error> {
        let in_place = source.filter(|source| {
            options.existing == Existing::InPlace && source.path().as_os_str() == target.as_os_str()
        });
        let target = match in_place {
            Some(input) => Target::for_input(input),
            None => Target::inspect(target, source, &options)?,
        };
        let input = source.map(|source| *source.attributes());
        Ok(Self {
            target,
            options,
            input,
            private: false,
            temporary: None,
            length: 0,
            reserved: 0,
            skipped_to: 0,
            may_have_holes: false,
            expected: None,
            spares_cache: false,
        })
    }

    /// Returns the same, but if it will be a new file, nobody else may read it.
    pub(crate) fn owner_only(self) -> Self {
        Self { private: true, ..self }
    }

    /// Returns where the result will be: the end of a link, if the target is one.
    pub fn path(&self) -> &Path {
        &self.target.path
    }

    /// Returns what the input was, if there is one.
    pub(crate) fn input_attributes(&self) -> Option<&Attributes> {
        self.input.as_ref()
    }

    /// Returns whether nothing is to be written: in place, nothing has changed.
    pub(crate) fn is_unwritten(&self) -> bool {
        self.is_in_place() && self.temporary.is_none()
    }

    /// Returns whether the input is to be replaced, and only if something changed.
    pub fn is_in_place(&self) -> bool {
        self.options.existing == Existing::InPlace
    }

    /// Returns how much of the result there is.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Makes the temporary file, unless it is there.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn start(&mut self) -> Result<(), Error> {
        if self.temporary.is_none() {
            self.target.check(&self.options)?;
            let mode = self.initial_mode();
            // A batch renames later, and has no room for thousands of open files.
            let unnamed = !self.target.exists() && self.options.durability != Durability::Batch;
            let made = TemporaryFile::create(&self.target.path, mode, unnamed);
            self.temporary =
                Some(made.map_err(Error::system(Operation::Create, &self.target.path))?);
        }
        Ok(())
    }

    /// Forgets what was written.
    pub(crate) fn discard(&mut self) {
        self.temporary = None;
        (self.length, self.reserved, self.skipped_to) = (0, 0, 0);
        self.may_have_holes = false;
    }

    /// Returns the permissions that the temporary file begins with: those of the input, if it will
    /// be a new file, so that the system applies mask and lists of its folder as always; else
    /// nobody's but ours, until it has those of what it replaces.
    fn initial_mode(&self) -> u32 {
        match &self.input {
            _ if self.private => 0o600,
            Some(input) if !self.target.exists() => {
                input.mode().map_or(0o666, |mode| u32::from(mode) & 0o777)
            }
            None if !self.target.exists() => 0o666,
            _ => 0o600,
        }
    }

    /// Makes room for a result of `size` bytes, so that a full device shows before anything is
    /// written. What is not needed is given back at the end.
    ///
    /// # Errors
    /// There is no room.
    pub fn reserve(&mut self, size: u64) -> Result<(), Error> {
        self.start()?;
        if size > 0 {
            let reserved = system::reserve(self.file(), 0..size);
            reserved.map_err(Error::system(Operation::Write, &self.target.path))?;
            self.reserved = size;
        }
        Ok(())
    }

    /// Goes on behind a hole of `length` bytes, which reads as zeros, and occupies nothing where the
    /// file system has holes.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn hole(&mut self, length: u64) -> Result<(), Error> {
        if length > 0 && !self.may_have_holes {
            self.start()?;
            system::allow_holes(self.file());
            self.may_have_holes = true;
        }
        self.skip(length)
    }

    /// Goes on `length` bytes further, behind what somebody else put there.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn skip(&mut self, length: u64) -> Result<(), Error> {
        if length > 0 {
            self.start()?;
            self.length += length;
            let moved = self.file().seek(SeekFrom::Start(self.length));
            moved.map_err(Error::system(Operation::Write, &self.target.path))?;
            self.skipped_to = self.length;
        }
        Ok(())
    }

    /// Appends to the result.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.start()?;
        let written = self.put(bytes);
        written.map_err(Error::system(Operation::Write, &self.target.path))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.spares_cache {
            self.spares_cache = system::write_past_cache(self.file(), bytes)?;
        }
        if self.spares_cache { Ok(()) } else { self.file().write_all(bytes) }
    }

    /// What is appended leaves the system's cache as soon as the device has it, where it can.
    pub(crate) fn spare_cache(&mut self) {
        self.spares_cache = true;
    }

    /// Says which digest the whole result has: before it is put in its place, what the device has of
    /// it is compared with that.
    pub(crate) fn expect_digest(&mut self, digest: Option<Digest>) {
        self.expected = digest;
    }

    /// Does something to the input itself, which is to stay where it is and keeps its content: what
    /// is allocated of it. As durable as a result, and with its times if these are kept.
    pub(crate) fn modify_input(
        &self,
        source: &Source,
        change: impl FnOnce(&File) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let path = &self.target.path;
        let failed = || Error::system(Operation::Write, path);
        let file = File::options().read(true).write(true).open(path).map_err(failed())?;
        let there = attributes_of(&file).map_err(failed())?;
        if !same_state(source.attributes(), &there) {
            return Err(Error::Changed { path: path.clone() });
        }
        change(&file)?;
        if self.options.keep_times {
            set_times(&file, source.attributes()).map_err(failed())?;
        }
        if self.options.durability != Durability::None {
            file.sync_all().map_err(Error::system(Operation::Sync, path))?;
        }
        Ok(())
    }

    /// Puts the result in its place.
    ///
    /// On Windows no handle of what is replaced may be open: drop the [`Source`] first.
    ///
    /// # Errors
    /// Whatever the system says; the target is what it was, but for what the sync of its folder
    /// says, which comes last.
    pub fn publish(mut self) -> Result<PublishReport, Error> {
        if self.options.durability == Durability::Batch {
            self.options.durability = Durability::File;
        }
        let durable = self.options.durability == Durability::File;
        let Some(complete) = self.finish()? else {
            return Ok(self.unwritten_report());
        };
        let published = complete.put_in_place()?;
        if durable {
            sync_parent_dir(&published.path)?;
        }
        Ok(published)
    }

    /// Completes the temporary file. Nothing if nothing is to be written.
    fn finish(&mut self) -> Result<Option<CompleteResult>, Error> {
        if self.is_unwritten() {
            return Ok(None);
        }
        self.start()?;
        let path = &self.target.path;
        if self.reserved > self.length || self.skipped_to == self.length {
            let cut = self.file().set_len(self.length);
            cut.map_err(Error::system(Operation::Write, path))?;
        }
        let lost_metadata = self.copy_metadata();
        if self.options.durability == Durability::File || self.expected.is_some() {
            self.file().sync_all().map_err(Error::system(Operation::Sync, path))?;
        }
        if let Some(expected) = &self.expected {
            let matches = read_back::matches_digest(self.file(), expected);
            if !matches.map_err(Error::system(Operation::ReadBack, path))? {
                return Err(Error::rejected(Operation::ReadBack, path, Rejection::NotAsWritten));
            }
        }
        let mut temporary = self.temporary.take().expect("BUG: it was started above");
        if self.options.durability == Durability::Batch {
            temporary.close_if_named().map_err(Error::system(Operation::Write, path))?;
        }
        let replaces = self.options.existing != Existing::Keep;
        Ok(Some(CompleteResult { target: self.target.clone(), replaces, temporary, lost_metadata }))
    }

    fn copy_metadata(&self) -> Vec<LostMetadata> {
        let mut lost_metadata = match &self.target.there {
            Some(there) => system::copy_metadata(&self.target.path, there, self.file()),
            None => Vec::new(),
        };
        if let (true, Some(input)) = (self.options.keep_times, &self.input)
            && let Err(reason) = set_times(self.file(), input)
        {
            lost_metadata.push(LostMetadata { what: "times".to_owned(), reason });
        }
        lost_metadata
    }

    fn unwritten_report(&self) -> PublishReport {
        PublishReport { path: self.target.path.clone(), written: false, lost_metadata: Vec::new() }
    }

    /// Returns the temporary file.
    pub(crate) fn file(&self) -> &File {
        self.temporary.as_ref().and_then(TemporaryFile::file).expect("BUG: it was not started")
    }
}

/// Puts bytes at a target, in place of what is there: for files that programs write for themselves. They
/// are on the device before they are in their place. Other names of the same file (hard links) keep
/// what they have.
///
/// # Errors
/// Those of [`Replacement::begin`] and [`Replacement::publish`]; what was there is then untouched.
pub fn put(target: &Path, bytes: &[u8]) -> Result<PublishReport, Error> {
    put_with(target, |out| out.write_all(bytes))
}

/// Puts at a target what `write` writes, as [`put`] does, but never holds all of it in memory.
///
/// # Errors
/// Those of [`put`], and what `write` says; what was there is then untouched.
pub fn put_with(
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PublishReport, Error> {
    let options = ReplaceOptions {
        existing: Existing::Replace,
        break_links: true,
        durability: Durability::File,
        keep_times: false,
    };
    let mut out = Replacement::begin(target, None, options)?;
    let mut buffer = BufWriter::with_capacity(BUFFER, &mut out);
    let written = write(&mut buffer).and_then(|()| buffer.flush());
    // What fails to be written is not tried again.
    drop(buffer.into_parts());
    written.map_err(|error| {
        error.downcast().unwrap_or_else(Error::system(Operation::Write, target))
    })?;
    out.publish()
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(bytes)?;
        Ok(bytes.len())
    }

    /// Nothing is kept back.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A temporary file that is complete.
#[derive(Debug)]
struct CompleteResult {
    target: Target,
    replaces: bool,
    temporary: TemporaryFile,
    lost_metadata: Vec<LostMetadata>,
}

impl CompleteResult {
    fn put_in_place(self) -> Result<PublishReport, Error> {
        let Self { target, replaces, temporary, lost_metadata } = self;
        target.verify_unchanged()?;
        let moved = temporary.put_in_place(&target.path, replaces);
        moved.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists if !replaces => target.appeared_error(),
            _ => Error::system(Operation::Replace, &target.path)(error),
        })?;
        Ok(PublishReport { path: target.path, written: true, lost_metadata })
    }
}

fn sync_parent_dir(path: &Path) -> Result<(), Error> {
    system::sync_directory(parent_dir(path)).map_err(Error::system(Operation::Sync, path))
}

fn set_times(file: &File, input: &Attributes) -> io::Result<()> {
    let mut times = std::fs::FileTimes::new();
    if let Some(accessed) = input.atime().and_then(system_time) {
        times = times.set_accessed(accessed);
    }
    if let Some(modified) = input.mtime().and_then(system_time) {
        times = times.set_modified(modified);
    }
    file.set_times(times)
}

fn system_time(nanoseconds: i64) -> Option<SystemTime> {
    let distance = Duration::from_nanos(nanoseconds.unsigned_abs());
    if nanoseconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    }
}
