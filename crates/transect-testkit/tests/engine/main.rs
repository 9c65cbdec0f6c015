//! Whole walks, compared with an oracle.
#![cfg(any(target_os = "linux", windows))]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

#[cfg(target_os = "linux")]
mod btrfs_volumes;
mod callbacks;
#[cfg(target_os = "linux")]
mod churn;
#[cfg(target_os = "linux")]
mod damaged_volumes;
mod faults;
mod filters;
#[cfg(unix)]
mod gitignore;
mod ignore;
mod interruptions;
mod iterator;
#[cfg(target_os = "linux")]
mod journals;
mod large;
#[cfg(target_os = "linux")]
mod large_volumes;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod links;
mod matrix;
#[cfg(target_os = "linux")]
mod mounted_volumes;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod ncdu;
#[cfg(target_os = "linux")]
mod ntfs_volumes;
mod partial_table;
mod properties;
mod sinks;
mod support;
mod table;
#[cfg(target_os = "linux")]
mod volumes;
mod walkdir;
#[cfg(windows)]
mod windows;
