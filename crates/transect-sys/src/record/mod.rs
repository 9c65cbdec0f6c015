//! What kernels write when a directory is listed, parsed without trusting it.
//!
//! The parsers are separate from the calls: they are safe code, can be fuzzed, and run on any
//! machine with a recorded buffer, whatever system it came from.

pub mod changes;
pub mod dirent;
pub mod dirinfo;
