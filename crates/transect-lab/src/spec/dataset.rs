//! The datasets of a session. Each has the fields of every dataset, and the part that its experiment needs.
//!
//! The file does not store the kind of a dataset: it has the key `asked` for attribute queries, `digests` for
//! transforms, and neither for walks.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::harness::environment::FileSystem;
use crate::harness::inventory::Inventory;
use crate::harness::work::Work;
use crate::spec::attributes::Asked;
use crate::spec::transform::Digests;

/// A dataset of a session: a tree, files, or questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredDataset", into = "StoredDataset")]
pub struct Dataset {
    /// The name of the corpus, or the path that the user typed.
    pub name: String,
    pub root: PathBuf,
    pub file_system: FileSystem,
    /// The work that every cell has to do. For questions: the number of existing files, of missing files
    /// (`errors`), and the sum of lengths.
    pub expected: Work,
    /// The part that only its experiment has.
    pub payload: Payload,
}

/// The part of a dataset that only one experiment has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    Walk(Inventory),
    /// The expected content of the files.
    Transform(Digests),
    Attributes(Asked),
}

impl Dataset {
    /// Returns the number of its entries, root included.
    pub fn entries(&self) -> u64 {
        self.expected.files + self.expected.directories
    }

    /// Returns the length of its file, in bytes; `None` unless it is one nonempty file to transform.
    pub fn bytes_of_one(&self) -> Option<u64> {
        match &self.payload {
            // Older versions could transform many small files.
            Payload::Transform(_) if self.expected.files == 1 => {
                Some(self.expected.bytes).filter(|&bytes| bytes > 0)
            }
            _ => None,
        }
    }
}

/// A [`Dataset`] with the keys of the file.
#[derive(Serialize, Deserialize)]
struct StoredDataset {
    name: String,
    root: PathBuf,
    file_system: FileSystem,
    expected: Work,
    inventory: Inventory,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digests: Option<Digests>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<Asked>,
}

impl From<StoredDataset> for Dataset {
    fn from(stored: StoredDataset) -> Self {
        let StoredDataset { name, root, file_system, expected, inventory, digests, asked } = stored;
        let payload = match (asked, digests) {
            (Some(asked), _) => Payload::Attributes(asked),
            (None, Some(digests)) => Payload::Transform(digests),
            (None, None) => Payload::Walk(inventory),
        };
        Self { name, root, file_system, expected, payload }
    }
}

impl From<Dataset> for StoredDataset {
    fn from(dataset: Dataset) -> Self {
        let Dataset { name, root, file_system, expected, payload } = dataset;
        let (mut inventory, mut digests, mut asked) = Default::default();
        match payload {
            Payload::Walk(there) => inventory = there,
            Payload::Transform(expected) => digests = Some(expected),
            Payload::Attributes(questions) => asked = Some(questions),
        }
        Self { name, root, file_system, expected, inventory, digests, asked }
    }
}
