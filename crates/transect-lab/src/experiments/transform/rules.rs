//! What is done with a file, and what has to be on the device at the end.

use serde::{Deserialize, Serialize};
use transect_transform::chain::Chain;
use transect_transform::step::{Shape, Step};

/// The rules that all cells of a session follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// What is done with the bytes.
    pub kind: Kind,
    /// What has to be on the device before the clock stops.
    pub sync: Sync,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sync {
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

impl Sync {
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

impl Rules {
    /// Returns the rules in words.
    pub fn about(self) -> String {
        let synced = match self.sync {
            Sync::None => "what is written may be in memory only",
            Sync::Inside => "synced to the device",
        };
        format!("{}; {synced}", self.kind.as_str())
    }
}
