//! What is known of the names in one directory.

use std::hash::BuildHasher;

use hashbrown::{HashMap, HashTable};
use transect_sys::{Attributes, FileType};

use super::record::{Layout, file_type};
use super::refusal::Refusal;

/// What is known of one name.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// A listing told of it, and of its type.
    Listed(FileType),
    /// Its attributes are the record of this number.
    Recorded(u32),
    /// Why it has none.
    Refused(Refusal),
    /// Something happened to it: whatever was known is not known any more.
    Changed,
}

/// A name: where it lies, and what is known of it.
#[derive(Debug)]
struct Entry {
    start: u32,
    length: u16,
    known: Known,
}

impl Entry {
    /// Returns the name, which lies in `names`.
    #[inline]
    fn name<'a>(&self, names: &'a [u8]) -> &'a [u8] {
        &names[self.start as usize..self.start as usize + usize::from(self.length)]
    }
}

/// What a link leads to, as far as that was asked.
#[derive(Clone, Copy, Debug)]
enum Leads {
    To(u32),
    Nowhere(Refusal),
}

/// What a table says of a name.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// Its attributes.
    Attributes(Attributes),
    /// That it is there, and what it is.
    There(FileType),
    /// Why there is nothing to be said of it.
    Refused(Refusal),
    /// It has to be asked: it is a link, and nobody knows where it leads, or it has changed.
    Unknown,
    /// It has not that name.
    Nothing,
}

/// The names of one directory, in one buffer, with what is known of them. A name costs what it is
/// long, 20 bytes, 6 to 11 for the index, and what its attributes take.
#[derive(Debug, Default)]
pub(super) struct Table {
    names: Vec<u8>,
    entries: Vec<Entry>,
    index: HashTable<u32>,
    records: Vec<u64>,
    /// Where links lead, by the entry's number: few have any.
    leads: HashMap<u32, Leads, Hasher>,
}

impl Table {
    fn entry(&self, hash: u64, name: &[u8]) -> Option<u32> {
        self.index.find(hash, |&number| self.name(number) == name).copied()
    }

    fn name(&self, number: u32) -> &[u8] {
        self.entries[number as usize].name(&self.names)
    }

    fn record(&self, layout: Layout, record: u32) -> &[u64] {
        let start = record as usize * layout.words();
        &self.records[start..start + layout.words()]
    }

    /// Returns what is known of a name, or of what it leads to.
    #[inline]
    pub(super) fn find(&self, name: Name<'_>, layout: Layout, follow: bool) -> Found {
        let Some(number) = self.entry(name.hash, name.bytes) else { return Found::Nothing };
        match self.entries[number as usize].known {
            Known::Refused(refusal) => Found::Refused(refusal),
            Known::Changed => Found::Unknown,
            Known::Listed(FileType::Symlink | FileType::Unknown) if follow => Found::Unknown,
            Known::Listed(file_type) => Found::There(file_type),
            Known::Recorded(record) => {
                let record = self.record(layout, record);
                if follow && file_type(record) == FileType::Symlink {
                    return self.find_target(number, layout);
                }
                Found::Attributes(layout.unpack(record))
            }
        }
    }

    fn find_target(&self, number: u32, layout: Layout) -> Found {
        match self.leads.get(&number) {
            None => Found::Unknown,
            Some(Leads::Nowhere(refusal)) => Found::Refused(*refusal),
            Some(Leads::To(record)) => {
                Found::Attributes(layout.unpack(self.record(layout, *record)))
            }
        }
    }

    /// Returns whether a name is known to be there, and as what; without its attributes.
    #[inline]
    pub(super) fn find_type(&self, name: Name<'_>, layout: Layout) -> Option<FileType> {
        match self.entries[self.entry(name.hash, name.bytes)? as usize].known {
            Known::Listed(file_type) => Some(file_type),
            Known::Recorded(record) => Some(file_type(self.record(layout, record))),
            Known::Changed => Some(FileType::Unknown),
            Known::Refused(_) => None,
        }
    }

