//! Parsers for directory records of kernels, which trust no byte of them.
//!
//! They are separate from the system calls: safe code that can be fuzzed and that parses a recorded
//! buffer of any system on any machine.

pub mod changes;
pub mod dirent;
pub mod dirinfo;
pub mod fanotify;
