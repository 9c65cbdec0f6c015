//! Finds the fastest settings for a file system.
//!
//! ```text
//! PATH ─► a sample tree that fits the time ─► a session: the default, and each setting changed alone
//!                                                 │ only those with the verdict "faster"
//!                                                 ▼
//!                           a second session: the default, and all winners together ─► profile
//! ```
//!
//! The fastest of many candidates is partly the luckiest, so its own samples overstate it. The second
//! session measures again: only fresh samples with the verdict "faster" change a setting.

mod candidates;
mod request;
mod session;
mod sizing;
mod stored;
mod winners;

use transect::Cancel;
use transect::internal::WalkSettings;
use transect_program::profile::Evidence;
use transect_text::settings;

use crate::experiments::walk::sample_tree::SampleTree;

use candidates::{Candidate, candidates};
pub use request::{TuneProgress, TuneRequest};
use session::TuneSession;
use sizing::{sample_tree_in_time, walks_of_a_round};
pub use stored::stored;
use winners::pick_winners;

#[derive(Clone, Debug, PartialEq)]
pub struct TuneResult {
    pub sample_tree: SampleTree,
    /// The settings that won; defaults where none did.
    pub settings: WalkSettings,
    pub evidence: Vec<Evidence>,
    /// Whether the default differed from itself: the machine was not quiet, and no verdict counts.
    pub noisy: bool,
    /// Whether the machine was too busy to compare wall times. CPU times do not show which settings are
    /// fastest, so nothing is stored.
    pub busy: bool,
}

/// Tunes the settings of a file system; returns `None` if cancelled.
pub fn tune(
    request: &TuneRequest<'_>,
    cancel: &Cancel,
    progress: &mut dyn FnMut(TuneProgress<'_>),
) -> Result<Option<TuneResult>, String> {
    let (sample_tree, rounds, each) = sample_tree_in_time(request)?;
    let candidates = candidates(request.states, sample_tree.entries);
    let walks = walks_of_a_round(request.states, sample_tree.entries);
    let time = each * u32::try_from(walks * rounds).unwrap_or(u32::MAX);
    progress(TuneProgress::Started { sample_tree: &sample_tree, walks: walks * rounds, time });

    let alone: Vec<WalkSettings> = candidates.iter().map(|candidate| candidate.settings).collect();
    let session = TuneSession { request, sample_tree: &sample_tree, rounds };
    let Some(mut rankings) = session.run(&request.files[0], &alone, cancel, progress)? else {
        return Ok(None);
    };
    let (together, mut evidence) = pick_winners(&candidates, &rankings);
    let mut settings = WalkSettings::default();
    if !together.is_default() {
        progress(TuneProgress::Confirming(&together));
        let Some(confirming) = session.run(&request.files[1], &[together], cancel, progress)?
        else {
            return Ok(None);
        };
        let all =
            Candidate { setting: "all", value: settings::describe(&together), settings: together };
        let (confirmed, further) = pick_winners(&[all], &confirming);
        settings = confirmed;
        evidence.extend(further);
        rankings.extend(confirming);
    }
    let noisy = rankings.iter().any(|ranking| ranking.noisy);
    let busy = rankings.iter().any(|ranking| !ranking.has_wall_times());
    Ok(Some(TuneResult { sample_tree, settings, evidence, noisy, busy }))
}
