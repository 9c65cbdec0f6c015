//! What the self-test is to test, its progress and its errors.

use std::path::PathBuf;
use std::time::Duration;

use crate::harness::cache_state::State;
use crate::harness::error::Error;
use crate::harness::launch::Failure;

/// A half of the self-test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The verdicts on equal methods and on a true difference.
    Verdicts,
    /// The contenders that are wrong on purpose.
    Faults,
}

/// What to test.
#[derive(Clone, Debug)]
pub struct SelfTestRequest {
    /// The program `transect-lab`.
    pub program: PathBuf,
    /// The folder of the contenders, with the test doubles.
    pub contenders: PathBuf,
    /// The private folder in which contenders are built.
    pub cache: PathBuf,
    /// An empty folder for trees and sessions.
    pub folder: PathBuf,
    /// The halves.
    pub parts: Vec<Part>,
    /// Sessions of equal methods.
    pub sessions: usize,
    /// Time limit of such a session, in seconds; `None` for that of the default preset.
    pub max_time: Option<u64>,
    /// Sessions for each kind of made-up noise.
    pub made_up: usize,
    /// The states of the caches for faults.
    pub states: Vec<State>,
    /// Files in the tree of the faults. On a small one, their time is lost in that of their start.
    pub files: usize,
}

/// A step of the self-test.
#[derive(Clone, Copy, Debug)]
pub enum SelfTestStep {
    /// The sessions of equal methods, or those of planted faults in a state of the caches, take so much
    /// longer, judging by the first of them.
    Estimated(Option<State>, Duration),
    /// Sessions of equal methods left.
    SessionsLeft(usize),
    /// Sessions are ranked.
    Ranking,
    /// Processes left, of a session with planted faults.
    FaultsLeft(State, usize),
}

/// An error of the self-test.
#[derive(Debug)]
#[non_exhaustive]
pub enum SelfTestError {
    /// The session failed.
    Session(Error),
    /// A method that has to work failed.
    Method(String, Failure),
    /// A folder or a helper program could not be made.
    Prepare(String, std::io::Error),
}

impl std::fmt::Display for SelfTestError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Session(error) => error.fmt(f),
            Self::Method(name, failure) => write!(f, "{name}: {failure}"),
            Self::Prepare(what, error) => {
                write!(f, "cannot make {what}: {}", transect::reason(error))
            }
        }
    }
}

impl std::error::Error for SelfTestError {}

impl From<Error> for SelfTestError {
    fn from(error: Error) -> Self {
        Self::Session(error)
    }
}

impl From<crate::harness::log::Error> for SelfTestError {
    fn from(error: crate::harness::log::Error) -> Self {
        Self::Session(error.into())
    }
}
