//! What the engine is compared with: contenders written for the lab, and programs that people use.

pub mod builtin;
pub mod contender;
pub mod peer;
