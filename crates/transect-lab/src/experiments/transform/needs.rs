//! What a session takes: room, and writing, which wears devices out.

use std::io;
use std::path::Path;

use crate::corpora;
use crate::harness::estimate;
use crate::spec::SessionSpec;

/// Room that is left to others.
const MARGIN: u64 = 16 << 20;

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
        let estimate = estimate::size(spec).map_or(0, |size| {
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
