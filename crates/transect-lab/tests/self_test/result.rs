//! The result of the self-test.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use crate::rate::VerdictRates;
use transect_lab::harness::cache_state::State;
use transect_lab::harness::environment::Environment;

/// The schema of a result.
pub(crate) const SCHEMA: &str = "transect.lab.self_test/2";

/// The result of the self-test.
#[derive(Debug, Serialize)]
pub(crate) struct SelfTest {
    /// [`SCHEMA`].
    pub(crate) schema: &'static str,
    /// Whether every target was met.
    pub(crate) passed: bool,
    /// The machine.
    pub(crate) environment: Environment,
    /// Duration in seconds, of the last run if the test was stopped and continued.
    pub(crate) seconds: f64,
    /// The samples that were measured, if they were.
    pub(crate) measured: Option<Measured>,
    /// The verdicts on measured and on made-up samples.
    pub(crate) verdicts: Vec<VerdictRates>,
    /// The planted faults, in each state.
    pub(crate) faults: Vec<CaughtFault>,
    /// The correct methods beside them.
    pub(crate) controls: Vec<Control>,
    #[serde(skip)]
    began: Instant,
}

impl SelfTest {
    /// Begins a result.
    pub(crate) fn new(began: Instant) -> Self {
        Self {
            schema: SCHEMA,
            passed: false,
            environment: Environment::of_this_command(),
            seconds: 0.0,
            measured: None,
            verdicts: Vec::new(),
            faults: Vec::new(),
            controls: Vec::new(),
            began,
        }
    }

    /// Ends the result: whether all targets were met, and the time it took.
    pub(crate) fn finish(&mut self) {
        self.passed = self.verdicts.iter().all(|rates| rates.passed)
            && self.faults.iter().all(|fault| fault.caught)
            && self.controls.iter().all(|control| control.ranked);
        self.seconds = self.began.elapsed().as_secs_f64();
    }
}

/// The sessions of equal methods.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    /// The method.
    pub(crate) method: String,
    /// Files in its tree.
    pub(crate) files: u64,
    /// Rounds of each session.
    pub(crate) rounds: Vec<usize>,
    /// Samples that were disturbed.
    pub(crate) disturbed: usize,
    /// Standard deviation of a single sample in percent of it, estimated from the base against itself.
    pub(crate) noise_percent: f64,
    /// Wall times by cell, one for each round of each session, in nanoseconds.
    pub(crate) times_ns: BTreeMap<String, Vec<u64>>,
}

/// A planted fault in a state of the caches.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CaughtFault {
    /// The method.
    pub(crate) method: String,
    /// What it does wrong.
    pub(crate) about: String,
    /// The state of the caches.
    pub(crate) state: State,
    /// Whether it is not ranked.
    pub(crate) caught: bool,
    /// Why it is not ranked, or why it could not be tested.
    pub(crate) reason: Option<String>,
}

/// A correct method in a state of the caches.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Control {
    /// The method.
    pub(crate) method: String,
    /// The state of the caches.
    pub(crate) state: State,
    /// Whether it is ranked.
    pub(crate) ranked: bool,
    /// Why it is not ranked, if so.
    pub(crate) reason: Option<String>,
}
