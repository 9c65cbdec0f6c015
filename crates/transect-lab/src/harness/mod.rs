//! How anything is measured: rounds of processes, what went on beside them, and the log of a session.
//!
//! Experiments decide what runs; this part knows how to run it.

pub mod accesses;
pub mod account;
pub mod cache_state;
pub mod environment;
pub mod estimate;
pub mod experiment;
pub mod interference;
pub mod inventory;
pub mod launch;
pub mod log;
pub mod machine;
pub mod scheduler;
pub mod stopping;
pub mod timed;
pub mod work;
