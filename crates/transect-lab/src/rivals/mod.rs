//! Rivals of the engine: contenders written for the lab; peers, programs that people use; and commands of
//! the user.

pub mod builtin;
mod code_length;
pub mod contender;
pub mod external;
pub mod lines;
pub mod peer;
