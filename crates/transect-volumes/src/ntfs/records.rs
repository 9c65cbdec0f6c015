//! Reads all records of the file table, several pieces of it at once.

use transect_sys::AlternateStreams;

use super::super::index::Names;
use super::super::inode_table::{
    InodeGroup, InodePart, InodeRecord, InodeTable, Role, Times, with_room,
};
use super::super::threads::{Effort, share_out};
use super::facts::{Facts, FileName};
use super::file_table::FileTable;
use super::listed::SmallIndex;
use super::record::{Attribute, Damaged, FIRST_USER, Record, Reference, Sizes};
use super::special::{self, Content, Special};

const PIECE: u32 = 1 << 20;
/// The record of the top directory.
pub(super) const ROOT: u32 = 5;
/// The bytes of most entries are fewer than that.
const EXPECTED_ENTRY: usize = 32;

/// What a record says of the file of another one.
pub(super) struct Extension {
    pub(super) base: Reference,
    pub(super) names: u16,
    pub(super) data: Option<Sizes>,
    pub(super) index: Option<Sizes>,
    pub(super) special: Option<Special>,
}

/// Content that says what a file is, outside its record.
pub(super) struct Outside {
    pub(super) record: Reference,
    pub(super) content: Content,
    pub(super) size: u64,
    pub(super) run_list: Vec<u8>,
}

/// The alternate streams of a file in one of its records.
pub(super) struct FileStreams {
    pub(super) file: Reference,
    /// The directory of one of its names, if there are names in the same record.
    pub(super) directory: Option<Reference>,
    pub(super) streams: AlternateStreams,
}

/// Names that lie beside each other and are in the same directory.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) directory: Reference,
    /// The file that an extension record with them belongs to.
    pub(super) base: Option<Reference>,
    /// Of [`FileName::mark`] of the names.
    pub(super) sum: u64,
}

/// What one thread found.
#[derive(Default)]
pub(super) struct Part {
    /// By the numbers of the pieces.
    pub(super) groups: Vec<(u32, InodeGroup)>,
    /// Directories have no numbers yet.
    pub(super) inodes: InodePart,
    /// How often each record was in use.
    pub(super) sequences: Vec<u16>,
    /// The records of directories.
    pub(super) directories: Vec<u32>,
    /// The directory of a segment is the number of its run.
    pub(super) names: Names,
    pub(super) runs: Vec<Run>,
    pub(super) extensions: Vec<Extension>,
    pub(super) outside: Vec<Outside>,
    pub(super) streams: Vec<FileStreams>,
    pub(super) indexes: Vec<SmallIndex>,
    /// Records in use with damaged attributes.
    pub(super) damaged: u64,
    /// Records that cannot be read, whether they are in use or not.
    pub(super) unreadable: Vec<u32>,
}

/// How often each record was in use, by part.
pub(super) struct Sequences(pub(super) Vec<Vec<u16>>);

impl Sequences {
    /// Returns whether a reference to a record means the file that uses it now.
    pub(super) fn is_current(&self, inodes: &InodeTable, reference: Reference) -> bool {
        let place = u32::try_from(reference.record).ok().and_then(|it| inodes.place(it));
        place.is_some_and(|(part, at)| reference.is_current(self.0[part][at]))
    }
}

pub(super) fn per_piece(table: &FileTable<'_>) -> u32 {
    PIECE / table.boot.record_size
}

/// Reads all records. What cannot be read is an error of its piece.
pub(super) fn read(table: &FileTable<'_>, effort: Effort) -> Vec<Part> {
    let (record_size, per_piece) = (table.boot.record_size, per_piece(table));
    let pieces = 0..table.records.div_ceil(per_piece);
    // One thread may read more than the others.
    let room = table.records as usize / effort.threads / 8 * 9;
    let begin = || {
        let inodes = InodePart::with_room(room, effort.all_times);
        let names = Names::with_room(room * EXPECTED_ENTRY);
        let sequences = with_room(room);
        (Part { inodes, names, sequences, ..Part::default() }, Vec::new())
    };
    let parts = share_out(effort.threads, pieces, begin, |(part, bytes), number| {
        let first = number * per_piece;
        let count = per_piece.min(table.records - first);
        bytes.resize((count * record_size) as usize, 0);
        let group = match table.read(first, bytes) {
            Ok(()) => part.read_piece(first, bytes, record_size, effort.all_times),
            Err(error) => InodeGroup { error: Some(error), ..InodeGroup::default() },
        };
        part.groups.push((number, group));
    });
    parts.into_iter().map(|(part, _)| part).collect()
}

