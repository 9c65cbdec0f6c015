//! The library for C and C++. `include/transect.h` documents all functions; the comments here say
//! only what that header leaves out.
//!
//! ```text
//! C: transect_walk(path, …) ─► guard ─► Text, Option<&T>, out ─► the crates `transect`, `transect-cache`, …
//!                          ◄── status, transect_error ◄── Failure, or a caught panic
//! ```
//!
//! Parameters have the types that state what C promises: `Option<&T>` is a pointer that may be NULL,
//! `Option<Box<T>>` one that is given back, [`Text`](boundary::Text) a text that ends with a NUL. So
//! the bodies of the functions are safe code, and each of them runs in `boundary::guard` or
//! `boundary::guard_or`, which catches panics.

pub mod attributes;
pub mod boundary;
pub mod cache;
pub mod control;
pub mod failure;
pub mod filter;
pub mod options;
mod path;
pub mod pull;
pub mod search;
pub mod snapshot;
pub mod table;
pub mod version;
pub mod walk;
pub mod watch;
