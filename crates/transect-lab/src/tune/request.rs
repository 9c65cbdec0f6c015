//! The request to tune a file system, and the progress of tuning.

use std::path::{Path, PathBuf};
use std::time::Duration;

use transect::internal::WalkSettings;

use crate::experiments::walk::sample_tree::SampleTree;
use crate::harness::cache_state::State;
use crate::harness::experiment::Launcher;

/// A request to tune a file system.
#[derive(Debug)]
pub struct TuneRequest<'a> {
    /// A path on the file system.
    pub path: &'a Path,
    /// The cache states to measure in.
    pub states: &'a [State],
    /// Approximate time limit.
    pub time: Duration,
    /// Path of the program `transect-lab`.
    pub program: PathBuf,
    /// The session files to write; they must not exist yet.
    pub files: [PathBuf; 2],
    /// Whether other processes can disturb a run; see [`Launcher::disturbable`].
    pub disturbable: bool,
}

impl TuneRequest<'_> {
    pub(super) fn launcher(&self) -> Launcher {
        let (program, built) = (self.program.clone(), Default::default());
        Launcher { program, built, disturbable: self.disturbable }
    }
}

/// Progress of tuning.
#[derive(Debug)]
pub enum TuneProgress<'a> {
    /// The first session starts.
    Started {
        /// The tree to walk.
        sample_tree: &'a SampleTree,
        /// Number of walks.
        walks: usize,
        /// Approximate duration.
        time: Duration,
    },
    /// Number of walks left in this session.
    WalksLeft(usize),
    /// The second session starts, with these settings together.
    Confirming(&'a WalkSettings),
}
