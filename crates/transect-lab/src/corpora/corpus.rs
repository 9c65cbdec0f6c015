//! The corpora, by name: `corpora.toml`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::list::list;

/// A corpus: a pinned definition of a tree.
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Corpus {
    /// Its name on the command line and in results.
    #[serde(rename(serialize = "corpus"))]
    pub name: String,
    pub about: String,
    #[serde(skip_serializing)]
    pub content: Content,
    pub files: u64,
    /// Number of directories below the root.
    pub directories: u64,
    /// The sum of the lengths of all files, in bytes.
    pub bytes: u64,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Text,
    /// Sparse files: a length, but no blocks.
    Sparse,
}

/// All corpora, from the smallest to the largest.
pub static CORPORA: LazyLock<Vec<Corpus>> = LazyLock::new(|| list(include_str!("corpora.toml")));

pub fn find(name: &str) -> Option<&'static Corpus> {
    CORPORA.iter().find(|definition| definition.name == name)
}