impl Part {
    fn read_piece(
        &mut self,
        first: u32,
        bytes: &mut [u8],
        record_size: u32,
        all_times: bool,
    ) -> InodeGroup {
        let mut group = self.inodes.begin();
        // Names of another piece are not beside these.
        let mut run = None;
        for (at, record) in bytes.chunks_exact_mut(record_size as usize).enumerate() {
            let number = first + at as u32;
            match Record::restore(record) {
                Ok(None) => {}
                Ok(Some(record)) => self.add(number, at, record, &mut group, &mut run, all_times),
                Err(Damaged) => {
                    self.unreadable.push(number);
                    let mut damaged = InodeRecord::default();
                    damaged.set_role(Role::Damaged);
                    self.set(&mut group, at, damaged, 0, all_times.then(Times::default));
                }
            }
        }
        group
    }

    fn add(
        &mut self,
        number: u32,
        at: usize,
        record: Record<'_>,
        group: &mut InodeGroup,
        run: &mut Option<Run>,
        all_times: bool,
    ) {
        let base = record.base();
        let is_directory = record.is_directory();
        let inode = base.map_or(number.into(), |base| base.record);
        let mut facts = Facts::default();
        let mut directory = None;
        let read = facts.read(record, |name| match u32::try_from(inode) {
            Ok(inode) if inode >= FIRST_USER => {
                // That an extension belongs to a directory is not known here.
                let may_be_directory = is_directory || base.is_some();
                directory = Some(name.directory());
                self.add_name(name, number, inode, base, may_be_directory, run)
            }
            _ => Ok(()),
        });
        self.damaged += u64::from(read.is_err());
        let file = base.unwrap_or_else(|| Reference::of(number, record.sequence()));
        let is_shown = inode >= u64::from(FIRST_USER) || inode == u64::from(ROOT);
        if let Some(index) = facts.index_root.filter(|_| is_shown) {
            self.indexes.extend(SmallIndex::new(file, number, index));
        }
        // What the file system keeps in its own files is not counted.
        if facts.streams.count > 0 && is_shown {
            self.streams.push(FileStreams { file, directory, streams: facts.streams });
        }
        if let Some(base) = base {
            self.add_extension(base, &facts);
            return;
        }
        let mut inode_record = facts.inode_record(is_directory);
        for (content, attribute) in facts.contents() {
            if content.matters(&inode_record)
                && let Some(special) = self.special(file, content, attribute)
            {
                special::apply(special, &mut inode_record);
            }
        }
        if is_directory {
            self.directories.push(number);
        }
        let times = all_times.then(|| facts.times());
        self.set(group, at, inode_record, record.sequence(), times);
    }

    /// Sets the record at this place of a group, which is behind all others.
    fn set(
        &mut self,
        group: &mut InodeGroup,
        at: usize,
        record: InodeRecord,
        sequence: u16,
        times: Option<Times>,
    ) {
        self.inodes.set(group, at, record, times);
        self.sequences.resize(self.inodes.records.len() - 1, 0);
        self.sequences.push(sequence);
    }

    fn add_extension(&mut self, base: Reference, facts: &Facts<'_>) {
        let mut special = None;
        for (content, attribute) in facts.contents() {
            special = special.or(self.special(base, content, attribute));
        }
        let (data, index) = (facts.sizes(false), facts.sizes(true));
        if facts.names > 0 || data.is_some() || index.is_some() || special.is_some() {
            let names = facts.names;
            self.extensions.push(Extension { base, names, data, index, special });
        }
    }

    /// Returns what content means, or records where it is.
    fn special(
        &mut self,
        record: Reference,
        content: Content,
        attribute: Attribute<'_>,
    ) -> Option<Special> {
        let size = attribute.sizes().size;
        if !content.may_have(size) {
            return None;
        }
        if let Some(list) = attribute.run_list() {
            self.outside.push(Outside { record, content, size, run_list: list.to_owned() });
            return None;
        }
        content.meaning(attribute.value()?)
    }

    fn add_name(
        &mut self,
        name: FileName<'_>,
        record: u32,
        inode: u32,
        base: Option<Reference>,
        may_be_directory: bool,
        run: &mut Option<Run>,
    ) -> Result<(), Damaged> {
        let directory = name.directory();
        let is_same = |run: &Run| run.directory == directory && run.base == base;
        if !run.as_ref().is_some_and(is_same) {
            let new = Run { directory, base, sum: 0 };
            self.names.begin(self.runs.len() as u32, record);
            self.runs.push(new);
            *run = Some(new);
        }
        if let Some(run) = self.runs.last_mut() {
            run.sum = run.sum.wrapping_add(name.mark(inode));
        }
        self.names.push_with(inode, may_be_directory, |out| name.append_to(out))
    }
}
