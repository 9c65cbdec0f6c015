//! The datasets of a session. Each has the fields of every dataset, and those that its experiment needs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::harness::environment::FileSystem;
use crate::harness::inventory::Inventory;
use crate::harness::work::Work;
use crate::spec::attributes::Asked;
use crate::spec::transform::Digests;

/// A dataset of a session: a tree, files, or questions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dataset {
    /// The name of the corpus, or the path that the user typed.
    pub name: String,
    pub root: PathBuf,
    pub file_system: FileSystem,
    /// The work that every cell has to do. For questions: the number of existing files, of missing files
    /// (`errors`), and the sum of lengths.
    pub expected: Work,
    /// The entries of a tree to walk; empty for other experiments.
    pub inventory: Inventory,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digests: Option<Digests>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
}

impl Dataset {
    /// Returns the number of its entries, root included.
    pub fn entries(&self) -> u64 {
        self.expected.files + self.expected.directories
    }

    /// Returns the length of its file, in bytes; `None` unless it is one nonempty file to transform.
    pub fn bytes_of_one(&self) -> Option<u64> {
        // Older versions could transform many small files.
        let is_one = self.digests.is_some() && self.expected.files == 1;
        Some(self.expected.bytes).filter(|&bytes| is_one && bytes > 0)
    }
}
