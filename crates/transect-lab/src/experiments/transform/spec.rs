//! What the file of a session stores of transforms: the rules that all cells follow, what files have to
//! contain, and words.

use serde::{Deserialize, Serialize};
use transect_transform::chain::Chain;
use transect_transform::publish::Durability;
use transect_transform::step::{Shape, Step};

use crate::experiments::words::Words;
use crate::harness::work::Work;

/// The words of reports.
pub const WORDS: Words = Words {
    command: "transform",
    plural: "transforms",
    kind: "transform",
    states: ["input warm", "input cold", "input guest cold", "input as it is"],
    state_was: "the input was",
    as_it: "The input was as it",
    dataset: ["size", "sizes"],
    is_path: false,
    has_rates: true,
};

/// The rules that all cells of a session follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// What is done with the bytes.
    pub kind: Kind,
    /// What has to be on the device before the clock stops.
    pub sync: SyncRule,
}

/// What is done with the bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Nothing: they are handed on as they are, through the memory of the process.
    Copy,
    /// ASCII letters become large.
    Case,
    /// They are handed on, and their BLAKE3 digest is found.
    Blake3,
    /// They are compressed by zstd, at its first level.
    Zstd,
}

/// What has to be on the device before the clock stops.
///
/// A rule for all cells, peers included, however each of them syncs. [`Durability`] is how this engine
/// follows it: file by file, or all at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncRule {
    /// Nothing.
    None,
    /// The output.
    Inside,
}

impl Kind {
    /// All kinds.
    pub const ALL: &'static [Self] = &[Self::Copy, Self::Case, Self::Blake3, Self::Zstd];

    /// Returns the word for the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Case => "case",
            Self::Blake3 => "blake3",
            Self::Zstd => "zstd",
        }
    }

    /// Returns the step of this engine; nothing for a copy.
    pub(crate) fn step(self) -> Option<Chain> {
        let word = match self {
            Self::Copy => return None,
            Self::Case => "case=upper",
            Self::Blake3 => "blake3",
            Self::Zstd => "zstd=1",
        };
        Some(Chain::parse(&[word]).expect("BUG: the library has these steps"))
    }

    /// Returns what becomes of the length; nothing for a copy.
    pub(crate) fn shape(self) -> Option<Shape> {
        self.step().map(|step| step.shape())
    }
}

impl SyncRule {
    /// All.
    pub const ALL: &'static [Self] = &[Self::None, Self::Inside];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Inside => "inside",
        }
    }
}

impl From<Durability> for SyncRule {
    /// Returns the rule that this durability follows.
    fn from(durability: Durability) -> Self {
        match durability {
            Durability::None => Self::None,
            Durability::File | Durability::Batch => Self::Inside,
        }
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

/// What the files of a dataset contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// Their digests.
    pub digests: Digests,
    /// What is done with many small files; nothing if it is one large file.
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

/// What files have to hold: BLAKE3, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digests {
    /// The input.
    pub input: String,
    /// The output; of a compressed one, what it holds.
    pub output: String,
}

/// What is done with the files. Each phase is a dataset of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Each input is read, changed, and written to a new file.
    Create,
    /// Each file is read.
    Read,
    /// Each file is read and changed where it is, which changes nothing.
    RewriteUnchanged,
    /// Each file is read and changed where it is.
    RewriteChanged,
    /// Each file is removed.
    Remove,
}

impl Phase {
    /// All phases, in the order of a file's life.
    pub const ALL: &'static [Self] =
        &[Self::Create, Self::Read, Self::RewriteUnchanged, Self::RewriteChanged, Self::Remove];

    /// Returns the name of the phase, as it stands on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::RewriteUnchanged => "rewrite-unchanged",
            Self::RewriteChanged => "rewrite-changed",
            Self::Remove => "remove",
        }
    }

    /// Returns whether it writes every file, so that what is not on the device afterwards is its own.
    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Create | Self::RewriteChanged)
    }

    /// Returns whether files are there before it, and whether these are to be changed.
    pub(super) fn before(self) -> Option<bool> {
        match self {
            Self::Create => None,
            Self::RewriteChanged => Some(true),
            Self::Read | Self::RewriteUnchanged | Self::Remove => Some(false),
        }
    }
}
