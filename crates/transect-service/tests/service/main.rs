//! A service and its clients in one process, connected by a socket or, on Windows, by a pipe.

#![cfg(any(target_os = "linux", windows))]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod answers;
mod bad_clients;
mod levels;
#[cfg(target_os = "linux")]
mod lookups;
mod raw;
#[cfg(target_os = "linux")]
mod samples;
mod shutdown;
mod support;
#[cfg(target_os = "linux")]
mod trees;
#[cfg(target_os = "linux")]
mod watch_helper;
#[cfg(target_os = "linux")]
mod watchman;
