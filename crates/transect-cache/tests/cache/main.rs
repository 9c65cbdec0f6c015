//! The attribute cache against real directories, compared with what the standard library says.
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
mod watched;
