//! Runs all tasks of a scan in this process, in memory that does not grow with the number of entries.

use std::path::Path;

use transect::ScanOptions;

use super::{Task, TaskError};

/// The memory that a task needs for an entry: in the table, whose columns grow by doubling, and while the part
/// is encoded. Measured, with names of 20 bytes and some reserve.
const ENTRY_BYTES: u64 = 250;

/// The memory that does not depend on entries: the program, its threads, row groups that are written.
const FIXED_BYTES: u64 = 24 << 20;

/// The maximum number of entries of a task: larger parts gain nothing.
const MAX_ENTRIES: u64 = 4_000_000;

/// The number of directories in a list of what is left over. A task names again what it leaves over of its own list, so
/// long lists make large parts.
const LIST_ITEMS: usize = 8192;

impl Task {
    /// Runs the task and all that follow, one after the other and the newest first, with as many entries each as
    /// `memory` (in bytes) allows. The options are those of [`Task::run_with`].
    ///
    /// # Errors
    /// As [`Task::run_with`], but a root that does not exist is an error in its part, as for a walk.
    pub fn run_all(
        self,
        folder: &Path,
        memory: u64,
        options: &ScanOptions,
    ) -> Result<(), TaskError> {
        let entries = (memory.saturating_sub(FIXED_BYTES) / ENTRY_BYTES).min(MAX_ENTRIES);
        let mut waiting = vec![self];
        while let Some(mut task) = waiting.pop() {
            (task.entries, task.seconds) = (entries, None);
            // A directory can be begun right before the limit, and its entries are listed before they are stored.
            task.entries_of_directory = task.entries_of_directory.min((entries / 8).max(1000));
            task.split = 1 + task.items.len() / LIST_ITEMS;
            waiting.extend(task.run_new(folder, options.clone())?.tasks);
        }
        Ok(())
    }
}
