//! The output: written to a temporary file and renamed to its target when complete.
//!
//! ```text
//! begin ── checks the target; creates nothing
//! start ── .NAME.PID-BOOT-NAMESPACE.N.transect beside it, or an unnamed file
//! write
//! publish ── unused space freed, attributes, sync, close, rename, sync of the directory
//! ```
//!
//! Until `publish` renames, the target is unchanged, whatever happens. Dropping a replacement
//! removes the temporary file. A killed process leaves at most that file behind (`leftover.rs`).

mod batch;
mod clone;
mod leftover;
mod options;
mod read_back;
mod relink;
mod target;
mod temporary;

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub use batch::Batch;
pub use clone::replace_with_clone;
pub use leftover::{CleanupReport, KeepReason, is_temporary, keep_reason, remove_abandoned};
pub use options::{Durability, Existing, ReplaceOptions};
pub(crate) use read_back::{Digest, Digester};
pub use relink::replace_with_link;
use target::Target;
pub(crate) use target::parent_dir;
use temporary::TemporaryFile;
pub use temporary::temporary_name;
use transect_sys::Attributes;

use crate::error::{Error, Operation, Reason};
use crate::source::Source;
use crate::system;

/// Bytes that [`put_with`] collects before it appends them.
const BUFFER: usize = 64 * 1024;

/// Metadata of the replaced file that could not be preserved.
#[derive(Debug)]
pub struct LostMetadata {
    /// What was lost: `owner`, `permissions`, or the name of an extended attribute.
    pub what: String,
    /// Why it could not be preserved.
    pub reason: io::Error,
}

/// The result of publishing a file.
#[derive(Debug)]
#[non_exhaustive]
pub struct PublishReport {
    /// The path of the result; if the target was a link, the file at its end.
    pub path: PathBuf,
    /// Whether anything was written. In place, a result equal to the input is not written.
    pub written: bool,
    /// Metadata that could not be preserved.
    pub lost_metadata: Vec<LostMetadata>,
}

/// A result to be published at its target.
///
/// A new file gets the permissions of the input, less the process's umask. A file that replaces
/// another gets its owner, permissions and extended attributes. On Windows, a file gets the
/// permissions of its directory.
#[derive(Debug)]
pub struct Replacement {
    target: Target,
    options: ReplaceOptions,
    input: Option<Attributes>,
    /// If the target is new, only its owner may read it.
    temporary: Option<TemporaryFile>,
    /// Bytes of the result so far, holes included.
    length: u64,
    /// Bytes reserved; the file already has that length.
    reserved: u64,
    /// Where the last hole ends. If nothing follows, the file ends before it and must be extended.
    skipped_to: u64,
    may_have_holes: bool,
    /// The digest of the whole result, if it is to be read back from the device.
    expected: Option<Digest>,
    /// Appended data should not stay in the page cache. Reset once the system reports that it
    /// cannot do that.
    spares_cache: bool,
}

