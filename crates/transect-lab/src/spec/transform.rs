//! The part of a session's file that belongs to transforms: the rules for all cells, the expected content of
//! files, and the words of reports.

use serde::{Deserialize, Serialize};
use transect_program::profile::SyncRule;
use transect_transform::chain::Chain;
use transect_transform::step::{Shape, Step};

use crate::harness::work::Work;
use crate::spec::words::Words;

/// The words of reports.
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
    /// The kind of transform.
    pub kind: Kind,
    /// Whether to sync before the clock stops.
    pub sync: SyncRule,
}

/// A kind of transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Copies the bytes unchanged, through the memory of the process.
    Copy,
    /// Converts ASCII letters to upper case.
    Case,
    /// Copies the bytes, and calculates their BLAKE3 digest.
    Blake3,
    /// Compresses with zstd at level 1.
    Zstd,
}

impl Kind {
    /// All kinds.
    pub const ALL: &'static [Self] = &[Self::Copy, Self::Case, Self::Blake3, Self::Zstd];

    /// Returns its name on the command line and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Case => "case",
            Self::Blake3 => "blake3",
            Self::Zstd => "zstd",
        }
    }

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
    /// Returns the rules in words.
    pub fn about(self) -> String {
        let synced = match self.sync {
            SyncRule::None => "what is written may be in memory only",
            SyncRule::Inside => "synced to the device",
        };
        format!("{}; {synced}", self.kind.as_str())
    }
}

/// The files of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// Their digests.
    pub digests: Digests,
    /// The phase of a session of many small files; `None` for one large file.
    pub phase: Option<Phase>,
}

impl Files {
    /// Returns the work of a dataset, in words.
    pub fn work(&self, rules: Rules, expected: Work) -> String {
        let Work { files, bytes, .. } = expected;
        let files = self.phase.map_or(String::new(), |_| format!("{files} files, "));
        format!("{files}{bytes} bytes; {}", rules.about())
    }
}

/// The expected digests of files: BLAKE3, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digests {
    /// The input.
    pub input: String,
    /// The output; if it is compressed, its decompressed content.
    pub output: String,
}

/// A phase in the life of many small files. Each phase is a dataset of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Reads each input, and writes the changed content to a new file.
    Create,
    /// Reads each file.
    Read,
    /// Transforms each file in place, without a change of content.
    RewriteUnchanged,
    /// Transforms each file in place, with a change of content.
    RewriteChanged,
    /// Removes each file.
    Remove,
}

impl Phase {
    /// All phases, in the order of a file's life.
    pub const ALL: &'static [Self] =
        &[Self::Create, Self::Read, Self::RewriteUnchanged, Self::RewriteChanged, Self::Remove];

    /// Returns the name of the phase on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::RewriteUnchanged => "rewrite-unchanged",
            Self::RewriteChanged => "rewrite-changed",
            Self::Remove => "remove",
        }
    }

    /// Returns whether it writes every file, so that unwritten bytes afterwards come from this phase.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Create | Self::RewriteChanged)
    }

    /// Returns whether the phase starts with existing files, and whether these are to be changed.
    pub(crate) fn before(self) -> Option<bool> {
        match self {
            Self::Create => None,
            Self::RewriteChanged => Some(true),
            Self::Read | Self::RewriteUnchanged | Self::Remove => Some(false),
        }
    }
}
