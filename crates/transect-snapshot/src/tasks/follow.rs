//! Tasks by their place among those of a scan, for programs that keep many of them: a place is two short values, however
//! long the list of directories is.

use std::path::Path;

use super::{Task, TaskError, file_name, is_id, read_error};
use crate::read::Snapshot;

impl Task {
    /// Returns the task that reads the list with this number of what the task with the id `above` left over. `self` is a
    /// task of the same scan, whose limits it gets.
    ///
    /// # Errors
    /// The part of the other task is not in the directory, cannot be read, is of another scan, or has no such list.
    pub fn following(&self, folder: &Path, above: &str, list: usize) -> Result<Self, TaskError> {
        let invalid = |why: String| TaskError::Invalid(why);
        if !is_id(above) {
            return Err(invalid(format!("'{above}' is not the id of a task")));
        }
        let path = folder.join(file_name(above));
        let snapshot = Snapshot::open(&path).map_err(|error| read_error(&path, error))?;
        let part = snapshot.metadata().part.as_ref();
        let is_own = |part: &&super::Part| part.roots == self.roots && part.options == self.options;
        let part = part
            .filter(is_own)
            .ok_or_else(|| invalid(format!("'{}' is the part of another scan", path.display())))?;
        let items = part.leftover.get(list).cloned().ok_or_else(|| {
            invalid(format!("'{}' has no list {list} of what is left over", path.display()))
        })?;
        Ok(Self { id: part.child_id(list), items, ..self.clone() })
    }
}
