//! The names of one directory, with their known attributes.

use std::hash::BuildHasher;

use hashbrown::{HashMap, HashTable};
use transect_sys::{Attributes, FileType};

use super::lookup_error::{LookupError, LookupResult};
use super::record::{RecordLayout, file_type};

/// The known facts about a name.
#[derive(Clone, Copy, Debug)]
enum EntryState {
    /// A listing contained it, with this type.
    Listed(FileType),
    /// The number of the record with its attributes.
    Recorded(u32),
    /// The error of its query.
    Failed(LookupError),
}

/// A name: its position in the buffer of names, and its state.
#[derive(Debug)]
struct Entry {
    start: u32,
    length: u16,
    known: EntryState,
}

impl Entry {
    /// Returns the name, which is part of `names`.
    #[inline]
    fn name<'a>(&self, names: &'a [u8]) -> &'a [u8] {
        &names[self.start as usize..self.start as usize + usize::from(self.length)]
    }
}

/// What memory knows about a name.
#[derive(Clone, Debug)]
pub(super) enum Lookup {
    /// The name is cached with these attributes.
    Attributes(Attributes),
    /// The name exists and has this type.
    Exists(FileType),
    /// The error of its query.
    Failed(LookupError),
    /// A query is needed: it is a link with an unknown target, or it changed.
    Unknown,
    /// The name is not in the table.
    Absent,
}

/// The names of one directory in one buffer, with their states. A name takes its length, 20 bytes,
/// 6 to 11 for the index, and the size of its record.
#[derive(Debug, Default)]
pub(super) struct NameTable {
    names: Vec<u8>,
    entries: Vec<Entry>,
    index: HashTable<u32>,
    records: Vec<u64>,
    /// The targets of links by entry number. Few entries have one.
    targets: HashMap<u32, EntryState, Hasher>,
}

impl NameTable {
    fn entry(&self, hash: u64, name: &[u8]) -> Option<u32> {
        self.index.find(hash, |&number| self.name(number) == name).copied()
    }

    fn name(&self, number: u32) -> &[u8] {
        self.entries[number as usize].name(&self.names)
    }

    fn record(&self, layout: RecordLayout, record: u32) -> &[u64] {
        let start = record as usize * layout.words;
        &self.records[start..start + layout.words]
    }

    /// Returns the state of a name, or of its target if it is a link and `follow` is set.
    #[inline]
    pub(super) fn find(&self, name: HashedName<'_>, layout: RecordLayout, follow: bool) -> Lookup {
        let Some(number) = self.entry(name.hash, name.bytes) else { return Lookup::Absent };
        let known = self.entries[number as usize].known;
        match known {
            EntryState::Listed(FileType::Symlink | FileType::Unknown) if follow => {
                return Lookup::Unknown;
            }
            EntryState::Recorded(record)
                if follow && file_type(self.record(layout, record)) == FileType::Symlink =>
            {
                return match self.targets.get(&number) {
                    None => Lookup::Unknown,
                    Some(target) => self.lookup(*target, layout),
                };
            }
            _ => {}
        }
        self.lookup(known, layout)
    }

    #[inline]
    fn lookup(&self, known: EntryState, layout: RecordLayout) -> Lookup {
        match known {
            EntryState::Listed(file_type) => Lookup::Exists(file_type),
            EntryState::Recorded(record) => {
                Lookup::Attributes(layout.unpack(self.record(layout, record)))
            }
            EntryState::Failed(error) => Lookup::Failed(error),
        }
    }

    /// Returns the type of a name that is known to exist.
    #[inline]
    pub(super) fn find_type(&self, name: HashedName<'_>, layout: RecordLayout) -> Option<FileType> {
        match self.entries[self.entry(name.hash, name.bytes)? as usize].known {
            EntryState::Listed(file_type) => Some(file_type),
            EntryState::Recorded(record) => Some(file_type(self.record(layout, record))),
            EntryState::Failed(_) => None,
        }
    }

    /// Adds a listed name, unless the table has it.
    pub(super) fn insert_listed(&mut self, name: HashedName<'_>, file_type: FileType) {
        if self.entry(name.hash, name.bytes).is_none() {
            self.add(name, EntryState::Listed(file_type));
        }
    }

    /// Adds attributes that came with a listing, unless the table has the name.
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

