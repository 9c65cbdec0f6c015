//! The request to tune a file system, and the progress of tuning.

use std::path::{Path, PathBuf};
use std::time::Duration;

use transect::internal::WalkSettings;

use crate::experiments::walk::sample_tree::SampleTree;
use crate::harness::cache_state::State;
use crate::harness::experiment::Launcher;

#[derive(Debug)]
pub struct TuneRequest<'a> {
    pub path: &'a Path,
    pub states: &'a [State],
    /// Approximate time limit.
    pub time: Duration,
    pub launcher: Launcher,
    /// The session files to write; they must not exist yet.
    pub files: [PathBuf; 2],
}

#[derive(Debug)]
pub enum TuneProgress<'a> {
    Started {
        sample_tree: &'a SampleTree,
        walks: usize,
        time: Duration,
    },
    WalksLeft(usize),
    /// The second session starts, with these settings together.
    Confirming(&'a WalkSettings),
}
