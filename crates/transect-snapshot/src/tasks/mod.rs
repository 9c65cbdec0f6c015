//! One scan as many tasks, on one machine or many.
//!
//! ```text
//! first task ─► run() ─► part, a snapshot of what it read ─────────────────┐
//!                 │                                                        ├─► commit() ─► one snapshot
//!                 └─► directories left over ─► tasks ─► run() ─► parts ────┘
//! ```
//!
//! A task reads its directories until it has read enough. The part that it publishes names the directories that
//! are left over, in lists: each is the work of another task, whose id follows from that part. So the parts alone
//! say what is left to do; there is no other state. `docs/FORMAT.md` describes them.

mod commit;
mod in_process;
mod publish;
mod ranges;
mod run;
mod sink;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use transect::{Error, FieldMask, Filters, ScanOptions};

use crate::read::{ReadAt, ReadError, Snapshot};

pub use crate::part::{Item, NameRange, Part, TaskOptions};
pub use crate::stored_path::StoredPath;

use crate::part::id_of;

pub use run::check_folder;

pub use commit::{Commit, CommitLimits, Manifest, ManifestPart, Outlined, remove_unfinished};

/// The name of the file that says what a finished scan consists of, in the directory of its parts.
pub const MANIFEST_NAME: &str = "_manifest.json";

const TASK_SCHEMA: &str = "transect.task/1";
const RESULT_SCHEMA: &str = "transect.task_result/1";

/// The attributes that every snapshot has.
pub const DEFAULT_FIELDS: FieldMask = FieldMask::MTIME
    .union(FieldMask::MODE)
    .union(FieldMask::UID)
    .union(FieldMask::GID)
    .union(FieldMask::NLINK)
    .union(FieldMask::FILE_ID)
    .union(FieldMask::ATTRIBUTES)
    .union(FieldMask::REPARSE_TAG);

/// What a task reads, and how much of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    schema: String,
    /// 32 hexadecimal digits. Those of a later task follow from the part that left it over.
    pub id: String,
    /// The roots of the scan: absolute paths.
    pub roots: Vec<StoredPath>,
    /// What this task reads; no item lies in another one.
    pub items: Vec<Item>,
    /// The same for all tasks of a scan.
    pub options: TaskOptions,
    /// The number of entries after which no directory is begun.
    pub entries: u64,
    /// The maximum number of entries of a directory that one task reads; larger ones are shared out by ranges of
    /// their names.
    pub entries_of_directory: u64,
    /// The number of seconds after which no directory is begun; no limit if it is missing.
    pub seconds: Option<f64>,
    /// The maximum number of tasks that what is left over is shared among.
    pub split: usize,
}

impl Task {
    /// Returns the first task of a scan: with a million entries, half a minute, and four tasks after it, for
    /// directories with up to 250,000 entries.
    ///
    /// # Errors
    /// A root is not absolute, or lies in another one; or a glob cannot be used.
    pub fn first(roots: &[PathBuf], options: TaskOptions) -> Result<Self, TaskError> {
        for (index, root) in roots.iter().enumerate() {
            if !root.is_absolute() {
                return Err(TaskError::Invalid(format!("'{}' is not absolute", root.display())));
            }
            let others = roots.iter().enumerate().filter(|(other, _)| *other != index);
            if let Some((_, other)) = others.into_iter().find(|(_, other)| root.starts_with(other))
            {
                let (root, other) = (root.display(), other.display());
                return Err(TaskError::Invalid(format!("'{root}' lies in '{other}'")));
            }
        }
        let roots: Vec<StoredPath> = roots.iter().map(|root| StoredPath::new(root)).collect();
        let identity =
            serde_json::to_vec(&(TASK_SCHEMA, &roots, &options)).expect("BUG: plain text");
        let items = 0..roots.len();
        let task = Self {
            schema: TASK_SCHEMA.to_owned(),
            id: id_of(&identity),
            items: items.map(|root| Item { root, ..Item::default() }).collect(),
            roots,
            options,
            entries: 1_000_000,
            entries_of_directory: 250_000,
            seconds: Some(30.0),
            split: 4,
        };
        task.checked()
    }

    /// Reads a task from JSON.
    ///
    /// # Errors
    /// It is not a task of this version.
    pub fn from_json(text: &[u8]) -> Result<Self, TaskError> {
        let invalid = |why: &dyn fmt::Display| TaskError::Invalid(format!("not a task: {why}"));
        let task: Self = serde_json::from_slice(text).map_err(|error| invalid(&error))?;
        if task.schema != TASK_SCHEMA {
            return Err(invalid(&format_args!(
                "its schema is '{}', not '{TASK_SCHEMA}'",
                task.schema
            )));
        }
        task.checked()
    }

