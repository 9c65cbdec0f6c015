//! What is known of the names in one directory.

use std::hash::BuildHasher;

use hashbrown::{HashMap, HashTable};
use transect_sys::{Attributes, FileType};

use super::lookup_error::LookupError;
use super::record::{RecordLayout, file_type};

/// What is known of one name.
#[derive(Clone, Copy, Debug)]
enum EntryState {
    /// A listing told of it, and of its type.
    Listed(FileType),
    /// Its attributes are the record of this number.
    Recorded(u32),
    /// Why it has none.
    Failed(LookupError),
    /// Something happened to it: whatever was known is not known any more.
    Changed,
}

/// A name: where it lies, and what is known of it.
#[derive(Debug)]
struct Entry {
    start: u32,
    length: u16,
    known: EntryState,
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
enum LinkTarget {
    Recorded(u32),
    Failed(LookupError),
}

/// What a table says of a name.
#[derive(Clone, Debug)]
pub(super) enum TableLookup {
    /// Its attributes.
    Attributes(Attributes),
    /// That it is there, and what it is.
    Exists(FileType),
    /// Why there is nothing to be said of it.
    Failed(LookupError),
    /// It has to be asked: it is a link, and nobody knows where it leads, or it has changed.
    Unknown,
    /// It has not that name.
    Absent,
}

/// The names of one directory, in one buffer, with what is known of them. A name costs what it is
/// long, 20 bytes, 6 to 11 for the index, and what its attributes take.
#[derive(Debug, Default)]
pub(super) struct NameTable {
    names: Vec<u8>,
    entries: Vec<Entry>,
    index: HashTable<u32>,
    records: Vec<u64>,
    /// Where links lead, by the entry's number: few have any.
    targets: HashMap<u32, LinkTarget, Hasher>,
}

impl NameTable {
    fn entry(&self, hash: u64, name: &[u8]) -> Option<u32> {
        self.index.find(hash, |&number| self.name(number) == name).copied()
    }

    fn name(&self, number: u32) -> &[u8] {
        self.entries[number as usize].name(&self.names)
    }

    fn record(&self, layout: RecordLayout, record: u32) -> &[u64] {
        let start = record as usize * layout.words();
        &self.records[start..start + layout.words()]
    }

    /// Returns what is known of a name, or of what it leads to.
    #[inline]
    pub(super) fn find(
        &self,
        name: HashedName<'_>,
        layout: RecordLayout,
        follow: bool,
    ) -> TableLookup {
        let Some(number) = self.entry(name.hash, name.bytes) else { return TableLookup::Absent };
        match self.entries[number as usize].known {
            EntryState::Failed(error) => TableLookup::Failed(error),
            EntryState::Changed => TableLookup::Unknown,
            EntryState::Listed(FileType::Symlink | FileType::Unknown) if follow => {
                TableLookup::Unknown
            }
            EntryState::Listed(file_type) => TableLookup::Exists(file_type),
            EntryState::Recorded(record) => {
                let record = self.record(layout, record);
                if follow && file_type(record) == FileType::Symlink {
                    return self.find_target(number, layout);
                }
                TableLookup::Attributes(layout.unpack(record))
            }
        }
    }

    fn find_target(&self, number: u32, layout: RecordLayout) -> TableLookup {
        match self.targets.get(&number) {
            None => TableLookup::Unknown,
            Some(LinkTarget::Failed(error)) => TableLookup::Failed(*error),
            Some(LinkTarget::Recorded(record)) => {
                TableLookup::Attributes(layout.unpack(self.record(layout, *record)))
            }
        }
    }

    /// Returns whether a name is known to be there, and as what; without its attributes.
    #[inline]
    pub(super) fn find_type(&self, name: HashedName<'_>, layout: RecordLayout) -> Option<FileType> {
        match self.entries[self.entry(name.hash, name.bytes)? as usize].known {
            EntryState::Listed(file_type) => Some(file_type),
            EntryState::Recorded(record) => Some(file_type(self.record(layout, record))),
            EntryState::Changed => Some(FileType::Unknown),
            EntryState::Failed(_) => None,
        }
    }

    /// Keeps that a listing told of a name.
    pub(super) fn insert_listed(&mut self, name: HashedName<'_>, file_type: FileType) {
        if self.entry(name.hash, name.bytes).is_none() {
            self.add(name, EntryState::Listed(file_type));
        }
    }

    /// Keeps attributes that came along with a listing, unless something is known already.
    pub(super) fn insert_if_absent(
        &mut self,
        name: HashedName<'_>,
        layout: RecordLayout,
        attributes: &Attributes,
    ) {
        if self.entry(name.hash, name.bytes).is_none() {
            self.insert(name, layout, &Ok(*attributes));
        }
    }

    /// Keeps an answer about a name itself.
    pub(super) fn insert(
        &mut self,
        name: HashedName<'_>,
        layout: RecordLayout,
        answer: &Result<Attributes, LookupError>,
    ) {
        // No system takes such a name; it is asked again.
        if name.bytes.len() > usize::from(u16::MAX) {
            return;
        }
        let known = match answer {
            Ok(attributes) => EntryState::Recorded(self.push_record(layout, attributes)),
            Err(error) => EntryState::Failed(*error),
        };
        match self.entry(name.hash, name.bytes) {
            None => self.add(name, known),
            Some(number) => {
                self.targets.remove(&number);
                self.entries[number as usize].known = known;
            }
        }
    }

