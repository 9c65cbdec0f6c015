//! Runs one task.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use transect::table::{Table, TableBuilder, UnreadReason};
use transect::{Cancel, FaultKind, Operation, Outcome, ScanOptions, SkipReason, WorkLimit};

use super::publish::publish;
use super::{Item, Part, RESULT_SCHEMA, StoredPath, Task, TaskError, TaskResult};
use super::{file_name, read_error};
use crate::metadata::{Metadata, Scope};
use crate::read::Snapshot;
use crate::write::WriteError;

impl Task {
    /// Reads what the task is to read, and publishes a part in `folder`. If the part is there already, its task
    /// is not run again: what the part left over may be the work of other tasks by now.
    ///
    /// # Errors
    /// The folder cannot be written, or `cancel` is set. Errors inside the trees are counted in the part.
    pub fn run(&self, folder: &Path, cancel: &Cancel) -> Result<TaskResult, TaskError> {
        let path = folder.join(file_name(&self.id));
        if path.exists() {
            return self.adopt(&path);
        }
        let started = now();
        let (table, outcome) = self.walk(cancel)?;
        if outcome.interrupted {
            return Err(TaskError::Cancelled);
        }
        let part = self.part(&table);
        let mut metadata = Metadata::of_walk(&table, &outcome);
        self.forgive_vanished(&mut metadata);
        metadata.skipped.remove(SkipReason::LeftOver.as_str());
        metadata.scope = Some(Scope {
            one_file_system: self.options.one_file_system,
            pseudo: self.options.pseudo,
            ..Scope::default()
        });
        (metadata.started, metadata.ended) = (Some(started), Some(now()));
        metadata.part = Some(part);
        let name = file_name(&self.id);
        let is_new =
            publish(folder, &name, |out| Ok(crate::write(&table, &metadata, cancel, out)?));
        match is_new {
            Ok(true) => Ok(self.result(table.len(), &metadata, false)),
            Ok(false) => self.adopt(&path),
            Err(_) if cancel.is_cancelled() => Err(TaskError::Cancelled),
            Err(error) => Err(TaskError::Write(path, error)),
        }
    }

    fn walk(&self, cancel: &Cancel) -> Result<(Table, Outcome<()>), TaskError> {
        let until = self.seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        let plan = ScanOptions::new(self.items.iter().map(|item| self.path_of(item)))
            .one_file_system(self.options.one_file_system)
            .pseudo_file_systems(self.options.pseudo)
            .work_limit(WorkLimit { entries: self.entries, until })
            .cancel(cancel.clone())
            .plan()
            .map_err(TaskError::Walk)?;
        let builder = TableBuilder::new(self.fields());
        let (sink, outcome) = plan.run(|| builder.sink()).map_err(TaskError::Walk)?.split();
        Ok((sink.into_table().map_err(TaskError::Walk)?, outcome))
    }

    /// Returns what the part says: the directories that are left over, in tree order.
    fn part(&self, table: &Table) -> Part {
        let items: HashMap<PathBuf, &Item> =
            self.items.iter().map(|item| (self.path_of(item), item)).collect();
        let left_over = UnreadReason::Skipped(SkipReason::LeftOver);
        let mut left = Vec::new();
        let mut rows = table.in_tree_order();
        let mut root = None;
        while rows.advance(true) {
            let row = rows.row();
            if rows.depth() == 0 {
                root = Some(table.path(row));
            }
            if let Some(root) = &root
                && table.unread_reason(row) == Some(left_over)
            {
                left.push(left_item(items[root], root, &table.path(row)));
            }
        }
        Part {
            task: self.id.clone(),
            roots: self.roots.clone(),
            items: self.items.clone(),
            options: self.options,
            leftover: split(left, self.split),
        }
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
        let snapshot = Snapshot::open(path).map_err(|error| read_error(path, error))?;
        let metadata = snapshot.metadata();
        let is_own = |part: &Part| {
            part.task == self.id && part.roots == self.roots && part.options == self.options
        };
        if !metadata.part.as_ref().is_some_and(is_own) {
            let path = path.display();
            return Err(TaskError::Invalid(format!("'{path}' is the part of another scan")));
        }
        Ok(self.result(snapshot.len(), metadata, true))
    }

    fn result(&self, rows: u64, metadata: &Metadata, adopted: bool) -> TaskResult {
        let lists = metadata.part.iter().flat_map(|part| part.leftover.iter().cloned());
        TaskResult {
            schema: RESULT_SCHEMA,
            task: self.id.clone(),
            part: file_name(&self.id),
            rows,
            errors: metadata.errors,
            adopted,
            tasks: lists.enumerate().map(|(number, items)| self.child(number, items)).collect(),
        }
    }
}

/// Returns the item of a directory that is left over below an item, whose path is `root`.
fn left_item(item: &Item, root: &Path, path: &Path) -> Item {
    let below = path.strip_prefix(root).expect("BUG: a row lies below its root");
    if below.as_os_str().is_empty() {
        return item.clone();
    }
    Item { root: item.root, path: StoredPath::new(&item.path.to_path().join(below)) }
}

/// Returns the items in at most `lists` lists of neighbours, as long as each other.
fn split(items: Vec<Item>, lists: usize) -> Vec<Vec<Item>> {
    let length = items.len().div_ceil(lists).max(1);
    items.chunks(length).map(<[Item]>::to_vec).collect()
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

impl From<WriteError> for TaskError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Cancelled => Self::Cancelled,
            error => Self::Write(PathBuf::new(), error.into()),
        }
    }
}
