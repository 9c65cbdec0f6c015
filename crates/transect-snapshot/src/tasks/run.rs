//! Runs one task.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use transect::internal::WorkLimit;
use transect::table::{Table, TableBuilder, TableImporter, UnreadReason};
use transect::{
    Attributes, Cancel, FaultKind, FieldMask, FileType, Operation, Outcome, ScanOptions, SkipReason,
};
use transect_sys::file::{attributes_at, query_attributes};
use transect_sys::host::{now, random};

use super::commit::{not_regular, part_files};
use super::publish::publish;
use super::ranges;
use super::sink::{Left, Ranges, TaskSink};
use super::{Item, MANIFEST_NAME, Part, RESULT_SCHEMA, StoredPath, Task, TaskError, TaskResult};
use super::{file_name, read_error};
use crate::metadata::{Metadata, Scope};

/// The message of errors about directories whose task was given up.
const GIVEN_UP: &str = "its task was given up";

impl Task {
    /// Reads what the task is to read, and publishes a part in `directory`. If the part exists already, its task
    /// is not run again: what the part left over may be the work of other tasks by now.
    ///
    /// # Errors
    /// A root does not exist, the directory cannot be used ([`check_folder`]) or written, or `cancel` is set. Errors inside
    /// the trees are counted in the part.
    pub fn run(&self, folder: &Path, cancel: &Cancel) -> Result<TaskResult, TaskError> {
        self.run_with(folder, ScanOptions::default().cancel(cancel.clone()))
    }

    /// As [`Task::run`], with options of the walk: the reader, its settings, the threads, the progress. The task sets
    /// those that say what is read. What filters leave out, its own and those of the options, is as if it were not there.
    ///
    /// # Errors
    /// As [`Task::run`]; the options do not fit together.
    pub fn run_with(&self, folder: &Path, options: ScanOptions) -> Result<TaskResult, TaskError> {
        if let Some(result) = self.published(folder)? {
            return Ok(result);
        }
        check_folder(folder)?;
        self.check_roots()?;
        self.run_new(folder, options)
    }

    /// Runs a task that has no part yet. A root that does not exist is an error in the part.
    pub(super) fn run_new(
        &self,
        folder: &Path,
        options: ScanOptions,
    ) -> Result<TaskResult, TaskError> {
        let started = now();
        let cancel = &options.cancel.clone();
        let (table, left, outcome) = self.walk(options)?;
        if outcome.interrupted {
            return Err(TaskError::Cancelled);
        }
        let leftover = self.left_over(&table, &left, cancel);
        let mut metadata = Metadata::of_walk(&table, &outcome);
        self.forgive_vanished(&mut metadata);
        for reason in [SkipReason::LeftOver, SkipReason::Excluded] {
            metadata.skipped.remove(reason.as_str());
        }
        metadata.started = Some(started);
        self.publish(folder, &table, metadata, leftover, cancel)
    }

