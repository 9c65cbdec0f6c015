//! Removes, links or clones the copies of groups, each compared first.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use transect::Cancel;
use transect::table::{Row, Table};
use transect_remove::{CheckedFile, Counts, KeepReason, Refusal, Removal, RemovalError, Report};
use transect_sys::Attributes;
use transect_sys::file::read_at;
use transect_transform::publish::{self, LostMetadata};

use crate::group::{Duplicate, Group};

/// Bytes compared at a time.
const BLOCK: usize = 128 << 10;

/// What to do with the files of a group, except the first one, which is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Remove all their names.
    Remove,
    /// Replace each name by a hard link to the first file. Owner, permissions, times and extended
    /// attributes become those of that file.
    Link {
        /// Also replace files whose owner, group or permissions differ from those of the first.
        merge_attributes: bool,
    },
    /// Replace each file by a clone of the first one (reflink): the files share their blocks, and
    /// keep owner, permissions, times and extended attributes of their own.
    Clone,
}

impl Action {
    /// Returns whether the action changes this file of a group. It does not replace a file with
    /// names that the scan did not find: nothing would be freed, and the names would no longer be
    /// those of one file. It does not clone a file that is one already.
    pub fn applies_to(self, file: &Duplicate) -> bool {
        match self {
            Self::Remove => true,
            Self::Link { .. } => !file.has_other_names,
            Self::Clone => !file.has_other_names && !file.is_clone,
        }
    }
}

/// Acts on all files of the groups but the first of each. Calls `progress` after every name.
///
/// Each file must be as the scan found it, and equal the first file of its group byte by byte, which
/// must be as the scan found it, too; otherwise it is kept. So is a file that appears to be the
/// first one, seen through another mount. The first file's name is checked again right before
/// another file is removed or replaced: the last copy is never removed.
///
/// A link or a clone is made under a temporary name and then renamed. A killed process leaves at
/// most that name behind, which searches pass over.
///
/// # Errors
/// [`RemovalError`]: nothing has been done then.
pub fn apply(
    table: &Table,
    groups: &[Group],
    action: Action,
    cancel: &Cancel,
    progress: &mut dyn FnMut(&Counts, Row),
) -> Result<ActionReport, RemovalError> {
    let mut files: HashMap<Row, (usize, usize), FixedState> = HashMap::default();
    for (number, group) in groups.iter().enumerate() {
        let copies = group.copies.iter().enumerate().skip(1);
        for (index, copy) in copies.filter(|(_, copy)| action.applies_to(copy)) {
            files.extend(copy.names.iter().map(|&row| (row, (number, index))));
        }
    }
    let removal = Removal::new(table, files.keys().copied())?;
    let mut actor = Actor {
        table,
        action,
        cancel,
        kept: None,
        clones: HashMap::default(),
        without_clones: None,
        lost_metadata: Vec::new(),
    };
    let report = removal.for_each_file(cancel, progress, &mut |file| {
        let (number, index) = files[&file.row()];
        actor.act(number, &groups[number], index, file)
    });
    Ok(ActionReport { report, lost_metadata: actor.lost_metadata })
}

/// The result of an action.
#[derive(Debug)]
#[non_exhaustive]
pub struct ActionReport {
    /// The names that were removed or replaced, and those that were kept.
    pub report: Report,
    /// Files that were replaced by a clone, and metadata that could not be preserved.
    pub lost_metadata: Vec<(PathBuf, Vec<LostMetadata>)>,
}

/// The file of a group that is kept.
struct KeptFile<'t> {
    checked: CheckedFile<'t>,
    file: File,
}

impl<'t> KeptFile<'t> {
    /// Opens it by the first of its names that is still the one of the scan.
    fn open(table: &'t Table, group: &Group) -> Result<Self, Refusal> {
        let mut refusal = Refusal::from(KeepReason::NoCopy);
        for &row in &group.copies[0].names {
            let opened = CheckedFile::open(table, row)
                .and_then(|checked| Ok(Self { file: checked.open_to_read()?, checked }));
            match opened {
                Ok(kept) => return Ok(kept),
                Err(why) => refusal = no_copy(why),
            }
        }
        Err(refusal)
    }
}

/// Returns the refusal of a copy because of an error about the file to be kept.
fn no_copy(why: Refusal) -> Refusal {
    Refusal::Kept(KeepReason::NoCopy, why.into_io_error())
}

struct Actor<'t> {
    table: &'t Table,
    action: Action,
    cancel: &'t Cancel,
    /// The last group, and its file to be kept.
    kept: Option<(usize, KeptFile<'t>)>,
    /// Files that were replaced by a clone: one of their names, and their attributes before.
    clones: HashMap<(usize, usize), (Row, Attributes), FixedState>,
    /// A device that cannot clone: files on it need not be compared.
    without_clones: Option<u64>,
    lost_metadata: Vec<(PathBuf, Vec<LostMetadata>)>,
}

