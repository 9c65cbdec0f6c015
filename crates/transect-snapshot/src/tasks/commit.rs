//! Puts the parts of a scan together.
//!
//! The rows of a part are in tree order. Where they come to a directory that was left over, those of the part that
//! read it follow: its root stands for the directory. So nothing is sorted, and every part is read forwards.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use transect::table::{Table, TableImporter};
use transect::{Cancel, Diagnostics, FieldMask, FileType, SkipReason};
use transect_sys::{ReadAt, name_from_bytes};

use super::{Item, Part, StoredPath, Task, TaskError, child_id, file_name, read_error};
use crate::metadata::{FileSystem, Metadata};
use crate::read::words::unread_reason;
use crate::read::{ReadError, RowReader, Snapshot};

/// The schema of [`Manifest`] as JSON.
const MANIFEST_SCHEMA: &str = "transect.manifest/1";

/// The number of parts that stay open for the next of their roots.
const OPEN_PARTS: usize = 16;

/// What all tables need: totals, and which names are one file.
const TOTALS: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::MTIME)
    .union(FieldMask::FILE_ID)
    .union(FieldMask::NLINK);

/// The parts of one scan, all of them.
pub struct Commit {
    /// In the order of their tasks: each before those that follow from it.
    parts: Vec<OpenPart>,
    /// For each directory that a part left over, by the number of that part: where it is a root.
    places: HashMap<(usize, Item), Place>,
}

struct OpenPart {
    id: String,
    path: PathBuf,
    snapshot: Snapshot<PartFile>,
}

/// A root of a part.
#[derive(Clone, Copy)]
enum Place {
    /// Rows of a part.
    Rows { part: usize, first: u64, rows: u64 },
    /// The directory was deleted before its task began.
    Gone,
}

/// What a finished scan consists of.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Manifest {
    schema: &'static str,
    /// The id of the first task.
    pub first: String,
    /// The parts, each before those that follow from it.
    pub parts: Vec<ManifestPart>,
    /// The number of entries of the tree.
    pub entries: u64,
    /// The number of errors inside the trees.
    pub errors: u64,
    /// Whether everything was read.
    pub complete: bool,
}

/// One part.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ManifestPart {
    /// The id of its task.
    pub id: String,
    /// The name of the file.
    pub file: String,
    /// The number of rows.
    pub rows: u64,
    /// The length of the file.
    pub bytes: u64,
}

impl Commit {
    /// Opens the parts in a folder, and checks that none is missing.
    ///
    /// # Errors
    /// Tasks have not run ([`TaskError::Pending`]), the folder has parts of several scans, or one of them is damaged.
    pub fn open(folder: &Path) -> Result<Self, TaskError> {
        let mut found = open_all(folder)?;
        let first = first_of(folder, &found)?;
        let mut parts: Vec<OpenPart> = Vec::new();
        let mut places = HashMap::new();
        let mut missing = Vec::new();
        // The ids of tasks, and the part and the list that they follow from.
        let mut ids = VecDeque::from([(first, None)]);
        while let Some((id, from)) = ids.pop_front() {
            let Some(part) = found.remove(&id) else {
                missing.push(id);
                continue;
            };
            if let Some((above, list)) = from {
                check_continues(&part, &parts[0], &parts[above], list)?;
                find_roots(above, parts.len(), &part, &mut places)?;
            }
            let lists = 0..part_of(&part.snapshot).leftover.len();
            ids.extend(lists.map(|list| (child_id(&id, list), Some((parts.len(), list)))));
            parts.push(part);
        }
        if let Some(id) = missing.first() {
            return Err(TaskError::Pending(missing.len(), id.clone()));
        }
        Ok(Self { parts, places })
    }

    /// Returns what the scan consists of.
    ///
    /// # Errors
    /// A part cannot be read.
    pub fn manifest(&self, entries: u64, metadata: &Metadata) -> Result<Manifest, TaskError> {
        let part = |part: &OpenPart| {
            let bytes =
                part.snapshot.source.size().map_err(|error| read_error(&part.path, error))?;
            let (id, rows) = (part.id.clone(), part.snapshot.len());
            Ok(ManifestPart { file: file_name(&id), id, rows, bytes })
        };
        Ok(Manifest {
            schema: MANIFEST_SCHEMA,
            first: self.parts[0].id.clone(),
            parts: self.parts.iter().map(part).collect::<Result<_, TaskError>>()?,
            entries,
            errors: metadata.errors,
            complete: metadata.complete,
        })
    }

