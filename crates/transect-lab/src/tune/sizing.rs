//! Chooses the sample tree and the number of rounds that fit the time.

use std::time::Duration;

use transect::internal::WalkSettings;

use super::candidates::candidates;
use super::request::TuneRequest;
use super::session::WALK_TIMEOUT_SECONDS;
use crate::experiments::walk::measure::engine_command;
use crate::experiments::walk::method::Method;
use crate::experiments::walk::sample_tree::{SMALLEST_SAMPLE_TREE, SampleTree, sample_tree};
use crate::experiments::walk::variant::Variant;
use crate::harness::cache_state::{self, State};
use crate::harness::error::cannot_make;
use crate::harness::launch;

/// Fewest rounds that can decide among a dozen cells: ten rounds all agree by chance twice in 1,024
/// sessions, and the correction multiplies that by the number of cells.
const MIN_TUNE_ROUNDS: usize = 10;

/// Largest number of rounds; more do not improve the intervals enough to matter.
const MAX_TUNE_ROUNDS: usize = 40;

/// Size of the first sample tree tried, in entries.
const LARGEST_SAMPLE_TREE: u64 = 60_000;

/// Returns the largest sample tree that can be walked often enough in the given time, the number of
/// rounds, and the time of one walk.
pub(super) fn sample_tree_in_time(
    request: &TuneRequest<'_>,
) -> Result<(SampleTree, usize, Duration), String> {
    let mut most = LARGEST_SAMPLE_TREE;
    loop {
        let sample_tree = sample_tree(request.path, most);
        if sample_tree.entries < 2 {
            let (path, entries) = (request.path.display(), sample_tree.entries);
            return Err(format!("'{path}' has {entries} entries: too few to tune on"));
        }
        let each = time_of_a_walk(request, &sample_tree)?;
        // The second session takes at most a third of the walks of the first.
        let walks = walks_of_a_round(request.states, sample_tree.entries);
        let round = each * u32::try_from(walks).unwrap_or(u32::MAX) * 4 / 3;
        let rounds = request.time.as_nanos() / round.as_nanos().max(1);
        let rounds = usize::try_from(rounds).unwrap_or(usize::MAX).min(MAX_TUNE_ROUNDS);
        if rounds >= MIN_TUNE_ROUNDS {
            return Ok((sample_tree, rounds, each));
        }
        most = sample_tree.entries.min(most) / 2;
        if most < SMALLEST_SAMPLE_TREE {
            let seconds = (round * MIN_TUNE_ROUNDS as u32).as_secs() + 1;
            let path = sample_tree.root.display();
            return Err(format!(
                "reading '{path}' often enough takes about {seconds} s; use --seconds"
            ));
        }
    }
}

/// Returns the number of walks in a round: each candidate, the default, and the default again.
pub(super) fn walks_of_a_round(states: &[State], entries: u64) -> usize {
    (candidates(states, entries).len() + 2) * states.len()
}

/// Walks once in every cache state with the default settings; returns the mean time.
fn time_of_a_walk(request: &TuneRequest<'_>, sample_tree: &SampleTree) -> Result<Duration, String> {
    let method = Method::variant(&Variant::from(WalkSettings::default()));
    let mut sum = Duration::ZERO;
    for &state in request.states {
        let start = std::time::Instant::now();
        cache_state::prepare(state).map_err(cannot_make(state))?;
        let command =
            engine_command(&request.launcher.program, &method, &sample_tree.root, 1, None);
        launch::launch(command, 1, Duration::from_secs(WALK_TIMEOUT_SECONDS))
            .map_err(|failure| format!("a walk of the default settings {failure}"))?;
        sum += start.elapsed();
    }
    Ok(sum / u32::try_from(request.states.len()).unwrap_or(1))
}
