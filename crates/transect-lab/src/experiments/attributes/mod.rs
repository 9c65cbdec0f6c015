//! The attribute experiment: the queries of compilers, build tools and editors, by system calls, caches and
//! a service.
//!
//! ```text
//! tasks ─► a tree for each, the same on every machine ─► questions in a file
//!    │         └─ queried one by one with the standard library: the expected answers
//!    └─ methods ─► rounds ─► one sample: a process that reads the questions, starts its clock, runs the
//!       queries, and prints the numbers of existing and missing files, and the sums of sizes and times
//! ```

mod answers;
mod expected;
mod measure;
mod method;
mod preset;
mod query;
mod questions;
mod service;
mod tree;

pub use crate::spec::attributes::{Asked, Scale, Source, Task};
pub use measure::{AttributesExperiment, asked, dataset};
pub use method::{AttributesPart, BASE, FLOOR_STATX, Method, QueryMethod, cells};
pub use preset::{PRESETS, Preset};
pub use query::{Query, run_query};
pub use questions::Questions;
