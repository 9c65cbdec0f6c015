//! The entries of one directory, or of a part of a large one.

use std::ffi::OsStr;
use std::ops::Range;

use crate::attributes::{Attributes, FileType};
use crate::fault::Fault;
use crate::name;

/// The decision about an entry, made from its name and type before its attributes are queried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Deliver it; if it is a directory, also read it.
    #[default]
    Keep,
    /// Deliver it, but do not read it.
    Prune,
    /// Do not deliver it; if it is a directory, read it.
    DescendOnly,
    /// Ignore it.
    Drop,
}

impl Verdict {
    /// Returns the verdict that delivers and reads only what both do.
    pub fn and(self, other: Self) -> Self {
        let delivers = |verdict| matches!(verdict, Self::Keep | Self::Prune);
        let reads = |verdict| matches!(verdict, Self::Keep | Self::DescendOnly);
        match (delivers(self) && delivers(other), reads(self) && reads(other)) {
            (true, true) => Self::Keep,
            (true, false) => Self::Prune,
            (false, true) => Self::DescendOnly,
            (false, false) => Self::Drop,
        }
    }
}

/// `true` keeps an entry, `false` drops it with everything in it.
impl From<bool> for Verdict {
    fn from(keep: bool) -> Self {
        if keep { Self::Keep } else { Self::Drop }
    }
}

/// One entry of a [`Batch`], which stores its name. It never leaves its batch: elsewhere, the range of its name may be no name.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: Range<u32>,
    pub(crate) verdict: Verdict,
    pub(crate) followed: bool,
    pub(crate) attributes: Attributes,
}

impl Entry {
    /// Returns an entry whose name is at `name` in its batch. The name must contain no NUL and be
    /// followed by one: [`Batch::c_name`] relies on it.
    #[inline]
    pub(crate) fn new(name: Range<u32>, attributes: Attributes) -> Self {
        Self { name, verdict: Verdict::Keep, followed: false, attributes }
    }

    #[inline]
    fn is_delivered(&self) -> bool {
        matches!(self.verdict, Verdict::Keep | Verdict::Prune)
    }

    /// Drops an entry that was kept only because it might have been a directory.
    #[inline]
    pub(crate) fn drop_unless_directory(&mut self) {
        if self.verdict == Verdict::DescendOnly
            && self.attributes.file_type() != FileType::Directory
        {
            self.verdict = Verdict::Drop;
        }
    }
}

/// Returns where a name of `length` bytes lies that begins at byte `start` of a batch.
///
/// # Panics
/// The batch has 4 GiB of names.
#[inline]
pub(crate) fn name_range(start: usize, length: usize) -> Range<u32> {
    let end = u32::try_from(start + length).expect("BUG: a batch has less than 4 GiB of names");
    end - length as u32..end
}

/// An entry with its name.
#[derive(Clone, Copy, Debug)]
pub struct EntryRef<'a> {
    /// The file name, without a directory.
    pub name: &'a OsStr,
    /// The decision so far.
    pub verdict: Verdict,
    /// The entry is a symbolic link, and `attributes` are those of its target.
    pub followed: bool,
    /// The attributes known so far.
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
/// Each thread reuses one batch for all directories, so listing does not allocate. Entries borrow
/// from the batch and cannot outlive the next listing:
///
/// ```compile_fail
/// # use transect_sys::Batch;
/// let mut batch = Batch::new();
/// let first = batch.iter().next();
/// batch.clear();
/// drop(first);
/// ```
///
/// Nor can they be exchanged with those of another batch:
///
/// ```compile_fail
/// # use transect_sys::{Attributes, Batch};
/// let (mut one, mut other) = (Batch::new(), Batch::new());
/// let long = one.push("long name".as_ref(), Attributes::default());
/// let short = other.push("a".as_ref(), Attributes::default());
/// std::mem::swap(long, short);
/// ```
#[derive(Debug, Default)]
pub struct Batch {
    /// Names, each followed by a NUL. There may be other bytes of the kernel's records between
    /// them.
    pub(crate) bytes: Vec<u8>,
    pub(crate) entries: Vec<Entry>,
    /// Entries whose query failed, in the order of the queries: index and reason.
    pub(crate) faults: Vec<(u32, Fault)>,
    /// The NUL of every name is followed by the entry's 8.3 name and another NUL.
    pub(crate) short_names: bool,
    /// Only the caller of [`Batch::push_checked`] looked for NULs in the names.
    callers_names: bool,
}