    /// Returns the attributes that the parts have.
    fn fields(&self) -> FieldMask {
        self.parts[0].snapshot.metadata().fields()
    }

    /// Returns the metadata of the whole: what was read, and when. What only the caller knows is empty.
    pub fn metadata(&self) -> Metadata {
        let all = || self.parts.iter().map(|part| part.snapshot.metadata());
        let first = self.parts[0].snapshot.metadata();
        let mut diagnostics = Diagnostics::default();
        all().for_each(|metadata| diagnostics.merge(metadata.diagnostics()));
        diagnostics.skipped.remove(&SkipReason::LeftOver);
        let mut file_systems: BTreeMap<u64, FileSystem> = BTreeMap::new();
        for system in all().flat_map(|metadata| &metadata.file_systems) {
            file_systems.entry(system.device).or_insert_with(|| system.clone());
        }
        let mut metadata = Metadata {
            tool_version: first.tool_version.clone(),
            roots: first.roots.clone(),
            file_systems: file_systems.into_values().collect(),
            scope: first.scope,
            started: all().filter_map(|metadata| metadata.started).min(),
            ended: all().filter_map(|metadata| metadata.ended).max(),
            reader: first.reader.clone(),
            complete: all().all(|metadata| metadata.complete),
            ..Metadata::default()
        };
        metadata.set_fields(self.fields());
        metadata.set_diagnostics(&diagnostics);
        metadata
    }

    /// Reads all parts into one table, in which files with several names count once. Memory grows with the number
    /// of entries, as for every table.
    ///
    /// # Errors
    /// A part is damaged, or `cancel` is set.
    pub fn table(&self, cancel: &Cancel) -> Result<Table, TaskError> {
        let mut graft = Graft::new(self);
        while graft.advance()? {
            if cancel.is_cancelled() {
                return Err(TaskError::Cancelled);
            }
        }
        graft.finish()
    }
}

