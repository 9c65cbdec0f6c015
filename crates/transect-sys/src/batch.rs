//! The entries of one directory, or of a part of a large one, delivered together.

use std::ffi::OsStr;
use std::io;
use std::ops::Range;

use crate::attributes::{Attributes, FileType};
use crate::fault::Fault;
use crate::name;

/// What becomes of an entry, decided by name and type before anything is asked about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Deliver it and, if it is a directory, read what is below.
    #[default]
    Keep,
    /// Deliver it, but do not read what is below.
    Prune,
    /// Do not deliver it, but if it is a directory read what is below.
    DescendOnly,
    /// Leave it out altogether.
    Drop,
}

/// One entry in a [`Batch`]. Its name lies in the batch: see [`Batch::name`].
#[derive(Clone, Debug)]
pub struct Entry {
    pub(crate) name: Range<u32>,
    /// What became of it.
    pub verdict: Verdict,
    /// It is a symbolic link, and the attributes are those of what it leads to.
    pub followed: bool,
    /// What is known of it.
    pub attributes: Attributes,
}

impl Entry {
    /// Returns an entry whose name lies at `name` in its batch. The name holds no NUL and is
    /// followed by one: [`Batch::c_name`] relies on it.
    #[inline]
    pub(crate) fn new(name: Range<u32>, attributes: Attributes) -> Self {
        Self { name, verdict: Verdict::Keep, followed: false, attributes }
    }
}

/// An entry together with its name.
#[derive(Clone, Copy, Debug)]
pub struct EntryRef<'a> {
    /// The name, without any directory.
    pub name: &'a OsStr,
    /// What became of it so far.
    pub verdict: Verdict,
    /// It is a symbolic link, and the attributes are those of what it leads to.
    pub followed: bool,
    /// What is known of it.
    pub attributes: &'a Attributes,
}

impl EntryRef<'_> {
    /// Returns the file type.
    #[inline]
    pub fn file_type(&self) -> FileType {
        self.attributes.file_type()
    }
}

/// Entries of one directory, with their names in one buffer.
///
/// A batch is made once per thread and used again for every directory, so that listing allocates
/// nothing. Entries borrow from it and cannot outlive the next listing:
///
/// ```compile_fail
/// # use transect_sys::Batch;
/// let mut batch = Batch::new();
/// let first = batch.iter().next();
/// batch.clear();
/// drop(first);
/// ```
#[derive(Debug)]
pub struct Batch {
    /// Names, each followed by a NUL, with whatever the kernel put between them.
    pub(crate) bytes: Vec<u8>,
    pub(crate) entries: Vec<Entry>,
    /// Entries whose attributes could not be had, in the order in which they were asked: index and
    /// reason.
    pub(crate) faults: Vec<(u32, Fault)>,
    /// After the NUL of every name comes its 8.3 name, with a NUL of its own.
    pub(crate) short_names: bool,
}

/// Bytes of names that a batch holds for readers that take them one by one.
const CAPACITY: usize = 64 * 1024;

impl Default for Batch {
    fn default() -> Self {
        Self::new()
    }
}

impl Batch {
    /// Returns an empty batch.
    pub fn new() -> Self {
        Self { bytes: Vec::new(), entries: Vec::new(), faults: Vec::new(), short_names: false }
    }

