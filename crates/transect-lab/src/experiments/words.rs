//! The words of reports for one kind of experiment.

use crate::harness::cache_state::State;

/// The words of reports for one kind of experiment. Each experiment has one constant of them.
#[derive(Debug)]
pub struct Words {
    /// The subcommand of `lab run`.
    pub command: &'static str,
    /// What a session is one of.
    pub plural: &'static str,
    /// The experiment, for comparing two sessions.
    pub kind: &'static str,
    /// The states of the caches: warm, cold, cold on a guest, as they are.
    pub states: [&'static str; 4],
    /// The subject and verb before a state that was not proved.
    pub state_was: &'static str,
    /// The same, before "happened to be".
    pub as_it: &'static str,
    /// What a dataset is, one and several.
    pub dataset: [&'static str; 2],
    /// The root of a dataset identifies it; otherwise its name does.
    pub is_path: bool,
    /// A cell's time has a rate: bytes a second.
    pub has_rates: bool,
}

impl Words {
    /// Returns a state of the caches in words.
    pub(crate) fn state(&self, state: State, is_guest: bool) -> &'static str {
        let [warm, cold, cold_on_a_guest, as_is] = self.states;
        match state {
            State::Warm => warm,
            State::Cold if is_guest => cold_on_a_guest,
            State::Cold => cold,
            State::AsIs => as_is,
        }
    }
}
