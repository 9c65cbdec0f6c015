//! What a part of a scan by many tasks says about its task.

use serde::{Deserialize, Serialize};

use crate::stored_path::StoredPath;

/// What the snapshot of a part says about its task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Part {
    /// The id of its task.
    pub task: String,
    /// The roots of the scan.
    pub roots: Vec<StoredPath>,
    /// What its task read. An item without a row was deleted before.
    pub items: Vec<Item>,
    /// How it was read.
    pub options: TaskOptions,
    /// What is left over: a list for each task that follows.
    pub leftover: Vec<Vec<Item>>,
    /// A random number in hexadecimal, on which the ids of the tasks that follow depend. The same task, run again in
    /// another directory, reads another state of the tree: what follows from one of its parts does not continue the
    /// other one. Empty in parts of earlier versions.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub salt: String,
}

impl Part {
    /// Returns the id of the task that reads a list of what is left over.
    pub(crate) fn child_id(&self, list: usize) -> String {
        id_of(format!("{}{} {list}", self.task, self.salt).as_bytes())
    }

    /// Returns the ids of all tasks that follow.
    pub(crate) fn child_ids(&self) -> impl Iterator<Item = String> {
        (0..self.leftover.len()).map(|list| self.child_id(list))
    }
}

/// A directory that is to be read with everything below it, or a part of one that is large.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Item {
    /// The index of its root.
    pub root: usize,
    /// The path from there; empty for the root itself.
    #[serde(flatten)]
    pub path: StoredPath,
    /// Only the entries with these names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<NameRange>,
}

impl Item {
    /// Returns the directory without the range.
    pub(crate) fn whole(&self) -> Self {
        Self { names: None, ..self.clone() }
    }
}

/// How the tasks of a scan read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TaskOptions {
    /// Stay on the file system of each root.
    pub one_file_system: bool,
    /// Read pseudo file systems, too.
    pub pseudo: bool,
    /// Store all times, not only that of the last change of the content.
    pub all_times: bool,
    /// Leave out names that match one of these globs. They have no slash: a task does not begin at the root.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
}

impl TaskOptions {
    /// Returns the globs as a filter has them.
    pub(crate) fn globs(&self) -> impl Iterator<Item = String> {
        self.exclude.iter().map(|glob| format!("!{glob}"))
    }
}

/// The entries of a directory whose names are in a range, in the order of their bytes, with everything below them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NameRange {
    /// The least name in it. The first range of a directory has none; it stands for the directory itself, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<StoredPath>,
    /// The least name behind it; the last range of a directory has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<StoredPath>,
}

/// Returns the id that follows from an identity.
pub(crate) fn id_of(identity: &[u8]) -> String {
    blake3::hash(identity).to_hex()[..32].to_owned()
}
