//! Rivals of the engine: contenders written for the lab, and peers, programs that people use.

pub mod builtin;
pub mod contender;
pub mod peer;
