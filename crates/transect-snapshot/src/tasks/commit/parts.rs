//! The parts in a directory: which there are, and whether they fit together.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use transect::SkipReason;
use transect_sys::ReadAt;
use transect_sys::input::open_regular;

use crate::read::Snapshot;
use crate::schema::Column;
use crate::tasks::{TaskError, part_of, read_error};

pub(super) struct OpenPart {
    pub(super) id: String,
    pub(super) path: PathBuf,
    pub(super) snapshot: Snapshot<PartFile>,
    /// The rows of the directories that it left over.
    left_over: Vec<u64>,
}

impl OpenPart {
    /// Returns whether one of these rows is a directory that was left over.
    pub(super) fn leaves_over(&self, rows: &Range<u64>) -> bool {
        let first = self.left_over.partition_point(|&row| row < rows.start);
        self.left_over.get(first).is_some_and(|row| rows.contains(row))
    }
}

/// Removes what killed tasks left of the parts that they were writing. To be called when no task runs any more.
///
/// # Errors
/// The directory cannot be read, or a file cannot be removed.
pub fn remove_unfinished(folder: &Path) -> Result<usize, TaskError> {
    let mut removed = 0;
    for (name, entry) in entries(folder)? {
        if name.starts_with(".part-") && name.ends_with(".tmp") {
            let path = entry.path();
            fs::remove_file(&path).map_err(|error| TaskError::Write(path, error))?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Returns the entries of the directory of the parts, with their names; those that are not UTF-8 are of no interest.
#[expect(clippy::disallowed_methods, reason = "one directory of the program's own files")]
fn entries(folder: &Path) -> Result<Vec<(String, fs::DirEntry)>, TaskError> {
    let failed = |error: io::Error| read_error(folder, error);
    let named = |entry: fs::DirEntry| Some((entry.file_name().into_string().ok()?, entry));
    let entries: io::Result<Vec<_>> = fs::read_dir(folder).map_err(failed)?.collect();
    Ok(entries.map_err(failed)?.into_iter().filter_map(named).collect())
}

/// Returns the ids and the files of the parts in a directory.
///
/// # Errors
/// The directory cannot be read, or something with the name of a part is not a regular file but, say, a link or a pipe.
pub(in crate::tasks) fn part_files(folder: &Path) -> Result<Vec<(String, PathBuf)>, TaskError> {
    let mut files = Vec::new();
    for (name, entry) in entries(folder)? {
        let id = name.strip_prefix("part-").and_then(|name| name.strip_suffix(".parquet"));
        let Some(id) = id else { continue };
        let path = entry.path();
        let file_type = entry.file_type().map_err(|error| read_error(&path, error))?;
        if !file_type.is_file() {
            return Err(not_regular(&path));
        }
        files.push((id.to_owned(), path));
    }
    Ok(files)
}

pub(in crate::tasks) fn not_regular(path: &Path) -> TaskError {
    TaskError::Invalid(format!("'{}' is not a regular file", path.display()))
}

pub(super) fn open_all(folder: &Path) -> Result<HashMap<String, OpenPart>, TaskError> {
    let mut found = HashMap::new();
    for (id, path) in part_files(folder)? {
        let snapshot =
            Snapshot::new(PartFile::new(path.clone())).map_err(|error| read_error(&path, error))?;
        let part = snapshot.metadata().part.as_ref();
        let has_rest = part.is_some_and(|part| !part.leftover.is_empty());
        if part.is_none_or(|part| part.task != id) {
            let path = path.display();
            return Err(TaskError::Invalid(format!("'{path}' is not the part that its name says")));
        }
        let left_over = match has_rest {
            true => {
                snapshot.column(Column::Unread).rows_with(SkipReason::LeftOver.as_str().as_bytes())
            }
            false => Ok(Vec::new()),
        };
        let left_over = left_over.map_err(|error| read_error(&path, error))?;
        found.insert(id.clone(), OpenPart { id, path, snapshot, left_over });
    }
    Ok(found)
}

/// Returns the id of the first task: the one that follows from no other.
pub(super) fn first_of(
    folder: &Path,
    found: &HashMap<String, OpenPart>,
) -> Result<String, TaskError> {
    let children = found.values().flat_map(|part| part_of(&part.snapshot).child_ids());
    let children: std::collections::HashSet<String> = children.collect();
    let mut first = found.keys().filter(|id| !children.contains(*id));
    let folder = folder.display();
    match (first.next(), first.next()) {
        (Some(first), None) => Ok(first.clone()),
        (None, _) => Err(TaskError::Invalid(format!("'{folder}' has no parts of a scan"))),
        _ => Err(TaskError::Invalid(format!(
            "'{folder}' has parts of several scans, or the first part is missing"
        ))),
    }
}

/// Checks that a part is of the same scan as the first one, and has what another one left over for it.
pub(super) fn check_continues(
    open: &OpenPart,
    first: &OpenPart,
    above: &OpenPart,
    list: usize,
) -> Result<(), TaskError> {
    let (part, first, above) =
        (part_of(&open.snapshot), part_of(&first.snapshot), part_of(&above.snapshot));
    if part.roots != first.roots || part.options != first.options {
        return Err(inconsistent(open, "is the part of another scan"));
    }
    match part.items == above.leftover[list] {
        true => Ok(()),
        false => Err(inconsistent(open, "has not what was left over for it")),
    }
}

pub(super) fn inconsistent(part: &OpenPart, what: &str) -> TaskError {
    TaskError::Invalid(format!("'{}' {what}", part.path.display()))
}

/// A file of which a handle is kept only for some time: there can be more parts than a process may open.
#[derive(Debug)]
pub(super) struct PartFile {
    path: PathBuf,
    kept: Mutex<Option<File>>,
}

impl PartFile {
    fn new(path: PathBuf) -> Self {
        Self { path, kept: Mutex::new(None) }
    }

    /// Keeps the file open from now on. An error shows when it is read.
    pub(super) fn keep_open(&self) {
        let mut kept = self.kept();
        if kept.is_none() {
            *kept = open_regular(&self.path).ok();
        }
    }

    pub(super) fn close(&self) {
        *self.kept() = None;
    }

    fn kept(&self) -> MutexGuard<'_, Option<File>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, read: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        match &*self.kept() {
            Some(file) => read(file),
            None => read(&open_regular(&self.path)?),
        }
    }
}

impl ReadAt for PartFile {
    fn size(&self) -> io::Result<u64> {
        self.with(ReadAt::size)
    }

    fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()> {
        self.with(|file| file.read_exact_at(offset, block))
    }
}
