//! Tests of the search and the actions on real trees.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]
#![expect(clippy::disallowed_methods, reason = "results are compared with plain std::fs")]

mod actions;
#[cfg(target_os = "linux")]
mod clones;
#[cfg(target_os = "linux")]
mod digests;
mod finding;
mod oracle;
mod support;
