//! Transforms files in one pass each, without ever losing data.
//!
//! ```text
//! input ─► blocks ─► steps, one after the other in one pass ─► blocks ─► temporary file ─► target
//!   │                                                                        │
//!   └ checked before and after: a changed input is an error                  └ complete, then renamed
//! ```
//!
//! This is a separate crate so that programs that only scan need not build compressors and digests.

#![forbid(unsafe_code)]

pub mod chain;
mod error;
mod lines;
pub mod manifest;
pub mod output;
pub mod pass;
pub mod publish;
mod source;
pub mod step;
pub mod steps;
mod stream;
mod system;
#[cfg(test)]
mod test_support;
pub mod text;
pub mod tree;
mod verify;
mod whole_file;

pub use error::{Error, Operation, Reason};
pub use source::Source;
pub use stream::stream;
pub use verify::verify;
pub use whole_file::{FileReport, transform};
