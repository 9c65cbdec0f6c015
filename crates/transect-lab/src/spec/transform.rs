//! The part of a session's file that belongs to transforms: the rules for all cells, the expected content of
//! files, and the words of reports.

use serde::{Deserialize, Serialize};
use transect_program::profile::SyncRule;
use transect_transform::chain::Chain;
use transect_transform::step::{Shape, Step};

use crate::spec::words::Words;

pub const WORDS: Words = Words {
    command: "transform",
    plural: "transforms",
    kind: "transform",
    states: [
        "input warm",
        "input cold",
        "input guest cold",
        "input dropped, unproved",
        "input as it is",
    ],
    state_was: "the input was",
    as_it: "The input was as it",
    dataset: ["size", "sizes"],
    is_path: false,
    item: "file",
    has_rates: true,
};

/// The rules that all cells of a session follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    pub kind: Kind,
    pub sync: SyncRule,
}

transect_sys::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Kind {
        Copy = "copy" => "Copy them",
        Case = "case" => "Convert ASCII letters to upper case",
        Blake3 = "blake3" => "Copy them, and compute their digest",
        Zstd = "zstd" => "Compress them",
    }
}

impl Kind {
    /// Returns the engine's step; `None` for a copy.
    pub(crate) fn step(self) -> Option<Chain> {
        let word = match self {
            Self::Copy => return None,
            Self::Case => "case=upper",
            Self::Blake3 => "blake3",
            Self::Zstd => "zstd=1",
        };
        Some(Chain::parse(&[word]).expect("BUG: the library has these steps"))
    }

    /// Returns how the step changes the length; `None` for a copy.
    pub(crate) fn shape(self) -> Option<Shape> {
        self.step().map(|step| step.shape())
    }
}

impl Rules {
    pub fn about(self) -> String {
        let synced = match self.sync {
            SyncRule::None => "what is written may be in memory only",
            SyncRule::Inside => "synced to the device",
        };
        format!("{}; {synced}", self.kind.as_str())
    }
}

/// The expected digests of files: BLAKE3, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digests {
    pub input: String,
    /// The output; if it is compressed, its decompressed content.
    pub output: String,
}
