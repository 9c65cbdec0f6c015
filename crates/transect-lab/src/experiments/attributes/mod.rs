//! Questions about attributes, measured: what a compiler, a build tool or an editor asks a file system,
//! asked in every way, and of the cache.
//!
//! ```text
//! tasks ─► a tree for each, the same on every machine ─► questions in a file
//!    │         └─ a plain look at all of them: what everybody has to be answered
//!    └─ methods that do it ─► rounds ─► one sample: a process that reads its questions, starts its
//!       clock, asks, and says how many were found, how many not, and the sums of sizes and times
//! ```

mod answers;
mod expected;
mod measure;
mod method;
mod preset;
mod query;
mod questions;
mod service;
pub mod sources;
pub mod spec;
mod tree;

pub use measure::{AttributesExperiment, asked, dataset};
pub use method::{AttributesRunner, BASE, FLOOR_STATX, Implementation, Method, QueryMethod, cells};
pub use preset::{PRESETS, Preset};
pub use query::{Query, run_query};
pub use questions::Questions;
pub use sources::Source;
pub use spec::{Asked, Scale, Task};
