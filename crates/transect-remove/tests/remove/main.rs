//! Removals on real trees: the chosen entries are removed, and nothing else.
#![cfg(any(target_os = "linux", windows))]
#![expect(clippy::disallowed_methods, reason = "what is left is looked at by plain std::fs")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod changes;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod race;
mod selection;
mod support;
#[cfg(target_os = "linux")]
mod trash;
