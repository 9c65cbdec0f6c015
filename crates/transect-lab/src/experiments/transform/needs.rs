//! What a session takes: room, and writing, which wears devices out.

use std::io;
use std::path::Path;

use super::spec::{Digests, Files};
use crate::corpora;
use crate::spec::{Dataset, Payload, SessionSpec};

/// Room that is left to others.
const MARGIN: u64 = 16 << 20;

/// The largest file that stands for larger ones when the time of a session is estimated, in bytes.
const LARGEST_STAND_IN: u64 = 64 << 20;

/// Returns the file that stands for those of a session, if it is one of large files.
pub(super) fn stand_in(spec: &SessionSpec) -> Option<Dataset> {
    let is_one =
        |it: &Dataset| matches!(&it.payload, Payload::Transform(Files { phase: None, .. }));
    let rules = spec.experiment.rules().filter(|_| spec.datasets.iter().all(is_one))?;
    let mut dataset = spec.datasets.first()?.clone();
    let largest = spec.datasets.iter().map(|dataset| dataset.expected.bytes).max()?;
    let size = largest.min(LARGEST_STAND_IN);
    dataset.expected.bytes = size;
    let digests = Digests::expected(size, rules.kind);
    dataset.payload = Payload::Transform(Files { digests, phase: None });
    Some(dataset)
}

/// What a session takes, estimated rather too high.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Bytes of free space: all inputs, the largest output, and some to spare.
    pub room: u64,
    /// Bytes that are written in all. What is removed soon may never reach the device.
    pub written: u64,
}

impl Needs {
    /// Returns what a session takes from its beginning to its end.
    pub fn of(spec: &SessionSpec) -> Self {
        let inputs: u64 = spec.datasets.iter().map(|dataset| dataset.expected.bytes).sum();
        let largest = spec.datasets.iter().map(|dataset| dataset.expected.bytes).max().unwrap_or(0);
        // Each is run once more before it is measured.
        let runs =
            2 * spec.rounds as u64 * spec.cells.len() as u64 * spec.cache_states.len() as u64;
        // It is run twice in every state, and may make an input.
        let estimate = stand_in(spec).map_or(0, |stand_in| {
            let size = stand_in.expected.bytes;
            let is_there = spec.datasets.iter().any(|dataset| dataset.expected.bytes == size);
            size * (2 * spec.cache_states.len() as u64 + u64::from(!is_there))
        });
        Self {
            room: inputs.saturating_add(largest).saturating_add(MARGIN),
            written: inputs.saturating_add(inputs.saturating_mul(runs)).saturating_add(estimate),
        }
    }

    /// Makes sure that a folder has that room; returns the bytes that are free there, if the system
    /// tells.
    ///
    /// # Errors
    /// It has not, or whatever the system says.
    pub fn check(self, folder: &Path) -> io::Result<Option<u64>> {
        let free = corpora::free_space(folder)?.bytes;
        match free {
            Some(free) if free < self.room => {
                let what = format!("{} bytes are needed, {free} are free", self.room);
                Err(io::Error::new(io::ErrorKind::StorageFull, what))
            }
            _ => Ok(free),
        }
    }
}
