//! The lab as a user sees it: arguments in; sessions, reports, messages and exit codes out.
//!
//! A test that lacks a program or a privilege prints `SKIPPED` and the reason on stderr; with
//! `TRANSECT_NO_SKIP` set it fails.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "the program is compared with plain std::fs")]

mod attributes;
mod enumerate;
mod folders;
mod generate;
mod goldens;
mod harness;
mod help;
mod page;
mod programs;
mod transform;
mod tune;
