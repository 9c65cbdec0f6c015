//! The engine against trees: whole walks, compared with what an oracle finds.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod churn;
mod faults;
mod filters;
mod limits;
mod links;
mod matrix;
mod mounts;
mod properties;
mod support;
