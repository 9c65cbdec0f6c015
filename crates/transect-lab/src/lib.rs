//! The lab: measures methods of reading and transforming files on the current machine.
//!
//! ```text
//! methods ─► rounds, each method once, in a new order ─► samples, appended as they come ─► ranking
//!    │             │
//!    │             └─ one run: a fresh process with its own clock, a time limit, a proved cache state
//!    └─ readers × orders of this engine, contenders in other languages: all speak one protocol
//! ```
//!
//! * Rankings include only methods with the same counts of files, directories and bytes as a plain recursion.
//! * A method that hangs, dies or violates the protocol becomes a row with the reason.
//! * Each sample is written before the next one is taken, so an interrupted session can be resumed.

#![expect(missing_docs, reason = "the library of one program: names say enough")]

pub mod corpora;
pub mod experiments;
pub mod explain;
#[cfg(test)]
mod fixtures;
pub mod harness;
mod list;
pub mod published;
pub mod ranking;
pub mod report;
pub mod rivals;
pub mod spec;
pub mod tune;
