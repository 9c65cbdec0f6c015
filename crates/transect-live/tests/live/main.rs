//! The live tree against a walk of the same tree, after changes of every kind.

#![cfg(any(target_os = "linux", windows))]
#![expect(clippy::unwrap_used, reason = "tests, although a macro calls most of them")]

#[macro_use]
mod support;

mod changes;
mod gaps;
mod random;
mod shared;