impl Replacement {
    /// Checks the target, and creates nothing. In place, the target is checked when the first
    /// change is written.
    ///
    /// # Errors
    /// The target exists and must not be replaced, or its directory does not exist.
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
            temporary: None,
            length: 0,
            reserved: 0,
            skipped_to: 0,
            may_have_holes: false,
            expected: None,
            spares_cache: false,
        })
    }

    /// Returns the path of the result; if the target is a link, the file at its end.
    pub fn path(&self) -> &Path {
        &self.target.path
    }

    /// Returns a function that turns a system error about writing the result into an [`Error`].
    pub(crate) fn write_error(&self) -> impl FnOnce(io::Error) -> Error {
        Error::system(Operation::Write, &self.target.path)
    }

    /// Returns the attributes of the input when it was opened, if there is one.
    pub(crate) fn input_attributes(&self) -> Option<&Attributes> {
        self.input.as_ref()
    }

    /// Returns whether there is nothing to write: in place, and nothing has changed.
    pub(crate) fn is_unwritten(&self) -> bool {
        self.is_in_place() && self.temporary.is_none()
    }

    /// Returns whether the target is the input, to be replaced only if something changed.
    pub fn is_in_place(&self) -> bool {
        self.options.existing == Existing::InPlace
    }

    /// Returns the current length of the result.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Creates the temporary file, unless it exists.
    ///
    /// # Errors
    /// The target must not be replaced, or the system reports an error.
    pub fn start(&mut self) -> Result<(), Error> {
        if self.temporary.is_none() {
            self.target.check(&self.options)?;
            let mode = self.initial_mode();
            // A batch renames later, and cannot keep thousands of files open.
            let unnamed = !self.target.exists() && self.options.durability != Durability::Batch;
            let made = TemporaryFile::create(&self.target.path, mode, unnamed);
            self.temporary =
                Some(made.map_err(Error::system(Operation::Create, &self.target.path))?);
        }
        Ok(())
    }

    /// Discards the written data.
    pub(crate) fn discard(&mut self) {
        self.temporary = None;
        (self.length, self.reserved, self.skipped_to) = (0, 0, 0);
        self.may_have_holes = false;
    }

    /// Returns the initial permissions of the temporary file. A new target gets those of the input,
    /// so that the system applies umask and default ACLs as always. If the target exists, only the
    /// owner has access until the permissions are copied.
    fn initial_mode(&self) -> u32 {
        match &self.input {
            _ if self.options.private => 0o600,
            Some(input) if !self.target.exists() => {
                input.mode().map_or(0o666, |mode| u32::from(mode) & 0o777)
            }
            None if !self.target.exists() => 0o666,
            _ => 0o600,
        }
    }

    /// Reserves space for a result of `size` bytes, so that a full device is reported before
    /// anything is written. Unused space is freed at the end.
    ///
    /// # Errors
    /// There is not enough space.
    pub fn reserve(&mut self, size: u64) -> Result<(), Error> {
        self.start()?;
        if size > 0 {
            system::reserve(self.file(), 0..size).map_err(self.write_error())?;
            self.reserved = size;
        }
        Ok(())
    }

    /// Appends a hole of `length` bytes: zeros that occupy no space where the file system supports
    /// holes.
    pub fn hole(&mut self, length: u64) -> Result<(), Error> {
        if length > 0 && !self.may_have_holes {
            self.start()?;
            system::allow_holes(self.file());
            self.may_have_holes = true;
        }
        self.skip(length)
    }

    /// Skips `length` bytes that were written without [`Replacement::append`].
    pub fn skip(&mut self, length: u64) -> Result<(), Error> {
        if length > 0 {
            self.start()?;
            self.length += length;
            let moved = self.file().seek(SeekFrom::Start(self.length));
            moved.map_err(self.write_error())?;
            self.skipped_to = self.length;
        }
        Ok(())
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.start()?;
        self.put(bytes).map_err(self.write_error())?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.spares_cache {
            self.spares_cache = system::write_past_cache(self.file(), bytes)?;
        }
        if self.spares_cache { Ok(()) } else { self.file().write_all(bytes) }
    }

    /// Removes appended data from the page cache as soon as it is on the device, where the system
    /// supports that.
    pub(crate) fn spare_cache(&mut self) {
        self.spares_cache = true;
    }

    /// Sets the digest of the whole result. Before publishing, the bytes on the device are compared
    /// with it.
    pub(crate) fn expect_digest(&mut self, digest: Option<Digest>) {
        self.expected = digest;
    }

    /// Puts the result in place of its target.
    ///
    /// On Windows, the target must not be open: drop the [`Source`] first.
    ///
    /// # Errors
    /// The system reports an error. The target is then unchanged, unless the sync of its directory
    /// failed, which comes last.
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

    /// Completes the temporary file. Returns `None` if there is nothing to write.
    fn finish(&mut self) -> Result<Option<CompleteResult>, Error> {
        if self.is_unwritten() {
            return Ok(None);
        }
        self.start()?;
        let path = &self.target.path;
        if self.reserved > self.length || self.skipped_to == self.length {
            self.file().set_len(self.length).map_err(self.write_error())?;
        }
        let lost_metadata = self.copy_metadata();
        if self.options.durability == Durability::File || self.expected.is_some() {
            self.file().sync_all().map_err(Error::system(Operation::Sync, path))?;
        }
        if let Some(expected) = &self.expected {
            let matches = read_back::matches_digest(self.file(), expected);
            if !matches.map_err(Error::system(Operation::ReadBack, path))? {
                return Err(Error::new(Operation::ReadBack, path, Reason::NotAsWritten));
            }
        }
        let mut temporary = self.temporary.take().expect("BUG: it was started above");
        if self.options.durability == Durability::Batch {
            temporary.close_if_named().map_err(self.write_error())?;
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

    pub(crate) fn file(&self) -> &File {
        self.temporary.as_ref().and_then(TemporaryFile::file).expect("BUG: it was not started")
    }
}

/// Writes the output of `write` to a target, replacing it if it exists, and syncs it before the
/// rename. For programs' own files. Other names of the same file (hard links) keep the old content.
///
/// # Errors
/// The errors of [`Replacement::begin`], [`Replacement::publish`] and `write`. The target is then
/// unchanged.
pub fn put_with(
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PublishReport, Error> {
    put_as(target, false, write)
}

/// Does what [`put_with`] does; only the owner of a new file can read it, whatever the umask.
///
/// # Errors
/// The errors of [`put_with`].
pub fn put_private_with(
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PublishReport, Error> {
    put_as(target, true, write)
}

fn put_as(
    target: &Path,
    private: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PublishReport, Error> {
    let options = ReplaceOptions {
        existing: Existing::Replace,
        break_links: true,
        durability: Durability::File,
        private,
        ..ReplaceOptions::default()
    };
    let mut out = Replacement::begin(target, None, options)?;
    let mut buffer = BufWriter::with_capacity(BUFFER, &mut out);
    let written = write(&mut buffer).and_then(|()| buffer.flush());
    // Do not retry a failed write on drop.
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

    /// Does nothing: nothing is buffered here.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A complete temporary file.
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
    if let Some(accessed) = input.accessed() {
        times = times.set_accessed(accessed);
    }
    if let Some(modified) = input.modified() {
        times = times.set_modified(modified);
    }
    file.set_times(times)
}
