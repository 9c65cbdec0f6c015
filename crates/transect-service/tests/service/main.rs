//! A service and those who ask it, in one process: what they say goes over a socket all the same.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod answers;
mod bad_clients;
mod levels;
mod shutdown;
mod support;
