//! The resources that a session needs: free space, and writes, which wear devices out.

use std::io;
use std::path::Path;

use crate::corpora;
use crate::harness::cache_state::State;
use crate::spec::SessionSpec;

/// Free space left for other programs, in bytes.
const MARGIN: u64 = 16 << 20;

/// Returns whether a cell runs once before the run that counts. Only the warm state demands what such a run
/// leaves in memory; before other states, it would change what they measure.
pub(super) fn is_primed(state: State) -> bool {
    state == State::Warm
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
    pub fn of(spec: &SessionSpec) -> Self {
        let sizes = || spec.datasets.iter().map(|dataset| dataset.expected.bytes);
        let (inputs, largest) = (sizes().sum::<u64>(), sizes().max().unwrap_or(0));
        // Each warm run has a preceding run that does not count.
        let runs_of_state = |state: &State| if is_primed(*state) { 2 } else { 1 };
        let runs_of_states: u64 = spec.cache_states.iter().map(runs_of_state).sum();
        let runs = spec.rounds as u64 * spec.cells.len() as u64 * runs_of_states;
        // The estimate runs the base in every state.
        let estimate = sizes().min().unwrap_or(0) * runs_of_states;
        Self {
            room: inputs.saturating_add(largest).saturating_add(MARGIN),
            written: inputs.saturating_add(inputs.saturating_mul(runs)).saturating_add(estimate),
        }
    }

    /// Checks that a directory has enough free space; returns the free bytes, if the system reports them.
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