    /// Keeps an answer about what a name leads to, of which it is known that it is a link.
    pub(super) fn insert_target(
        &mut self,
        name: HashedName<'_>,
        layout: RecordLayout,
        answer: &Result<Attributes, LookupError>,
    ) {
        let Some(number) = self.entry(name.hash, name.bytes) else { return };
        let targets = match answer {
            Ok(attributes) => LinkTarget::Recorded(self.push_record(layout, attributes)),
            Err(error) => LinkTarget::Failed(*error),
        };
        self.targets.insert(number, targets);
    }

    /// Forgets what is known of one name, also that it is not there.
    pub(super) fn mark_changed(&mut self, name: HashedName<'_>) {
        match self.entry(name.hash, name.bytes) {
            None => self.add(name, EntryState::Changed),
            Some(number) => {
                self.targets.remove(&number);
                self.entries[number as usize].known = EntryState::Changed;
            }
        }
    }

    /// Forgets what no notice is given of: where links lead, and the attributes of directories.
    pub(super) fn forget_unwatched(&mut self, layout: RecordLayout) {
        self.targets.clear();
        let Self { entries, records, .. } = self;
        for entry in entries {
            if let EntryState::Recorded(record) = entry.known
                && file_type(&records[record as usize * layout.words()..]) == FileType::Directory
            {
                entry.known = EntryState::Listed(FileType::Directory);
            }
        }
    }

    /// Returns whether attributes that were replaced take as much room as those that are known:
    /// then the table is better begun anew.
    pub(super) fn is_mostly_obsolete(&self, layout: RecordLayout) -> bool {
        self.records.len() / layout.words() > 2 * self.entries.len() + 64
    }

    fn push_record(&mut self, layout: RecordLayout, attributes: &Attributes) -> u32 {
        let number = self.records.len() / layout.words();
        layout.pack(attributes, &mut self.records);
        u32::try_from(number).expect("BUG: four thousand million names in a directory")
    }

    fn add(&mut self, name: HashedName<'_>, known: EntryState) {
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
            + self.targets.allocation_size()
    }
}

/// A name with its hash.
#[derive(Clone, Copy)]
pub(super) struct HashedName<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) hash: u64,
    /// How the hash was made: a table that grows makes those of its names again.
    pub(super) hasher: &'a Hasher,
}

impl<'a> HashedName<'a> {
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
        let (hasher, layout) = (Hasher::default(), RecordLayout::new(LAYOUT));
        let mut table = NameTable::default();
        let names: Vec<String> = (0..1000).map(|number| format!("name {number}")).collect();
        for (size, name) in (0..).zip(&names) {
            let name = HashedName::new(name.as_bytes(), &hasher);
            table.insert_listed(name, FileType::File);
            table.insert(name, layout, &Ok(sized(size)));
            // A listing does not replace what is known better.
            table.insert_listed(name, FileType::Directory);
        }
        table.insert(
            HashedName::new(names[7].as_bytes(), &hasher),
            layout,
            &Err(LookupError::MISSING),
        );
        for (size, name) in (0..).zip(&names) {
            let name = HashedName::new(name.as_bytes(), &hasher);
            match table.find(name, layout, true) {
                TableLookup::Attributes(attributes) => assert_eq!(attributes.size(), Some(size)),
                TableLookup::Failed(error) => assert_eq!((size, error), (7, LookupError::MISSING)),
                found => panic!("{found:?}"),
            }
        }
        assert_eq!(table.len(), 1000);
        let missing = HashedName::new(b"name 1000", &hasher);
        assert!(matches!(table.find(missing, layout, false), TableLookup::Absent));
    }

    #[test]
    fn a_name_that_no_system_takes_is_not_kept() {
        let (hasher, layout) = (Hasher::default(), RecordLayout::new(LAYOUT));
        let mut table = NameTable::default();
        let long = vec![b'x'; 1 << 17];
        table.insert(HashedName::new(&long, &hasher), layout, &Err(LookupError::MISSING));
        assert_eq!(table.len(), 0);
    }

    #[test]
    fn a_name_that_changed_is_neither_there_nor_missing() {
        let (hasher, layout) = (Hasher::default(), RecordLayout::new(LAYOUT));
        let mut table = NameTable::default();
        for name in ["known", "new"] {
            let name = HashedName::new(name.as_bytes(), &hasher);
            if name.bytes == b"known" {
                table.insert(name, layout, &Ok(sized(1)));
            }
            table.mark_changed(name);
            assert!(matches!(table.find(name, layout, false), TableLookup::Unknown));
            assert_eq!(table.find_type(name, layout), Some(FileType::Unknown));
        }
        // Asked again and again, it makes the table worn out.
        let name = HashedName::new(b"known", &hasher);
        let rounds = (0..200).find(|&size| {
            table.insert(name, layout, &Ok(sized(size)));
            table.is_mostly_obsolete(layout)
        });
        assert!(rounds.is_some());
    }
}
