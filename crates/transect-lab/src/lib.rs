//! The lab: every way of asking a file system, measured on the machine at hand under rules that
//! make the numbers worth having.
//!
//! ```text
//! methods ─► rounds, each method once, in a new order ─► samples, appended as they come ─► ranking
//!    │             │
//!    │             └─ one run: a fresh process, its own clock, a limit, proof of the cache's state
//!    └─ readers × orders of this engine, contenders in other languages: all speak one protocol
//! ```
//!
//! * Nothing is ranked that did not find the same files, directories and bytes as a plain recursion.
//! * A method that hangs, dies or prints garbage becomes a row that says so.
//! * Samples are written before the next one is taken: a session that was stopped goes on.

pub mod accesses;
pub mod account;
pub mod attributes;
pub mod beside;
pub mod builtin;
pub mod compare;
pub mod contender;
pub mod contract;
pub mod corpus;
pub mod environment;
pub mod explain;
pub mod import;
pub mod launch;
pub mod machine;
pub mod method;
pub mod page;
pub mod peer;
pub mod pilot;
pub mod portion;
pub mod preset;
pub mod profile;
pub mod ranking;
pub mod record;
pub mod reference;
pub mod report;
pub mod rounds;
pub mod session;
pub mod size;
pub mod state;
pub mod statistics;
pub mod timed;
pub mod transform;
pub mod tune;
pub mod variant;
pub mod walks;
pub mod work;