/// Bytes of names in one batch, for readers that add entries one by one.
const CAPACITY: usize = 64 * 1024;

impl Batch {
    /// Returns an empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all entries and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.faults.clear();
        self.short_names = false;
        self.callers_names = false;
    }

    /// Appends an entry. Copies the name; for readers that do not share the kernel's buffer.
    pub fn push(&mut self, name: &OsStr, attributes: Attributes) {
        assert!(memchr::memchr(0, name.as_encoded_bytes()).is_none(), "BUG: a name holds a NUL");
        self.push_name(name, attributes);
    }

    /// Appends an entry whose name the caller checked before: it holds no NUL. If it does, a reader that passes it to the
    /// system panics.
    #[inline]
    pub fn push_checked(&mut self, name: &OsStr, attributes: Attributes) {
        self.callers_names = true;
        self.push_name(name, attributes);
    }

    #[inline]
    fn push_name(&mut self, name: &OsStr, attributes: Attributes) {
        if self.entries.is_empty() {
            self.bytes.clear();
        }
        let range = name_range(self.bytes.len(), name.len());
        self.bytes.extend_from_slice(name.as_encoded_bytes());
        self.bytes.push(0);
        self.entries.push(Entry::new(range, attributes));
    }

    /// Marks the last entry as a link whose attributes are those of its target.
    pub fn mark_last_followed(&mut self) {
        if let Some(last) = self.entries.last_mut() {
            last.followed = true;
        }
    }

    /// Returns whether another entry of up to 256 bytes fits into 64 KiB.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.entries.is_empty() || self.bytes.len() + 256 < CAPACITY
    }

    /// Returns the number of entries, including those that are not delivered.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the name of an entry of this batch.
    #[inline]
    pub(crate) fn name(&self, entry: &Entry) -> &OsStr {
        name::from_bytes(&self.bytes[entry.name.start as usize..entry.name.end as usize])
    }

    /// Returns an entry of this batch with its name.
    ///
    /// Always inline: as a separate function it took 17 instructions more an entry of a list (callgrind).
    #[inline(always)]
    fn with_name<'b>(&'b self, entry: &'b Entry) -> EntryRef<'b> {
        EntryRef {
            name: self.name(entry),
            verdict: entry.verdict,
            followed: entry.followed,
            attributes: &entry.attributes,
        }
    }

    /// Iterates over the 8.3 names of all entries in the order of [`Batch::entries`]: if
    /// [`FieldMask::SHORT_NAME`](crate::FieldMask::SHORT_NAME) was wanted, those that differ from the name.
    pub fn short_names(&self) -> impl Iterator<Item = Option<&OsStr>> {
        self.entries.iter().map(|entry| {
            if !self.short_names {
                return None;
            }
            let rest = &self.bytes[entry.name.end as usize + 1..];
            let name = &rest[..memchr::memchr(0, rest)?];
            (!name.is_empty()).then(|| name::from_bytes(name))
        })
    }

    /// Checks names that are passed to [`Batch::c_name`].
    ///
    /// # Panics
    /// The caller of [`Batch::push_checked`] passed a name that holds a NUL.
    #[cfg(target_os = "linux")]
    pub(crate) fn check_names(&self) {
        let is_name = |entry| memchr::memchr(0, self.name(entry).as_encoded_bytes()).is_none();
        assert!(!self.callers_names || self.entries.iter().all(is_name), "BUG: a name holds a NUL");
    }

    /// Returns the name at a range of `bytes` as system calls take it.
    #[cfg(target_os = "linux")]
    #[inline]
    pub(crate) fn c_name<'b>(bytes: &'b [u8], name: &Range<u32>) -> &'b std::ffi::CStr {
        let name = &bytes[name.start as usize..=name.end as usize];
        debug_assert!(std::ffi::CStr::from_bytes_with_nul(name).is_ok());
        // SAFETY: the range is that of an entry of this batch (the one caller passes both from the
        // same batch, and no `Entry` leaves its batch). Entries come from `push`, which refuses a NUL within a name and appends one, from
        // `push_checked`, whose names the caller has looked at again (`check_names`),
        // or from the listing, whose parser ends a name at its first NUL.
        unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(name) }
    }

    /// Iterates over the entries that are delivered.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = EntryRef<'_>> {
        self.entries.iter().filter(|entry| entry.is_delivered()).map(|entry| self.with_name(entry))
    }

    /// Iterates over all entries, including those that are not delivered.
    #[inline]
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = EntryRef<'_>> {
        self.entries.iter().map(|entry| self.with_name(entry))
    }

    /// Iterates over the indices of the entries that are delivered, in the order of [`Batch::entries`].
    #[doc(hidden)]
    #[inline]
    pub fn delivered(&self) -> impl Iterator<Item = usize> {
        let entries = self.entries.iter().enumerate();
        entries.filter(|(_, entry)| entry.is_delivered()).map(|(index, _)| index)
    }

    /// Returns the name of the entry at an index in the order of [`Batch::entries`].
    ///
    /// # Panics
    /// If there is none.
    #[doc(hidden)]
    #[inline]
    pub fn name_at(&self, index: usize) -> &OsStr {
        self.name(&self.entries[index])
    }

    /// Returns the attributes of the entry at an index in the order of [`Batch::entries`].
    ///
    /// # Panics
    /// If there is none.
    #[doc(hidden)]
    #[inline]
    pub fn attributes_at(&self, index: usize) -> &Attributes {
        &self.entries[index].attributes
    }

    /// Iterates over the directories among all entries.
    #[inline]
    pub fn directories(&self) -> impl Iterator<Item = EntryRef<'_>> {
        let is_directory = |entry: &&Entry| entry.attributes.file_type() == FileType::Directory;
        self.entries.iter().filter(is_directory).map(|entry| self.with_name(entry))
    }

    /// Iterates over the attributes of all entries.
    #[inline]
    pub fn attributes(&self) -> impl Iterator<Item = &Attributes> {
        self.entries.iter().map(|entry| &entry.attributes)
    }

    /// Iterates over the attributes of all entries, for readers that store them after the names.
    #[inline]
    pub fn attributes_mut(&mut self) -> impl Iterator<Item = &mut Attributes> {
        self.entries.iter_mut().map(|entry| &mut entry.attributes)
    }

    /// Queries the entries whose type the listing does not contain. `query` gets the name and the attributes known so far.
    pub fn query_unknown(
        &mut self,
        mut query: impl FnMut(&OsStr, &Attributes) -> Result<Attributes, Fault>,
    ) {
        for index in 0..self.entries.len() {
            let entry = &self.entries[index];
            if entry.attributes.file_type() != FileType::Unknown {
                continue;
            }
            match query(self.name(entry), &entry.attributes) {
                Ok(attributes) => self.entries[index].attributes = attributes,
                Err(fault) => self.set_fault(index, fault),
            }
            self.entries[index].drop_unless_directory();
        }
    }

    /// Calls `judge` for the verdict on every entry and removes dropped entries.
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

    /// Records that the query for entry `index` failed.
    pub(crate) fn set_fault(&mut self, index: usize, fault: Fault) {
        if matches!(fault, Fault::Vanished) {
            self.entries[index].verdict = Verdict::Drop;
        }
        self.faults.push((index as u32, fault));
    }

    /// Reports and removes the faults of the last [`Reader::fill`](crate::Reader::fill), and
    /// removes vanished entries. An entry whose query failed stays, with the fields known so far.
    /// Faults are reported in the order of the listing, independent of the stat order.
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

    /// Returns the error for a malformed record.
    #[cfg(any(target_os = "linux", windows))]
    pub(crate) fn malformed(what: &'static str) -> Fault {
        Fault::Failed(std::io::Error::new(std::io::ErrorKind::InvalidData, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_range_up_to_4_gib() {
        assert_eq!(name_range(3, 4), 3..7);
        assert_eq!(name_range(u32::MAX as usize - 4, 4), u32::MAX - 4..u32::MAX);
    }

    #[test]
    #[should_panic(expected = "less than 4 GiB of names")]
    fn name_range_beyond_4_gib_refused() {
        name_range(u32::MAX as usize - 3, 4);
    }
}