    /// Forgets all entries and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.faults.clear();
        self.short_names = false;
    }

    /// Appends an entry, copying its name, and returns it. For readers that do not share the
    /// kernel's buffer.
    pub fn push(&mut self, name: &OsStr, attributes: Attributes) -> &mut Entry {
        if self.entries.is_empty() {
            self.bytes.clear();
        }
        assert!(memchr::memchr(0, name.as_encoded_bytes()).is_none(), "BUG: a name holds a NUL");
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(name.as_encoded_bytes());
        let end = self.bytes.len() as u32;
        self.bytes.push(0);
        self.entries.push(Entry::new(start..end, attributes));
        let last = self.entries.len() - 1;
        &mut self.entries[last]
    }

    /// Returns whether another entry of up to 256 bytes still fits the intended size.
    pub(crate) fn has_room(&self) -> bool {
        self.entries.is_empty() || self.bytes.len() + 256 < CAPACITY
    }

    /// Returns how many entries there are, delivered or not.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the name of an entry of this batch.
    #[inline]
    pub fn name(&self, entry: &Entry) -> &OsStr {
        name::from_bytes(&self.bytes[entry.name.start as usize..entry.name.end as usize])
    }

    /// Returns the 8.3 name of an entry of this batch, if [`FieldMask::SHORT_NAME`] was wanted and
    /// the entry has one besides its name.
    ///
    /// [`FieldMask::SHORT_NAME`]: crate::FieldMask::SHORT_NAME
    pub fn short_name(&self, entry: &Entry) -> Option<&OsStr> {
        if !self.short_names {
            return None;
        }
        let rest = &self.bytes[entry.name.end as usize + 1..];
        let name = &rest[..memchr::memchr(0, rest)?];
        (!name.is_empty()).then(|| name::from_bytes(name))
    }

    /// Returns the name at a range of `bytes` as system calls take it.
    #[cfg(target_os = "linux")]
    #[inline]
    pub(crate) fn c_name<'b>(bytes: &'b [u8], name: &Range<u32>) -> &'b std::ffi::CStr {
        let name = &bytes[name.start as usize..=name.end as usize];
        debug_assert!(std::ffi::CStr::from_bytes_with_nul(name).is_ok());
        // SAFETY: the range is that of an entry of this batch (the one caller passes both from
        // the same batch). Entries are made by `push`, which refuses a NUL within a name and puts
        // one behind it, and by the listing, whose parser ends a name at the first NUL.
        unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(name) }
    }

    /// Iterates over the entries that are to be delivered.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = EntryRef<'_>> {
        self.entries
            .iter()
            .filter(|entry| matches!(entry.verdict, Verdict::Keep | Verdict::Prune))
            .map(|entry| EntryRef {
                name: self.name(entry),
                verdict: entry.verdict,
                followed: entry.followed,
                attributes: &entry.attributes,
            })
    }

    /// Iterates over all entries, delivered or not, with their verdicts.
    #[inline]
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Asks for a verdict on every entry and removes those that are dropped.
    pub fn judge(&mut self, mut judge: impl FnMut(EntryRef<'_>) -> Verdict) {
        let Self { bytes, entries, .. } = self;
        entries.retain_mut(|entry| {
            let range = entry.name.start as usize..entry.name.end as usize;
            entry.verdict = judge(EntryRef {
                name: name::from_bytes(&bytes[range]),
                verdict: entry.verdict,
                followed: entry.followed,
                attributes: &entry.attributes,
            });
            entry.verdict != Verdict::Drop
        });
    }

    /// Records that the attributes of entry `index` could not be had.
    pub(crate) fn set_fault(&mut self, index: usize, fault: Fault) {
        if matches!(fault, Fault::Vanished) {
            self.entries[index].verdict = Verdict::Drop;
        }
        self.faults.push((index as u32, fault));
    }

    /// Hands out the faults of the last [`Reader::fill`](crate::Reader::fill), and removes what
    /// vanished. An entry that failed stays, with what is known of it. Faults come in the order of
    /// the listing, whatever the stat order was.
    pub fn drain_faults(&mut self, mut report: impl FnMut(&OsStr, FileType, Fault)) {
        if self.faults.is_empty() {
            return;
        }
        let mut faults = std::mem::take(&mut self.faults);
        faults.sort_unstable_by_key(|&(index, _)| index);
        for (index, fault) in faults {
            let entry = &self.entries[index as usize];
            report(self.name(entry), entry.attributes.file_type(), fault);
        }
        self.entries.retain(|entry| entry.verdict != Verdict::Drop);
    }

    /// Returns the error for a record that does not follow the format.
    pub(crate) fn malformed(what: &'static str) -> Fault {
        Fault::Failed(io::Error::new(io::ErrorKind::InvalidData, what))
    }
}
