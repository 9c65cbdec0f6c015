//! Puts together what the records say: extensions with their files, names with their directories.

use std::io;

use crate::attributes::{FieldMask, FileType};
use crate::read_at::ReadAt;

use super::super::error::{invalid, same_error};
use super::super::index::{About, Directory, InodeRecord, NO_DIRECTORY, Names, Role, VolumeIndex};
use super::boot_sector::BootSector;
use super::facts::set_sizes;
use super::record::Reference;
use super::records::{Extension, Outside, Part, Piece, Run, per_piece};
use super::runs::Runs;
use super::special;

/// The record of the top directory.
const ROOT: u32 = 5;

/// What a record holds besides times.
const FIELDS: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::MTIME)
    .union(FieldMask::FILE_ID)
    .union(FieldMask::NLINK)
    .union(FieldMask::ATTRIBUTES)
    .union(FieldMask::REPARSE_TAG);

/// All records, by their pieces.
struct Records {
    pieces: Vec<Piece>,
    per_piece: u32,
}

/// How often each record was in use, by piece.
pub(super) struct Sequences {
    pieces: Vec<Vec<u16>>,
    per_piece: u32,
}

impl Sequences {
    /// Returns whether a reference to a record means the file that uses it now.
    pub(super) fn is_current(&self, record: u32, reference: Reference) -> bool {
        let piece = self.pieces.get((record / self.per_piece) as usize);
        let sequence = piece.and_then(|piece| piece.get((record % self.per_piece) as usize));
        sequence.is_some_and(|&sequence| reference.is_current(sequence))
    }
}

/// Joins the parts of all threads.
pub(super) fn join<S: ReadAt + ?Sized>(
    source: &S,
    boot: &BootSector,
    mut parts: Vec<Part>,
) -> (VolumeIndex, Sequences) {
    let per_piece = per_piece(boot.record_size);
    let mut records = Records::new(&mut parts, per_piece);
    parts.iter().flat_map(|part| &part.extensions).for_each(|it| records.apply(it));
    parts.iter().flat_map(|part| &part.outside).for_each(|it| records.look(source, boot, it));
    let mut directories = records.number_directories();
    if let Some(Role::Directory(top)) = records.get(ROOT).map(InodeRecord::role) {
        directories[top as usize].error = records.error(&parts);
    }
    let names = parts.into_iter().map(|part| records.assign(part.names, &part.runs)).collect();
    let about = About {
        device: boot.serial_number.max(1),
        root: ROOT,
        first_inode: 0,
        inodes_per_group: per_piece,
        fields: FIELDS,
        inode: "file record",
    };
    let (groups, pieces) =
        records.pieces.into_iter().map(|piece| (piece.inodes, piece.sequences)).unzip();
    (VolumeIndex::new(about, groups, directories, names), Sequences { pieces, per_piece })
}

impl Records {
    fn new(parts: &mut [Part], per_piece: u32) -> Self {
        let count = parts.iter().map(|part| part.pieces.len()).sum();
        let mut pieces = Vec::with_capacity(count);
        pieces.resize_with(count, Piece::default);
        for (number, piece) in parts.iter_mut().flat_map(|part| part.pieces.drain(..)) {
            pieces[number as usize] = piece;
        }
        Self { pieces, per_piece }
    }

    fn get(&self, record: u32) -> Option<&InodeRecord> {
        let piece = self.pieces.get((record / self.per_piece) as usize)?;
        piece.inodes.records.get((record % self.per_piece) as usize)
    }

    /// Returns the record of a file, unless another file uses it now.
    fn current(&mut self, reference: Reference) -> Option<&mut InodeRecord> {
        let number = u32::try_from(reference.record).ok()?;
        let piece = self.pieces.get_mut((number / self.per_piece) as usize)?;
        let at = (number % self.per_piece) as usize;
        let record = piece.inodes.records.get_mut(at)?;
        let is_file = matches!(record.role(), Role::Entry | Role::Directory(_));
        (is_file && reference.is_current(piece.sequences[at])).then_some(record)
    }

    /// Adds what an extension record says.
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
    fn look<S: ReadAt + ?Sized>(&mut self, source: &S, boot: &BootSector, outside: &Outside) {
        let Some(record) = self.current(outside.record) else { return };
        if !outside.content.matters(record) {
            return;
        }
        let mut bytes = vec![0; outside.size as usize];
        let mut runs = Runs::new(boot.cluster_size, boot.clusters);
        let read = runs.append(&outside.run_list).and_then(|()| runs.read(source, 0, &mut bytes));
        if read.is_ok()
            && let Some(special) = outside.content.meaning(&bytes)
        {
            special::apply(special, record);
        }
    }

    fn number_directories(&mut self) -> Vec<Directory> {
        let mut directories = Vec::new();
        for (piece, first) in self.pieces.iter_mut().zip((0..).step_by(self.per_piece as usize)) {
            for (at, record) in piece.inodes.records.iter_mut().enumerate() {
                if let Role::Directory(_) = record.role() {
                    record.set_role(Role::Directory(directories.len() as u32));
                    directories.push(Directory { inode: first + at as u32, error: None });
                }
            }
        }
        directories
    }

    /// Returns why entries may be missing, wherever they belong.
    fn error(&self, parts: &[Part]) -> Option<io::Error> {
        let mut unread = self.pieces.iter().filter_map(|piece| piece.inodes.error.as_ref());
        if let Some(error) = unread.next() {
            return Some(same_error(error));
        }
        match parts.iter().map(|part| part.damaged).sum() {
            0 => None,
            1 => Some(invalid("a file record is damaged: entries may be missing".to_owned())),
            many => {
                Some(invalid(format!("{many} file records are damaged: entries may be missing")))
            }
        }
    }

    /// Gives names their directories. Those in directories that do not exist are dropped: no walk finds them.
    fn assign(&mut self, mut names: Names, runs: &[Run]) -> Names {
        let mut directory_of = |run: &Run| {
            run.base.is_none_or(|base| self.current(base).is_some()).then_some(())?;
            match self.current(run.directory)?.role() {
                Role::Directory(number) => Some(number),
                _ => None,
            }
        };
        let numbers: Vec<u32> =
            runs.iter().map(|run| directory_of(run).unwrap_or(NO_DIRECTORY)).collect();
        names.renumber_directories(&numbers);
        names
    }
}
