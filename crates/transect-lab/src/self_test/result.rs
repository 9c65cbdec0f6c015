//! The result of the self-test.

use std::collections::BTreeMap;

use serde::Serialize;

use super::rate::VerdictRates;
use crate::harness::cache_state::State;
use crate::harness::environment::Environment;

/// The schema of a result.
pub const SCHEMA: &str = "transect.lab.self_test/2";

/// The result of the self-test.
#[derive(Debug, Serialize)]
pub struct SelfTest {
    /// `transect.lab.self_test/2`.
    pub schema: &'static str,
    /// Whether every target was met.
    pub passed: bool,
    /// The machine.
    pub environment: Environment,
    /// Duration, in seconds.
    pub seconds: f64,
    /// The samples that were measured, if they were.
    pub measured: Option<Measured>,
    /// The verdicts on measured and on made-up samples.
    pub verdicts: Vec<VerdictRates>,
    /// The planted faults, in each state.
    pub faults: Vec<CaughtFault>,
    /// The correct methods beside them.
    pub controls: Vec<Control>,
}

/// The sessions of equal methods.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// The method.
    pub method: String,
    /// Files in its tree.
    pub files: u64,
    /// Rounds of each session.
    pub rounds: Vec<usize>,
    /// Samples that were disturbed.
    pub disturbed: usize,
    /// Standard deviation of a single sample in percent of it, estimated from the base against itself.
    pub noise_percent: f64,
    /// Wall times by cell, one for each round of each session, in nanoseconds.
    pub times_ns: BTreeMap<String, Vec<u64>>,
}

/// A planted fault in a state of the caches.
#[derive(Clone, Debug, Serialize)]
pub struct CaughtFault {
    /// The method.
    pub method: String,
    /// What it does wrong.
    pub about: String,
    /// The state of the caches.
    pub state: State,
    /// Whether it is not ranked.
    pub caught: bool,
    /// Why it is not ranked, or why it could not be tested.
    pub reason: Option<String>,
}

/// A correct method in a state of the caches.
#[derive(Clone, Debug, Serialize)]
pub struct Control {
    /// The method.
    pub method: String,
    /// The state of the caches.
    pub state: State,
    /// Whether it is ranked.
    pub ranked: bool,
    /// Why it is not ranked, if so.
    pub reason: Option<String>,
}
