//! A service and its clients in one process, connected by a socket.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod answers;
mod bad_clients;
mod levels;
mod shutdown;
mod support;
