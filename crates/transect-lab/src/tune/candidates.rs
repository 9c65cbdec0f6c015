//! The settings to try.

use transect::ReaderKind;
use transect::internal::{Order, StatOrder, WalkSettings};
use transect_text::size;

use crate::harness::cache_state::State;

/// Fewest entries for which thread settings are tried: a smaller tree mostly measures the start of
/// threads.
const MIN_ENTRIES_FOR_THREADS: u64 = 5000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) setting: &'static str,
    pub(super) value: String,
    pub(super) settings: WalkSettings,
}

/// Returns the settings to try in these cache states, on a tree of this many entries.
pub(super) fn candidates(states: &[State], entries: u64) -> Vec<Candidate> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let default = WalkSettings::default();
    let mut candidates = Vec::new();
    let mut add = |setting, value: String, settings: WalkSettings| {
        if settings.supported() == settings {
            candidates.push(Candidate { setting, value, settings });
        }
    };
    for &reader in ReaderKind::DIRECTORIES.iter().filter(|&&reader| reader != ReaderKind::best()) {
        let settings = WalkSettings { reader: Some(reader), ..default };
        add("reader", reader.as_str().to_owned(), settings);
    }
    for bytes in [16 << 10, 256 << 10, 1 << 20] {
        let settings = WalkSettings { buffer_size: Some(bytes), ..default };
        add("buffer_size", size::shortest(bytes), settings);
    }
    let settings = WalkSettings { stat_order: Some(StatOrder::Inode), ..default };
    add("stat_order", StatOrder::Inode.as_str().to_owned(), settings);
    if entries < MIN_ENTRIES_FOR_THREADS {
        return candidates;
    }
    // Orders are tried only in both states: one that is faster warm may be much slower cold.
    if states.contains(&State::Warm) && states.contains(&State::Cold) {
        for &order in Order::ALL.iter().filter(|order| order.is_parallel()) {
            if order != Order::default() {
                let settings = WalkSettings { order: Some(order), ..default };
                add("order", order.as_str().to_owned(), settings);
            }
        }
    }
    let mut busy = vec![1, cores.div_ceil(2), cores * 2, cores * 4];
    busy.retain(|&threads| threads != cores);
    busy.dedup();
    for threads in busy.into_iter().filter(|_| states.iter().any(|&state| state != State::Cold)) {
        let settings = WalkSettings { busy_threads: Some(threads), ..default };
        add("busy_threads", threads.to_string(), settings);
    }
    let waits = states.iter().any(|&state| state != State::Warm);
    for threads in [cores, 8, 16, 64].into_iter().filter(|_| waits) {
        let settings = WalkSettings { waiting_threads: Some(threads), ..default };
        add("waiting_threads", threads.to_string(), settings);
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_usable_and_differ_from_default() {
        let all = candidates(&[State::Warm, State::Cold], MIN_ENTRIES_FOR_THREADS);
        assert!(all.iter().any(|candidate| candidate.setting == "waiting_threads"));
        for (at, candidate) in all.iter().enumerate() {
            assert!(!candidate.settings.is_default(), "{candidate:?}");
            assert!(!all[..at].contains(candidate), "{candidate:?}");
        }
        let warm = candidates(&[State::Warm], MIN_ENTRIES_FOR_THREADS);
        let cold_too = ["waiting_threads", "order"];
        let small = candidates(&[State::Warm], MIN_ENTRIES_FOR_THREADS - 1);
        assert!(small.len() < warm.len());
        assert!(small.iter().all(|candidate| !candidate.setting.ends_with("threads")));
        assert!(warm.iter().all(|candidate| !cold_too.contains(&candidate.setting)));
    }
}