    /// Keeps that a listing told of a name.
    pub(super) fn keep_listed(&mut self, name: Name<'_>, file_type: FileType) {
        if self.entry(name.hash, name.bytes).is_none() {
            self.add(name, Known::Listed(file_type));
        }
    }

    /// Keeps attributes that came along with a listing, unless something is known already.
    pub(super) fn keep_new(&mut self, name: Name<'_>, layout: Layout, attributes: &Attributes) {
        if self.entry(name.hash, name.bytes).is_none() {
            self.keep(name, layout, &Ok(*attributes));
        }
    }

    /// Keeps an answer about a name itself.
    pub(super) fn keep(
        &mut self,
        name: Name<'_>,
        layout: Layout,
        answer: &Result<Attributes, Refusal>,
    ) {
        // No system takes such a name; it is asked again.
        if name.bytes.len() > usize::from(u16::MAX) {
            return;
        }
        let known = match answer {
            Ok(attributes) => Known::Recorded(self.push_record(layout, attributes)),
            Err(refusal) => Known::Refused(*refusal),
        };
        match self.entry(name.hash, name.bytes) {
            None => self.add(name, known),
            Some(number) => {
                self.leads.remove(&number);
                self.entries[number as usize].known = known;
            }
        }
    }

    /// Keeps an answer about what a name leads to, of which it is known that it is a link.
    pub(super) fn keep_target(
        &mut self,
        name: Name<'_>,
        layout: Layout,
        answer: &Result<Attributes, Refusal>,
    ) {
        let Some(number) = self.entry(name.hash, name.bytes) else { return };
        let leads = match answer {
            Ok(attributes) => Leads::To(self.push_record(layout, attributes)),
            Err(refusal) => Leads::Nowhere(*refusal),
        };
        self.leads.insert(number, leads);
    }

    /// Forgets what is known of one name, also that it is not there.
    pub(super) fn forget(&mut self, name: Name<'_>) {
        match self.entry(name.hash, name.bytes) {
            None => self.add(name, Known::Changed),
            Some(number) => {
                self.leads.remove(&number);
                self.entries[number as usize].known = Known::Changed;
            }
        }
    }

    /// Forgets what no notice is given of: where links lead, and the attributes of directories.
    pub(super) fn forget_unwatched(&mut self, layout: Layout) {
        self.leads.clear();
        let Self { entries, records, .. } = self;
        for entry in entries {
            if let Known::Recorded(record) = entry.known
                && file_type(&records[record as usize * layout.words()..]) == FileType::Directory
            {
                entry.known = Known::Listed(FileType::Directory);
            }
        }
    }

    /// Returns whether attributes that were replaced take as much room as those that are known:
    /// then the table is better begun anew.
    pub(super) fn is_worn(&self, layout: Layout) -> bool {
        self.records.len() / layout.words() > 2 * self.entries.len() + 64
    }

    fn push_record(&mut self, layout: Layout, attributes: &Attributes) -> u32 {
        let number = self.records.len() / layout.words();
        layout.pack(attributes, &mut self.records);
        u32::try_from(number).expect("BUG: four thousand million names in a directory")
    }

    fn add(&mut self, name: Name<'_>, known: Known) {
        let number = self.entries.len() as u32;
        let entry =
            Entry { start: self.names.len() as u32, length: name.bytes.len() as u16, known };
        self.names.extend_from_slice(name.bytes);
        self.entries.push(entry);
        let Self { names, entries, index, .. } = self;
        index.insert_unique(name.hash, number, |&number| {
            name.hasher.hash_one(entries[number as usize].name(names))
        });
    }

    /// Makes room for so many more names of so many bytes: a directory that was listed seldom grows.
    pub(super) fn reserve(&mut self, names: usize, bytes: usize, hasher: &Hasher) {
        self.names.reserve_exact(bytes);
        self.entries.reserve_exact(names);
        let Self { names: spelt, entries, index, .. } = self;
        index.reserve(names, |&number| hasher.hash_one(entries[number as usize].name(spelt)));
    }

