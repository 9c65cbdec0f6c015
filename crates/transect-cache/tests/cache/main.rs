//! The attribute cache on real directories, compared with the standard library.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod answers;
mod checked;
mod frozen;
mod listing_costs;
mod memory;
mod model;
mod search;
mod support;
mod threads;
