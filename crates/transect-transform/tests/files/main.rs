//! Transforming files, and the failures that can occur.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

#[cfg(target_os = "linux")]
mod devices;
#[cfg(unix)]
mod links;
mod passes;
mod replacing;
mod support;
#[cfg(target_os = "linux")]
mod system;
mod trees;
#[cfg(windows)]
mod windows;
