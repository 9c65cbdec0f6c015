//! The words of reports for an experiment.

use crate::harness::cache_state::State;

/// The words of reports for an experiment. Each experiment has one constant of this type.
#[derive(Debug)]
pub struct Words {
    pub command: &'static str,
    /// The name of the experiment in the plural: "a session of …".
    pub plural: &'static str,
    /// The name of the experiment when two sessions are compared.
    pub kind: &'static str,
    /// The states of the caches: warm, cold, cold on a guest, dropped without proof, as they are.
    pub states: [&'static str; 5],
    /// The words before a state that was not proved.
    pub state_was: &'static str,
    /// The words before "happened to be".
    pub as_it: &'static str,
    /// The name of a dataset, singular and plural.
    pub dataset: [&'static str; 2],
    /// Whether the root of a dataset identifies it; otherwise its name does.
    pub is_path: bool,
    /// What system calls are counted per.
    pub item: &'static str,
    /// Whether reports show rates in bytes a second.
    pub has_rates: bool,
}

impl Words {
    /// Returns a state of the caches in words. `is_proved` is false on systems that cannot prove that caches are
    /// cold.
    pub(crate) fn state(&self, state: State, is_guest: bool, is_proved: bool) -> &'static str {
        let [warm, cold, cold_on_a_guest, dropped, as_is] = self.states;
        match state {
            State::Warm => warm,
            State::Cold if !is_proved => dropped,
            State::Cold if is_guest => cold_on_a_guest,
            State::Cold => cold,
            State::AsIs => as_is,
        }
    }
}
