//! Puts together what the records say: extensions with their files, names with their directories.

use std::io;

use transect_sys::{FieldMask, FileType};

use super::super::error::{invalid, same_error};
use super::super::index::{About, NO_DIRECTORY, Names, VolumeIndex};
use super::super::inode_table::{InodeGroup, InodeRecord, InodeTable, Role};
use super::facts::set_sizes;
use super::file_table::FileTable;
use super::listed::{SmallIndex, listed};
use super::record::Reference;
use super::records::{Extension, FileStreams, Outside, Part, ROOT, Run, Sequences, per_piece};
use super::runs::Runs;
use super::{special, streams};

/// What a record holds besides times.
const FIELDS: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::MTIME)
    .union(FieldMask::FILE_ID)
    .union(FieldMask::NLINK)
    .union(FieldMask::ATTRIBUTES)
    .union(FieldMask::REPARSE_TAG);

/// What the file table has of all files.
struct Records {
    inodes: InodeTable,
    sequences: Sequences,
}

pub(super) fn join(table: &FileTable<'_>, mut parts: Vec<Part>) -> (VolumeIndex, Sequences) {
    let mut records = Records::new(&mut parts, per_piece(table));
    parts.iter().flat_map(|part| &part.extensions).for_each(|it| records.apply(it));
    parts.iter().flat_map(|part| &part.outside).for_each(|it| records.look(table, it));
    let directories = records.number_directories(&parts);
    // A record that cannot be read does not matter if it is free.
    for part in parts.iter_mut().filter(|part| !part.unreadable.is_empty()) {
        table.retain_used(&mut part.unreadable);
    }
    let mut errors = Vec::new();
    if let Some(top) = records.inodes.get(ROOT).and_then(InodeRecord::directory) {
        errors.extend(records.error(&parts).map(|error| (top, error)));
    }
    let streams: Vec<FileStreams> =
        parts.iter_mut().flat_map(|part| std::mem::take(&mut part.streams)).collect();
    let indexes: Vec<SmallIndex> =
        parts.iter_mut().flat_map(|part| std::mem::take(&mut part.indexes)).collect();
    let mut sums = vec![0; directories.len()];
    let mut names: Vec<Names> =
        parts.into_iter().map(|part| records.assign(part.names, &part.runs, &mut sums)).collect();
    let other = indexes.into_iter().filter_map(|index| records.unlike(index, &sums));
    let listed = listed(table, other);
    if !listed.is_empty() {
        names.iter_mut().for_each(|names| names.retain_in(&listed));
    }
    let device = table.boot.serial_number.max(1);
    let about = About { device, root: ROOT, fields: FIELDS, inode: "file record" };
    let Records { inodes, sequences } = records;
    let mut index = VolumeIndex::new(about, inodes, directories, names, errors);
    index.alternate_streams = Some(streams::sum(&index, &sequences, &streams));
    (index, sequences)
}

impl Records {
    fn new(parts: &mut [Part], per_group: u32) -> Self {
        let mut inodes = InodeTable { per_group, ..InodeTable::default() };
        let count = parts.iter().map(|part| part.groups.len()).sum();
        inodes.groups.resize_with(count, InodeGroup::default);
        let mut sequences = Vec::new();
        for (number, part) in (0..).zip(parts) {
            for (at, group) in part.groups.drain(..) {
                inodes.groups[at as usize] = InodeGroup { part: number, ..group };
            }
            inodes.parts.push(std::mem::take(&mut part.inodes));
            sequences.push(std::mem::take(&mut part.sequences));
        }
        Self { inodes, sequences: Sequences(sequences) }
    }

    /// Returns the record of a file, unless another file uses it now.
    fn current(&mut self, reference: Reference) -> Option<&mut InodeRecord> {
        let number = u32::try_from(reference.record).ok()?;
        let is_current = self.sequences.is_current(&self.inodes, reference);
        let record = self.inodes.get_mut(number).filter(|_| is_current)?;
        matches!(record.role(), Role::Entry | Role::Directory(_)).then_some(record)
    }

    fn apply(&mut self, extension: &Extension) {
        let Some(record) = self.current(extension.base) else { return };
        record.nlink = record.nlink.saturating_add(extension.names);
        let content = match record.role() {
            Role::Directory(_) => extension.index,
            _ => extension.data,
        };
        // The size of a link is that of its target.
        if let Some(sizes) = content
            && FileType::from_mode(record.mode.into()) != FileType::Symlink
        {
            set_sizes(record, sizes);
        }
        if let Some(special) = extension.special {
            special::apply(special, record);
        }
    }

    /// Reads content that says what a file is. If that fails, the file stays one.
    fn look(&mut self, table: &FileTable<'_>, outside: &Outside) {
        let Some(record) = self.current(outside.record) else { return };
        if !outside.content.matters(record) {
            return;
        }
        let mut bytes = vec![0; outside.size as usize];
        let mut runs = Runs::new(table.boot.cluster_size, table.boot.clusters);
        let read = runs.append(&outside.run_list);
        let read = read.and_then(|()| runs.read(table.source, 0, &mut bytes));
        if read.is_ok()
            && let Some(special) = outside.content.meaning(&bytes)
        {
            special::apply(special, record);
        }
    }

    /// Numbers the directories; returns the record of each.
    fn number_directories(&mut self, parts: &[Part]) -> Vec<u32> {
        let mut directories = Vec::with_capacity(parts.iter().map(|it| it.directories.len()).sum());
        for &number in parts.iter().flat_map(|part| &part.directories) {
            // Some have turned out to be links.
            if let Some(record) = self.inodes.get_mut(number)
                && record.directory().is_some()
            {
                record.set_role(Role::Directory(directories.len() as u32));
                directories.push(number);
            }
        }
        directories
    }

    /// Returns why entries may be missing, wherever they belong.
    fn error(&self, parts: &[Part]) -> Option<io::Error> {
        let mut unread = self.inodes.groups.iter().filter_map(|group| group.error.as_ref());
        if let Some(error) = unread.next() {
            return Some(same_error(error));
        }
        match parts.iter().map(|part| part.damaged + part.unreadable.len() as u64).sum() {
            0 => None,
            1 => Some(invalid("a file record is damaged: entries may be missing")),
            many => {
                Some(invalid(format!("{many} file records are damaged: entries may be missing")))
            }
        }
    }

    /// Gives names their directories. Those in directories that do not exist are dropped: no walk finds them.
    /// Adds up what they are, by directory.
    fn assign(&mut self, mut names: Names, runs: &[Run], sums: &mut [u64]) -> Names {
        let mut directory_of = |run: &Run| {
            run.base.is_none_or(|base| self.current(base).is_some()).then_some(())?;
            self.current(run.directory)?.directory()
        };
        let numbers: Vec<u32> =
            runs.iter().map(|run| directory_of(run).unwrap_or(NO_DIRECTORY)).collect();
        for (run, &number) in runs.iter().zip(&numbers) {
            if let Some(sum) = sums.get_mut(number as usize) {
                *sum = sum.wrapping_add(run.sum);
            }
        }
        names.renumber_directories(&numbers);
        names
    }

    /// Returns an index and the number of its directory, if its names differ from those in the records.
    fn unlike(&mut self, index: SmallIndex, sums: &[u64]) -> Option<(u32, SmallIndex)> {
        let number = self.current(index.directory)?.directory()?;
        (sums[number as usize] != index.sum).then_some((number, index))
    }
}
