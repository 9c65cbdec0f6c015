//! The library as programs in C and C++ see it.
//!
//! `programs/check.c` calls every function; the samples are programs for readers. They are compiled
//! here, linked with the library that `tools/c-library` lays out, and run on Linux under
//! AddressSanitizer, and under Wine.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

#[cfg(target_os = "linux")]
mod compiled;
#[cfg(target_os = "linux")]
mod examples;
mod from_rust;
#[cfg(target_os = "linux")]
mod interface;
#[cfg(target_os = "linux")]
mod kit;
#[cfg(target_os = "linux")]
mod under_wine;