    /// Stores the result of a query of a name, links not followed.
    pub(super) fn insert(
        &mut self,
        name: HashedName<'_>,
        layout: RecordLayout,
        answer: &LookupResult,
    ) {
        // No system accepts such a name. It is not stored, and queried again.
        if name.bytes.len() > usize::from(u16::MAX) {
            return;
        }
        let known = self.keep(layout, answer);
        self.replace(name, known);
    }

    /// Sets the state of a name, new or not.
    fn replace(&mut self, name: HashedName<'_>, known: EntryState) {
        match self.entry(name.hash, name.bytes) {
            None => self.add(name, known),
            Some(number) => {
                self.targets.remove(&number);
                self.entries[number as usize].known = known;
            }
        }
    }

    /// Stores the result of a query of a link's target.
    pub(super) fn insert_target(
        &mut self,
        name: HashedName<'_>,
        layout: RecordLayout,
        answer: &LookupResult,
    ) {
        let Some(number) = self.entry(name.hash, name.bytes) else { return };
        let target = self.keep(layout, answer);
        self.targets.insert(number, target);
    }

    /// Stores the result of a query, and returns it as a state.
    fn keep(&mut self, layout: RecordLayout, answer: &LookupResult) -> EntryState {
        match answer {
            Ok(attributes) => {
                let number = self.records.len() / layout.words;
                layout.pack(attributes, &mut self.records);
                let number = u32::try_from(number);
                EntryState::Recorded(
                    number.expect("BUG: four thousand million names in a directory"),
                )
            }
            Err(error) => EntryState::Failed(*error),
        }
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

    /// Reserves exactly this much: a directory that was listed seldom grows.
    pub(super) fn reserve(&mut self, names: usize, bytes: usize, hasher: &Hasher) {
        self.names.reserve_exact(bytes);
        self.entries.reserve_exact(names);
        let Self { names: spelt, entries, index, .. } = self;
        index.reserve(names, |&number| hasher.hash_one(entries[number as usize].name(spelt)));
    }

    pub(super) fn shrink(&mut self) {
        self.names.shrink_to_fit();
        self.entries.shrink_to_fit();
        self.records.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the size of the table in bytes.
    pub(super) fn memory(&self) -> usize {
        self.names.capacity()
            + self.entries.capacity() * size_of::<Entry>()
            + self.index.allocation_size()
            + self.records.capacity() * size_of::<u64>()
            + self.targets.allocation_size()
    }
}

#[derive(Clone, Copy)]
pub(super) struct HashedName<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) hash: u64,
    /// A table that grows hashes its names again.
    pub(super) hasher: &'a Hasher,
}

impl<'a> HashedName<'a> {
    #[inline]
    pub(super) fn new(bytes: &'a [u8], hasher: &'a Hasher) -> Self {
        Self { bytes, hash: hasher.hash_one(bytes), hasher }
    }
}

/// The hasher of names and paths. Each cache has its own secret: names may be chosen by an
/// attacker.
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
    fn entry_size_as_documented() {
        assert_eq!(size_of::<Entry>(), 20);
    }

    #[test]
    fn name_table_thousand_names_all_found() {
        let (hasher, layout) = (Hasher::default(), RecordLayout::new(LAYOUT));
        let mut table = NameTable::default();
        let names: Vec<String> = (0..1000).map(|number| format!("name {number}")).collect();
        for (size, name) in (0..).zip(&names) {
            let name = HashedName::new(name.as_bytes(), &hasher);
            table.insert_listed(name, FileType::File);
            table.insert(name, layout, &Ok(sized(size)));
            // A listing does not replace more precise data.
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
                Lookup::Attributes(attributes) => assert_eq!(attributes.size(), Some(size)),
                Lookup::Failed(error) => assert_eq!((size, error), (7, LookupError::MISSING)),
                found => panic!("{found:?}"),
            }
        }
        assert_eq!(table.len(), 1000);
        let missing = HashedName::new(b"name 1000", &hasher);
        assert!(matches!(table.find(missing, layout, false), Lookup::Absent));
    }

    #[test]
    fn name_table_name_too_long_not_stored() {
        let (hasher, layout) = (Hasher::default(), RecordLayout::new(LAYOUT));
        let mut table = NameTable::default();
        let long = vec![b'x'; 1 << 17];
        table.insert(HashedName::new(&long, &hasher), layout, &Err(LookupError::MISSING));
        assert_eq!(table.len(), 0);
    }
}