impl<'t> Actor<'t> {
    fn act(
        &mut self,
        number: usize,
        group: &Group,
        index: usize,
        copy: &CheckedFile<'_>,
    ) -> Result<u64, Refusal> {
        let kept = match self.kept.take().filter(|&(of, _)| of == number) {
            Some((_, kept)) => kept,
            None => KeptFile::open(self.table, group)?,
        };
        let outcome = self.replace(&kept, (number, index), copy);
        self.kept = Some((number, kept));
        outcome
    }

    fn replace(
        &mut self,
        kept: &KeptFile<'_>,
        of: (usize, usize),
        copy: &CheckedFile<'_>,
    ) -> Result<u64, Refusal> {
        self.compare(kept, copy)?;
        // Another process may have removed or replaced it during the comparison.
        kept.checked.check_name().map_err(no_copy)?;
        match self.action {
            Action::Remove => copy.unlink(),
            Action::Link { .. } => {
                copy.replace_with_link(&kept.checked, &mut || publish::temporary_name(copy.name()))
            }
            Action::Clone => self.replace_with_clone(kept, of, copy),
        }
    }

    /// Compares everything that must be equal, the content last.
    fn compare(&self, kept: &KeptFile<'_>, copy: &CheckedFile<'_>) -> Result<(), Refusal> {
        let (one, other) = (kept.checked.attributes(), copy.attributes());
        if may_be_same_file(one, other) {
            return Err(KeepReason::SameFile.into());
        }
        if let Action::Link { merge_attributes } = self.action {
            if one.device() != other.device() {
                return Err(KeepReason::OtherFileSystem.into());
            }
            let owned = |of: &Attributes| (of.uid(), of.gid(), of.mode());
            if !merge_attributes && owned(one) != owned(other) {
                return Err(KeepReason::OtherAttributes.into());
            }
        }
        if self.without_clones.is_some() && self.without_clones == other.device() {
            return Err(KeepReason::NoClones.into());
        }
        let file = copy.open_to_read()?;
        self.compare_content(&kept.file, &file, one.size().unwrap_or(0))?;
        kept.checked.check_file(&kept.file).map_err(no_copy)?;
        copy.check_file(&file)
    }

    fn compare_content(&self, kept: &File, copy: &File, size: u64) -> Result<(), Refusal> {
        let (mut expected, mut found) = (vec![0; BLOCK], vec![0; BLOCK]);
        let mut at = 0;
        while at < size {
            if self.cancel.is_cancelled() {
                return Err(io::Error::from(io::ErrorKind::Interrupted).into());
            }
            let length = (size - at).min(BLOCK as u64) as usize;
            let (expected, found) = (&mut expected[..length], &mut found[..length]);
            let kept_length =
                read_at(kept, expected, at).map_err(|error| no_copy(Refusal::from(error)))?;
            if read_at(copy, found, at)? != length || kept_length != length || expected != found {
                return Err(KeepReason::Differs.into());
            }
            at += length as u64;
        }
        Ok(())
    }

    /// Replaces the first name of a file by a clone, and the others by hard links to it.
    fn replace_with_clone(
        &mut self,
        kept: &KeptFile<'_>,
        of: (usize, usize),
        copy: &CheckedFile<'_>,
    ) -> Result<u64, Refusal> {
        let durability = publish::Durability::File;
        if let Some((first, before)) = self.clones.get(&of) {
            let first = self.table.path(*first);
            let linked = publish::replace_with_link(&first, &copy.path(), before, durability);
            return linked.map(|()| 0).map_err(refusal_of);
        }
        let freed = copy.attributes().allocated().unwrap_or(0);
        match publish::replace_with_clone(&kept.file, &copy.path(), copy.attributes()) {
            Ok(Some(published)) => {
                self.clones.insert(of, (copy.row(), *copy.attributes()));
                if !published.lost_metadata.is_empty() {
                    self.lost_metadata.push((published.path, published.lost_metadata));
                }
                Ok(freed)
            }
            Ok(None) => {
                self.without_clones = copy.attributes().device();
                Err(KeepReason::NoClones.into())
            }
            Err(error) => Err(refusal_of(error)),
        }
    }
}

fn refusal_of(error: transect_transform::Error) -> Refusal {
    match error.io_error() {
        Some(source) => match source.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code).into(),
            None => io::Error::from(source.kind()).into(),
        },
        None => KeepReason::Changed.into(),
    }
}

/// Returns whether two files may be one: the same, or seen through two mounts with different device
/// numbers, as those of an overlay and of the file system below it.
fn may_be_same_file(one: &Attributes, other: &Attributes) -> bool {
    let state = |of: &Attributes| (of.inode(), of.size(), of.mtime(), of.ctime());
    one.file_id().is_some() && one.file_id() == other.file_id()
        || one.inode().is_some() && one.ctime().is_some() && state(one) == state(other)
}