    /// Gives back memory that was taken in advance.
    pub(super) fn shrink(&mut self) {
        self.names.shrink_to_fit();
        self.entries.shrink_to_fit();
        self.records.shrink_to_fit();
    }

    /// Returns how many names something is known of.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the bytes that the table takes.
    pub(super) fn memory(&self) -> usize {
        self.names.capacity()
            + self.entries.capacity() * size_of::<Entry>()
            + self.index.allocation_size()
            + self.records.capacity() * size_of::<u64>()
            + self.leads.allocation_size()
    }
}

/// A name with its hash.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) hash: u64,
    /// How the hash was made: a table that grows makes those of its names again.
    pub(super) hasher: &'a Hasher,
}

impl<'a> Name<'a> {
    #[inline]
    pub(super) fn new(bytes: &'a [u8], hasher: &'a Hasher) -> Self {
        Self { bytes, hash: hasher.hash_one(bytes), hasher }
    }
}

/// What hashes names, and the paths of directories. Every cache has a secret of its own: names may
/// be anybody's.
pub(super) type Hasher = foldhash::fast::RandomState;

#[cfg(test)]
mod tests {
    use transect_sys::FieldMask;

    use super::*;

    const LAYOUT: FieldMask = FieldMask::SIZE;

    fn sized(size: u64) -> Attributes {
        let mut attributes = Attributes::of_type(FileType::File);
        attributes.set_size(size);
        attributes
    }

    #[test]
    fn an_entry_takes_what_the_documents_say() {
        assert_eq!(size_of::<Entry>(), 20);
    }

    #[test]
    fn names_are_found_whatever_the_table_has_been_through() {
        let (hasher, layout) = (Hasher::default(), Layout::new(LAYOUT));
        let mut table = Table::default();
        let names: Vec<String> = (0..1000).map(|number| format!("name {number}")).collect();
        for (size, name) in (0..).zip(&names) {
            let name = Name::new(name.as_bytes(), &hasher);
            table.keep_listed(name, FileType::File);
            table.keep(name, layout, &Ok(sized(size)));
            // A listing does not replace what is known better.
            table.keep_listed(name, FileType::Directory);
        }
        table.keep(Name::new(names[7].as_bytes(), &hasher), layout, &Err(Refusal::MISSING));
        for (size, name) in (0..).zip(&names) {
            let name = Name::new(name.as_bytes(), &hasher);
            match table.find(name, layout, true) {
                Found::Attributes(attributes) => assert_eq!(attributes.size(), Some(size)),
                Found::Refused(refusal) => assert_eq!((size, refusal), (7, Refusal::MISSING)),
                found => panic!("{found:?}"),
            }
        }
        assert_eq!(table.len(), 1000);
        let missing = Name::new(b"name 1000", &hasher);
        assert!(matches!(table.find(missing, layout, false), Found::Nothing));
    }

    #[test]
    fn a_name_that_no_system_takes_is_not_kept() {
        let (hasher, layout) = (Hasher::default(), Layout::new(LAYOUT));
        let mut table = Table::default();
        let long = vec![b'x'; 1 << 17];
        table.keep(Name::new(&long, &hasher), layout, &Err(Refusal::MISSING));
        assert_eq!(table.len(), 0);
    }

    #[test]
    fn a_name_that_changed_is_neither_there_nor_missing() {
        let (hasher, layout) = (Hasher::default(), Layout::new(LAYOUT));
        let mut table = Table::default();
        for name in ["known", "new"] {
            let name = Name::new(name.as_bytes(), &hasher);
            if name.bytes == b"known" {
                table.keep(name, layout, &Ok(sized(1)));
            }
            table.forget(name);
            assert!(matches!(table.find(name, layout, false), Found::Unknown));
            assert_eq!(table.find_type(name, layout), Some(FileType::Unknown));
        }
        // Asked again and again, it makes the table worn out.
        let name = Name::new(b"known", &hasher);
        let rounds = (0..200).find(|&size| {
            table.keep(name, layout, &Ok(sized(size)));
            table.is_worn(layout)
        });
        assert!(rounds.is_some());
    }
}
