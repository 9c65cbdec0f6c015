//! The resources that a session needs: free space, and writes, which wear devices out.

use std::io;
use std::path::Path;

use crate::corpora;
use crate::harness::cache_state::State;
use crate::spec::transform::Digests;
use crate::spec::{Dataset, SessionSpec};

/// Free space left for other programs, in bytes.
const MARGIN: u64 = 16 << 20;

/// The length of the file that stands in for larger ones when the duration of a session is estimated, in
/// bytes.
const LARGEST_STAND_IN: u64 = 64 << 20;

/// Returns whether a cell runs once before the run that counts. Only the warm state demands what such a run
/// leaves in memory; before other states, it would change what they measure.
pub(super) fn is_primed(state: State) -> bool {
    state == State::Warm
}

/// Returns the file that stands in for those of a session.
pub(super) fn stand_in(spec: &SessionSpec) -> Option<Dataset> {
    let rules = spec.transform?;
    let mut dataset = spec.datasets.first()?.clone();
    let largest = spec.datasets.iter().map(|dataset| dataset.expected.bytes).max()?;
    let size = largest.min(LARGEST_STAND_IN);
    dataset.expected.bytes = size;
    dataset.digests = Some(Digests::expected(size, rules.kind));
    Some(dataset)
}

/// The resources that a session needs: an estimate, rather too high.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Bytes of free space: all inputs, the largest output, and a margin.
    pub room: u64,
    /// Total bytes written. Files that are removed soon may never reach the device.
    pub written: u64,
}

impl Needs {
    /// Returns the needs of a whole session.
    pub fn of(spec: &SessionSpec) -> Self {
        let inputs: u64 = spec.datasets.iter().map(|dataset| dataset.expected.bytes).sum();
        let largest = spec.datasets.iter().map(|dataset| dataset.expected.bytes).max().unwrap_or(0);
        // Each warm run has a preceding run that does not count.
        let runs_of_state = |state: &State| if is_primed(*state) { 2 } else { 1 };
        let runs_of_states: u64 = spec.cache_states.iter().map(runs_of_state).sum();
        let runs = spec.rounds as u64 * spec.cells.len() as u64 * runs_of_states;
        // The estimate runs the base in every state, and may create an input.
        let estimate = stand_in(spec).map_or(0, |stand_in| {
            let size = stand_in.expected.bytes;
            let is_there = spec.datasets.iter().any(|dataset| dataset.expected.bytes == size);
            size * (runs_of_states + u64::from(!is_there))
        });
        Self {
            room: inputs.saturating_add(largest).saturating_add(MARGIN),
            written: inputs.saturating_add(inputs.saturating_mul(runs)).saturating_add(estimate),
        }
    }

    /// Checks that a directory has enough free space; returns the free bytes, if the system reports them.
    ///
    /// # Errors
    /// There is not enough space, or the query fails.
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
