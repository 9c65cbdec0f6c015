//! The cells of a session: its methods, each under a name.

use serde::{Deserialize, Serialize};

use crate::spec::attributes::Task;

/// The kind of cells that do only a part of the work, to show how long that part takes.
pub const FLOOR: &str = "floor";

/// The kind of cells that are methods of this program.
pub const ENGINE: &str = "engine";

/// The kind of cells that are programs as they come.
pub const PEER: &str = "peer";

/// The suffix of the name of the base's second cell.
pub(crate) const SECOND_BASE: &str = " (again)";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    pub name: String,
    pub method: String,
    pub contract: Vec<String>,
    pub language: String,
    /// The kind of method: `engine`, `contender`, `peer`, `external`, `floor`.
    pub kind: String,
    pub parallel: bool,
    /// The floors that bind it, if not those of the session: for example, a method that maps its input does
    /// not copy it. A cell below all its floors is an error of the lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floors: Option<Vec<String>>,
    /// The program and its arguments, if it is a third-party program; `{in}` and `{out}` stand for the
    /// files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The tasks that it supports, if not all. It does not run on other datasets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<Task>>,
    /// How its work was verified; `None` in sessions of older versions, and of experiments where all cells
    /// are verified alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<CheckedBy>,
    /// The length of its code, if it belongs to a contender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<CodeLength>,
}

/// The length of code, without comments and blank lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeLength {
    pub lines: u64,
}

transect_sys::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum CheckedBy {
        /// By the digest of all paths, types and lengths, in a run of its own, and by sums in every timed run.
        Digest = "digest",
        /// By the numbers of files and directories and the sum of lengths only.
        Sums = "sums",
        /// By the lines that it prints, in a run of its own.
        Lines = "lines",
    }
}

impl Cell {
    pub fn second_base(&self) -> Self {
        Self { name: format!("{}{SECOND_BASE}", self.name), ..self.clone() }
    }

    /// Returns whether its time is that of its whole process, as it has no clock of its own.
    pub fn is_process(&self) -> bool {
        self.command.is_some() || self.kind == PEER
    }

    pub fn is_floor(&self) -> bool {
        self.kind == FLOOR
    }
}
