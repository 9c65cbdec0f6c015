//! The states of the caches that a session can make on this system.
//!
//! Linux proves states. Elsewhere nothing does: caches that were dropped are named *dropped, unproved*.
//! Where a preset asks for cold caches and they cannot be dropped, as without privileges or under Wine,
//! the session measures caches as they are, and stores what was asked for.

use serde::{Deserialize, Serialize};

use crate::harness::cache_state::{self, State};

/// What is dropped from memory for the cold state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropScope {
    /// Everything that the system caches.
    System,
    /// The input files, and nothing else.
    Files,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleStates {
    pub states: Vec<State>,
    /// The states that were asked for, if one of them cannot be made.
    pub replaced: Option<ReplacedStates>,
    /// How caches are dropped for the cold state, if the session has it and the system does not prove it.
    pub dropped: Option<String>,
}

/// States that were asked for, of which one could not be made. The session measured caches as they were
/// instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplacedStates {
    /// The states that were asked for, in the order of the session's.
    pub asked: Vec<State>,
    /// Why one of them could not be made.
    pub reason: String,
}

impl DropScope {
    /// Returns why caches cannot be dropped here, if they cannot and one of the states needs it.
    fn unavailable_reason(self, states: &[State]) -> Option<&'static str> {
        match self {
            // On Windows, the question enables privileges.
            _ if !states.contains(&State::Cold) => None,
            Self::System => cache_state::unavailable_reason(),
            Self::Files => cache_state::unavailable_reason_for_files(),
        }
    }

    /// Describes how caches are dropped without a proof; `None` on systems that prove it.
    fn unproved(self) -> Option<&'static str> {
        match self {
            _ if cfg!(target_os = "linux") => None,
            Self::System => Some("purging the system's standby list"),
            Self::Files => Some("opening each input without buffering"),
        }
    }
}

impl PossibleStates {
    /// Returns the states that the user asks for, or those of the preset if these are none. Where caches cannot be
    /// dropped, a preset's are measured as they are, except on Linux, where root can drop them.
    ///
    /// # Errors
    /// The reason why caches cannot be dropped here.
    pub fn of(asked: &[State], preset: &[State], scope: DropScope) -> Result<Self, &'static str> {
        let states = if asked.is_empty() { preset } else { asked };
        match scope.unavailable_reason(states) {
            None => Ok(Self::made(states, scope)),
            Some(reason) if cfg!(target_os = "linux") || !asked.is_empty() => Err(reason),
            Some(reason) => Ok(Self::replaced(states, reason)),
        }
    }

    fn made(states: &[State], scope: DropScope) -> Self {
        let dropped = scope.unproved().filter(|_| states.contains(&State::Cold));
        Self { states: states.to_vec(), replaced: None, dropped: dropped.map(str::to_owned) }
    }

    fn replaced(states: &[State], reason: &str) -> Self {
        let instead = |&state: &State| if state == State::Cold { State::AsIs } else { state };
        let asked = ReplacedStates { asked: states.to_vec(), reason: reason.to_owned() };
        Self { states: states.iter().map(instead).collect(), replaced: Some(asked), dropped: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_states_are_as_they_are_and_name_what_was_asked() {
        let asked = [State::Cold, State::Warm, State::Cold];
        let PossibleStates { states, replaced, dropped } =
            PossibleStates::replaced(&asked, "no privilege");
        assert_eq!(states, [State::AsIs, State::Warm, State::AsIs]);
        let stored = ReplacedStates { asked: asked.to_vec(), reason: "no privilege".to_owned() };
        assert_eq!((replaced, dropped), (Some(stored), None));
    }

    #[test]
    fn states_without_cold_always_possible() {
        for scope in [DropScope::System, DropScope::Files] {
            for states in [&[State::Warm][..], &[State::AsIs, State::Warm]] {
                let asked = PossibleStates::of(states, &[], scope).unwrap();
                assert_eq!(asked.states, states);
                assert_eq!((asked.replaced.is_none(), asked.dropped.is_none()), (true, true));
            }
        }
    }

    /// On Linux cold caches are proved, so nothing is named as dropped.
    #[test]
    fn cold_state_is_dropped_without_proof_except_on_linux() {
        let made = PossibleStates::made(&[State::Cold], DropScope::Files);
        assert_eq!(made.dropped.is_none(), cfg!(target_os = "linux"));
        assert_eq!(made.states, [State::Cold]);
    }
}