/// Removes what killed tasks left of the parts that they were writing. To be called when no task runs any more.
///
/// # Errors
/// The folder cannot be read, or a file cannot be removed.
pub fn remove_unfinished(folder: &Path) -> Result<usize, TaskError> {
    let mut removed = 0;
    for name in names(folder)? {
        if name.starts_with(".part-") && name.ends_with(".tmp") {
            let path = folder.join(name);
            fs::remove_file(&path).map_err(|error| TaskError::Write(path, error))?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Returns the names in the folder of the parts; those that are not UTF-8 are of no interest.
#[expect(clippy::disallowed_methods, reason = "one folder of the program's own files")]
fn names(folder: &Path) -> Result<Vec<String>, TaskError> {
    let failed = |error: io::Error| read_error(folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().into_string().ok());
    let names: io::Result<Vec<Option<String>>> = entries.map(name).collect();
    Ok(names.map_err(failed)?.into_iter().flatten().collect())
}

fn open_all(folder: &Path) -> Result<HashMap<String, OpenPart>, TaskError> {
    let mut found = HashMap::new();
    for name in names(folder)? {
        let id = name.strip_prefix("part-").and_then(|name| name.strip_suffix(".parquet"));
        let Some(id) = id else { continue };
        let path = folder.join(&name);
        let snapshot =
            Snapshot::new(PartFile(path.clone())).map_err(|error| read_error(&path, error))?;
        let part = snapshot.metadata().part.as_ref();
        if part.is_none_or(|part| part.task != id) {
            let path = path.display();
            return Err(TaskError::Invalid(format!("'{path}' is not the part that its name says")));
        }
        found.insert(id.to_owned(), OpenPart { id: id.to_owned(), path, snapshot });
    }
    Ok(found)
}

/// Returns the id of the first task: the one that follows from no other.
fn first_of(folder: &Path, found: &HashMap<String, OpenPart>) -> Result<String, TaskError> {
    let children = found.values().flat_map(|part| {
        let lists = 0..part_of(&part.snapshot).leftover.len();
        lists.map(|number| child_id(&part.id, number))
    });
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

fn part_of<S: ReadAt>(snapshot: &Snapshot<S>) -> &Part {
    snapshot.metadata().part.as_ref().expect("BUG: it was checked when it was opened")
}

/// Checks that a part is of the same scan as the first one, and has what another one left over for it.
fn check_continues(
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

fn inconsistent(part: &OpenPart, what: &str) -> TaskError {
    TaskError::Invalid(format!("'{}' {what}", part.path.display()))
}

/// Finds the rows of the roots of a part, which the part with the number `above` left over.
fn find_roots(
    above: usize,
    number: usize,
    open: &OpenPart,
    places: &mut HashMap<(usize, Item), Place>,
) -> Result<(), TaskError> {
    let part = part_of(&open.snapshot);
    let mut named: HashMap<OsString, &Item> = HashMap::new();
    for item in &part.items {
        let Some(root) = part.roots.get(item.root) else {
            return Err(inconsistent(open, "names a root that there is not"));
        };
        named.insert(Task::join(root.to_path(), item).into_os_string(), item);
        if places.insert((above, item.clone()), Place::Gone).is_some() {
            return Err(inconsistent(open, "has a directory twice"));
        }
    }
    let failed = |error| read_error(&open.path, error);
    let mut rows = open.snapshot.rows();
    let mut more = rows.advance().map_err(failed)?;
    while more {
        let Some(item) = named.remove(&name_from_bytes(rows.name().to_vec())) else {
            return Err(inconsistent(open, "has rows that its task did not read"));
        };
        let (first, count) = (rows.row(), rows.entries());
        places.insert((above, item.clone()), Place::Rows { part: number, first, rows: count });
        more = rows.advance_past().map_err(failed)?;
    }
    let metadata = open.snapshot.metadata();
    match named.len() as u64 <= metadata.vanished.saturating_add(metadata.errors) {
        true => Ok(()),
        false => Err(inconsistent(open, "has no rows of directories that were there")),
    }
}

/// A part whose rows are being read.
struct Frame<'c> {
    part: usize,
    rows: RowReader<'c, PartFile>,
    /// The depth of its root in the tree.
    base: usize,
    /// The name of its root in the tree.
    name: Option<OsString>,
}

/// Puts parts together, row by row.
struct Graft<'c> {
    commit: &'c Commit,
    importer: TableImporter,
    fields: FieldMask,
    /// The parts that are being read: each continues when the next one has ended.
    frames: Vec<Frame<'c>>,
    /// Readers of parts that were read before, the last one last.
    closed: VecDeque<(usize, RowReader<'c, PartFile>)>,
    /// For each open directory its part, and the errors in and below it in that part, without those of directories
    /// below it.
    errors: Vec<(usize, u64)>,
    /// The path from the root, and where each open directory of it ends.
    path: PathBuf,
    root: usize,
    /// The number of directories that were left over and have been come to. A part cannot have one twice:
    /// the names in a directory are sorted.
    placed: usize,
}

impl<'c> Graft<'c> {
    fn new(commit: &'c Commit) -> Self {
        let fields = commit.fields();
        let rows = commit.parts[0].snapshot.rows();
        Self {
            commit,
            importer: TableImporter::new(fields),
            fields: fields | TOTALS,
            frames: vec![Frame { part: 0, rows, base: 0, name: None }],
            closed: VecDeque::new(),
            errors: Vec::new(),
            path: PathBuf::new(),
            root: 0,
            placed: 0,
        }
    }

    /// Goes on with the next row, and returns whether there is one.
    fn advance(&mut self) -> Result<bool, TaskError> {
        let Some(frame) = self.frames.last_mut() else { return Ok(false) };
        let part = frame.part;
        let failed = |error: ReadError| read_error(&self.commit.parts[part].path, error);
        if frame.rows.advance().map_err(failed)? {
            self.add().map(|()| true)
        } else if let Some(Frame { part, rows, .. }) = self.frames.pop() {
            self.closed.push_back((part, rows));
            if self.closed.len() > OPEN_PARTS {
                self.closed.pop_front();
            }
            Ok(true)
        } else {
            Ok(false)
        }
    }

    /// Adds the current row to the table, or begins with the part that read it.
    fn add(&mut self) -> Result<(), TaskError> {
        let frame = self.frames.last_mut().expect("BUG: there is a current row");
        let (part, rows) = (frame.part, &frame.rows);
        let level = frame.base + rows.depth() as usize;
        let name = frame.name.take().unwrap_or_else(|| name_from_bytes(rows.name().to_vec()));
        let is_left_over = rows.file_type() == FileType::Directory
            && rows.unread() == Some(SkipReason::LeftOver.as_str());
        let attributes = rows.attributes_of(self.fields);
        let (own_errors, unread) = (rows.errors().unwrap_or(0), rows.unread());
        while self.importer.depth() > level {
            self.leave()?;
        }
        if level == 0 {
            self.root = self.root_of(&name)?;
        }
        if is_left_over {
            return self.begin(part, level, name);
        }
        if attributes.file_type() != FileType::Directory {
            self.importer.add_entry(&name, &attributes);
            return Ok(());
        }
        if let Some((above, errors)) = self.errors.last_mut()
            && *above == part
        {
            *errors = errors.saturating_sub(own_errors);
        }
        self.importer.enter(&name, &attributes);
        self.errors.push((part, own_errors));
        if level > 0 {
            self.path.push(&name);
        }
        if let Some(word) = unread {
            self.importer.mark_unread(unread_reason(word));
        }
        Ok(())
    }

    /// Begins with the part that read a directory which a part left over, if it was still there.
    fn begin(&mut self, part: usize, level: usize, name: OsString) -> Result<(), TaskError> {
        let path = if level == 0 { PathBuf::new() } else { self.path.join(&name) };
        let item = Item { root: self.root, path: StoredPath::new(&path) };
        self.placed += 1;
        match self.commit.places.get(&(part, item)).copied() {
            Some(Place::Rows { part, first, rows: count }) => {
                let kept = self.closed.iter().position(|(closed, _)| *closed == part);
                let rows = match kept.and_then(|at| self.closed.remove(at)) {
                    Some((_, mut rows)) => {
                        rows.restart(first, first + count);
                        rows
                    }
                    None => self.commit.parts[part].snapshot.rows_of(first, count),
                };
                self.frames.push(Frame { part, rows, base: level, name: Some(name) });
                Ok(())
            }
            Some(Place::Gone) => Ok(()),
            None => {
                let part = &self.commit.parts[part];
                Err(inconsistent(part, &format!("left '{}' over for no task", path.display())))
            }
        }
    }

    fn root_of(&self, name: &OsString) -> Result<usize, TaskError> {
        let first = &self.commit.parts[0];
        let mut roots = part_of(&first.snapshot).roots.iter();
        let root = roots.position(|root| root.to_path().as_os_str() == name);
        root.ok_or_else(|| inconsistent(first, "has a root that its scan does not have"))
    }

    fn leave(&mut self) -> Result<(), TaskError> {
        // Each costs memory; a count that no walk can reach is a claim.
        let (_, own) = self.errors.pop().unwrap_or_default();
        self.importer.count_errors(own.min(1 << 20));
        if self.importer.depth() > 1 {
            self.path.pop();
        }
        self.importer
            .leave()
            .map_err(|name| TaskError::Invalid(format!("two parts have '{}'", name.display())))
    }

    fn finish(mut self) -> Result<Table, TaskError> {
        let left = self.commit.places.len() - self.placed;
        if left > 0 {
            let what = format!("{left} directories that were left over are in no part");
            return Err(TaskError::Invalid(what));
        }
        while self.importer.depth() > 0 {
            self.leave()?;
        }
        self.importer.set_diagnostics(self.commit.metadata().diagnostics());
        self.importer.finish().map_err(TaskError::Walk)
    }
}

/// A file that is open only while it is read: there can be more parts than a process may open.
#[derive(Debug)]
struct PartFile(PathBuf);

impl ReadAt for PartFile {
    fn size(&self) -> io::Result<u64> {
        File::open(&self.0)?.size()
    }

    fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()> {
        File::open(&self.0)?.read_exact_at(offset, block)
    }
}