    /// Returns the task, after a limit was changed.
    ///
    /// # Errors
    /// What it asks for cannot be.
    pub fn checked(self) -> Result<Self, TaskError> {
        let invalid = |why: &str| TaskError::Invalid(format!("not a task: {why}"));
        if !is_id(&self.id) {
            return Err(invalid("its id has no 32 hexadecimal digits"));
        }
        if self.items.iter().any(|item| item.root >= self.roots.len() || !item.path.is_below()) {
            return Err(invalid("a directory lies outside of the roots"));
        }
        let is_no_time = self.seconds.is_some_and(|seconds| !(0.0..1e9).contains(&seconds));
        if is_no_time || self.split == 0 || self.entries_of_directory == 0 {
            return Err(invalid("a limit is out of range"));
        }
        if let Some(glob) = self.options.exclude.iter().find(|glob| glob.contains('/')) {
            let why = format!("cannot exclude '{glob}': tasks match names, not paths");
            return Err(TaskError::Invalid(why));
        }
        let filters = Filters::new().globs(self.options.globs());
        let roots = self.roots.iter().map(StoredPath::to_path);
        ScanOptions::new(roots).filters(filters).plan().map_err(TaskError::Walk)?;
        Ok(self)
    }

    /// Returns the task that reads the list with this number of what the task with the id `above` left over. `self` is a
    /// task of the same scan, whose limits it gets.
    ///
    /// # Errors
    /// The part of the other task is not in the directory, cannot be read, is of another scan, or has no such list.
    pub fn following(&self, folder: &Path, above: &str, list: usize) -> Result<Self, TaskError> {
        if !is_id(above) {
            return Err(TaskError::Invalid(format!("'{above}' is not the id of a task")));
        }
        let path = folder.join(file_name(above));
        let snapshot = self.open_part(&path, above)?;
        let part = part_of(&snapshot);
        if list >= part.leftover.len() {
            let what = format!("'{}' has no list {list} of what is left over", path.display());
            return Err(TaskError::Invalid(what));
        }
        Ok(self.child(part, list))
    }

    fn open_part(&self, path: &Path, task: &str) -> Result<Snapshot, TaskError> {
        let snapshot = Snapshot::open(path).map_err(|error| read_error(path, error))?;
        let is_own = |part: &Part| {
            part.task == task && part.roots == self.roots && part.options == self.options
        };
        if !snapshot.metadata().part.as_ref().is_some_and(is_own) {
            let what = format!("'{}' is the part of another scan", path.display());
            return Err(TaskError::Invalid(what));
        }
        Ok(snapshot)
    }

    /// Returns the task that reads the list with this number of what a part left over.
    fn child(&self, part: &Part, number: usize) -> Self {
        Self {
            schema: self.schema.clone(),
            id: part.child_id(number),
            roots: self.roots.clone(),
            items: part.leftover[number].clone(),
            options: self.options.clone(),
            ..*self
        }
    }

    fn path_of(&self, item: &Item) -> PathBuf {
        Self::join(self.roots[item.root].to_path(), item)
    }

    /// Returns the path of an item of a root.
    fn join(root: PathBuf, item: &Item) -> PathBuf {
        if item.path.is_empty() { root } else { root.join(item.path.to_path()) }
    }

    fn fields(&self) -> FieldMask {
        let times = if self.options.all_times { FieldMask::TIMES } else { FieldMask::empty() };
        DEFAULT_FIELDS | times
    }
}

/// Returns what an opened part says about its task.
fn part_of<S: ReadAt>(snapshot: &Snapshot<S>) -> &Part {
    snapshot.metadata().part.as_ref().expect("BUG: it was checked when it was opened")
}

fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

fn file_name(id: &str) -> String {
    format!("part-{id}.parquet")
}

/// What a task did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TaskResult {
    schema: &'static str,
    /// The id of the task.
    pub task: String,
    /// The name of the part's file.
    pub part: String,
    /// The number of rows of the part.
    pub rows: u64,
    /// The number of errors inside the trees.
    pub errors: u64,
    /// The part was there before, or another process published it first.
    pub adopted: bool,
    /// The tasks that follow.
    pub tasks: Vec<Task>,
}

/// Why a task, or a commit, failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum TaskError {
    /// It asks for something that cannot be.
    Invalid(String),
    /// It was interrupted: nothing is published.
    Cancelled,
    /// The walk could not begin.
    Walk(Error),
    /// A part cannot be written.
    Write(PathBuf, io::Error),
    /// A part, or the directory of the parts, cannot be read.
    Read(PathBuf, ReadError),
    /// Parts are missing: this many tasks have not run. One of their ids.
    Pending(usize, String),
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(why) => f.write_str(why),
            Self::Cancelled => f.write_str("interrupted"),
            Self::Walk(error) => error.fmt(f),
            Self::Write(path, error) => {
                write!(f, "cannot write '{}': {}", path.display(), transect::reason(error))
            }
            Self::Read(path, error) => write!(f, "cannot read '{}': {error}", path.display()),
            Self::Pending(1, id) => write!(f, "the scan is not finished: task {id} has not run"),
            Self::Pending(tasks, id) => {
                write!(
                    f,
                    "the scan is not finished: {tasks} tasks have not run, {id} is one of them"
                )
            }
        }
    }
}

impl std::error::Error for TaskError {}

impl From<io::Error> for TaskError {
    fn from(error: io::Error) -> Self {
        Self::Write(PathBuf::new(), error)
    }
}

fn read_error(path: &Path, error: impl Into<ReadError>) -> TaskError {
    TaskError::Read(path.to_owned(), error.into())
}
