//! The harness: starts processes in rounds, makes and proves the states of the caches, watches for
//! interference, repeats, stops, resumes, and logs.
//!
//! It imports no experiment and no ranking: an experiment implements [`experiment::Experiment`], and the
//! caller of a session passes the rule that ends it ([`scheduler::EndRule`]).

pub mod accesses;
pub mod account;
pub mod cache_state;
pub mod environment;
pub mod error;
pub mod estimate;
pub mod experiment;
pub mod interference;
pub mod inventory;
pub mod launch;
mod leftovers;
pub mod log;
pub mod machine;
pub mod possible_states;
pub mod protocol;
pub(crate) mod reference_walk;
pub mod scheduler;
pub mod scratch;
pub mod stopwatch;
pub mod tree_digest;
pub mod work;