    /// Publishes the part of a task that does not end wherever it runs: it has an error for each directory, and
    /// nothing of what is in them. If the part exists already, nothing is given up.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn give_up(&self, folder: &Path) -> Result<TaskResult, TaskError> {
        if let Some(result) = self.published(folder)? {
            return Ok(result);
        }
        check_folder(folder)?;
        let mut importer = TableImporter::new(self.fields());
        let mut roots = Vec::new();
        for item in &self.items {
            let path = self.path_of(item);
            // To query it may be what does not end.
            importer.enter(path.as_os_str(), &Attributes::of_type(FileType::Directory));
            importer.fail_directory(io::Error::new(io::ErrorKind::TimedOut, GIVEN_UP));
            let _ = importer.leave();
            roots.push(path.to_string_lossy().into_owned());
        }
        let table = importer.finish().map_err(TaskError::Walk)?;
        let mut metadata = Metadata::of_table(&table, roots);
        metadata.started = Some(now());
        self.publish(folder, &table, metadata, Vec::new(), &Cancel::new())
    }

    /// Publishes a part, or adopts the one that is there.
    fn publish(
        &self,
        folder: &Path,
        table: &Table,
        metadata: Metadata,
        leftover: Vec<Vec<Item>>,
        cancel: &Cancel,
    ) -> Result<TaskResult, TaskError> {
        let metadata = Metadata {
            scope: Some(Scope {
                one_file_system: self.options.one_file_system,
                pseudo: self.options.pseudo,
                filtered: !self.options.exclude.is_empty(),
                ..Scope::default()
            }),
            ended: Some(now()),
            part: Some(Part {
                task: self.id.clone(),
                roots: self.roots.clone(),
                items: self.items.clone(),
                options: self.options.clone(),
                leftover,
                salt: format!("{:016x}{:016x}", random(), random()),
            }),
            ..metadata
        };
        let name = file_name(&self.id);
        let path = folder.join(&name);
        let is_new =
            publish(folder, &name, |out| crate::write(table, &metadata, cancel, out).map(drop));
        match is_new {
            Ok(true) => Ok(self.result(table.len(), &metadata, false)),
            Ok(false) => self.adopt(&path),
            Err(_) if cancel.is_cancelled() => Err(TaskError::Cancelled),
            Err(error) => Err(TaskError::Write(path, error)),
        }
    }

    /// Returns the result of the task if its part is there.
    ///
    /// # Errors
    /// The part cannot be read, or is of another scan.
    pub fn published(&self, folder: &Path) -> Result<Option<TaskResult>, TaskError> {
        let path = folder.join(file_name(&self.id));
        match query_attributes(&path, FieldMask::empty(), false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(read_error(&path, error)),
            Ok(there) if there.file_type() == FileType::File => self.adopt(&path).map(Some),
            Ok(_) => Err(not_regular(&path)),
        }
    }

    fn walk(&self, mut options: ScanOptions) -> Result<(Table, Left, Outcome<()>), TaskError> {
        let until = self.seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        options.roots = self.items_by_task().0.into_iter().map(|item| self.path_of(item)).collect();
        options.filters.globs.extend(self.options.globs());
        let plan = options
            .same_file_system(self.options.one_file_system)
            .pseudo_file_systems(self.options.pseudo)
            .work_limit(
                WorkLimit::entries(self.entries)
                    .until(until)
                    .entries_of_directory(self.entries_of_directory),
            )
            .plan()
            .map_err(TaskError::Walk)?;
        let builder = TableBuilder::new(self.fields());
        let ranges = Arc::new(self.ranges());
        let sink = || TaskSink::new(builder.sink(), &ranges);
        let (sink, outcome) = plan.run(sink).map_err(TaskError::Walk)?.split();
        let (table, left) = sink.finish().map_err(TaskError::Walk)?;
        Ok((table, left, outcome))
    }

    /// Returns the ranges of names to which roots of the walk are limited.
    fn ranges(&self) -> Ranges {
        let range = |item: &Item| {
            let bounds = item.names.as_ref()?.bounds();
            Some((self.path_of(item).into_os_string(), bounds))
        };
        self.items_by_task().0.into_iter().filter_map(range).collect()
    }

    /// Checks that the roots exist of what this task reads. Where the tree is at another path, or is not mounted, it would
    /// be stored as empty or deleted.
    ///
    /// # Errors
    /// A root cannot be queried.
    pub fn check_roots(&self) -> Result<(), TaskError> {
        let roots: HashSet<usize> = self.items.iter().map(|item| item.root).collect();
        for root in roots.into_iter().map(|root| self.roots[root].to_path()) {
            attributes_at(&root).map_err(|error| {
                let (root, reason) = (root.display(), transect::reason(&error));
                TaskError::Invalid(format!("cannot access '{root}': {reason}"))
            })?;
        }
        Ok(())
    }

    /// Returns what this task reads, of each directory that is divided only the first of its ranges; and the other
    /// ranges, which are the work of the tasks that follow.
    fn items_by_task(&self) -> (Vec<&Item>, Vec<&Item>) {
        let mut divided = HashSet::new();
        self.items
            .iter()
            .partition(|item| item.names.is_none() || divided.insert((item.root, &item.path)))
    }

    /// Returns the directories that are left over, in tree order, in a list for each task that follows. Large ones
    /// are divided.
    fn left_over(&self, table: &Table, left: &Left, cancel: &Cancel) -> Vec<Vec<Item>> {
        let (read, passed_on) = self.items_by_task();
        let items: HashMap<PathBuf, &Item> =
            read.into_iter().map(|item| (self.path_of(item), item)).collect();
        let left_over = UnreadReason::Skipped(SkipReason::LeftOver);
        let mut found = Vec::new();
        let mut rows = table.in_tree_order();
        let mut root = None;
        while rows.advance(true) {
            let row = rows.row();
            if rows.depth() == 0 {
                root = Some(table.path(row));
            }
            let Some(root) = &root else { continue };
            let is_read_elsewhere = rows.depth() == 0
                && items[root].names.is_some()
                && !left.ranges.contains(root.as_os_str());
            if table.unread_reason(row) != Some(left_over) || is_read_elsewhere {
                continue;
            }
            let path = table.path(row);
            let item = left_item(items[root], root, &path);
            if left.large.contains(&path) {
                let range = item.names.clone().unwrap_or_default();
                let ranges = ranges::divide(&path, &range, self.entries_of_directory, cancel);
                found.extend(
                    ranges.into_iter().map(|range| Item { names: Some(range), ..item.clone() }),
                );
            } else {
                found.push(item);
            }
        }
        found.extend(passed_on.into_iter().cloned());
        split(found, self.split)
    }

    /// Counts directories as deleted, not as errors, that were there when they were left over and are gone now.
    fn forgive_vanished(&self, metadata: &mut Metadata) {
        let later: HashSet<StoredPath> = self
            .items
            .iter()
            .filter(|item| !item.path.is_empty())
            .map(|item| StoredPath::new(&self.path_of(item)))
            .collect();
        let (stat, not_found) = (Operation::Stat.as_str(), FaultKind::NotFound.as_str());
        let before = metadata.error_list.len();
        metadata.error_list.retain(|error| {
            let is_meant = error.depth == 0 && error.operation == stat && error.kind == not_found;
            !is_meant || !later.contains(&error.stored_path())
        });
        let vanished = (before - metadata.error_list.len()) as u64;
        metadata.errors -= vanished;
        metadata.vanished += vanished;
        if let Some(count) = metadata.errors_by.get_mut(stat).and_then(|by| by.get_mut(not_found)) {
            *count -= vanished;
        }
        metadata.errors_by.iter_mut().for_each(|(_, by)| by.retain(|_, count| *count > 0));
        metadata.errors_by.retain(|_, by| !by.is_empty());
        metadata.complete = metadata.errors == 0;
    }

    /// Returns the result that belongs to a part that is there.
    fn adopt(&self, path: &Path) -> Result<TaskResult, TaskError> {
        let snapshot = self.open_part(path, &self.id)?;
        Ok(self.result(snapshot.len(), snapshot.metadata(), true))
    }

    fn result(&self, rows: u64, metadata: &Metadata, adopted: bool) -> TaskResult {
        let follow = |part: &Part| -> Vec<Task> {
            (0..part.leftover.len()).map(|list| self.child(part, list)).collect()
        };
        TaskResult {
            schema: RESULT_SCHEMA,
            task: self.id.clone(),
            part: file_name(&self.id),
            rows,
            errors: metadata.errors,
            adopted,
            tasks: metadata.part.as_ref().map(follow).unwrap_or_default(),
        }
    }
}

/// Returns the item of a directory that is left over below an item, whose path is `root`.
fn left_item(item: &Item, root: &Path, path: &Path) -> Item {
    let below = path.strip_prefix(root).expect("BUG: a row lies below its root");
    if below.as_os_str().is_empty() {
        return item.clone();
    }
    let path = StoredPath::new(&item.path.to_path().join(below));
    Item { root: item.root, path, names: None }
}

/// Returns the items in at most `lists` lists of neighbours, as long as each other.
fn split(items: Vec<Item>, lists: usize) -> Vec<Vec<Item>> {
    let length = items.len().div_ceil(lists).max(1);
    items.chunks(length).map(<[Item]>::to_vec).collect()
}

/// Checks before a task that its part can be committed.
///
/// # Errors
/// The directory has a finished scan, with whose parts it would be mixed; or something with the name of a part is not a regular
/// file.
pub fn check_folder(folder: &Path) -> Result<(), TaskError> {
    match attributes_at(&folder.join(MANIFEST_NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => part_files(folder).map(drop),
        Err(error) => Err(read_error(folder, error)),
        Ok(_) => Err(TaskError::Invalid(format!(
            "'{}' has a finished scan; use another directory, or `transect commit` to store its parts again",
            folder.display()
        ))),
    }
}
