//! The transform experiment: methods that read a file, apply a step, and write the result to another file.
//!
//! ```text
//! methods × blocks ─► rounds ─► one sample:
//!
//!   a run that does not count ─► remove the output ─► drop the input from the cache, or read it
//!      ─► check how much of it is in memory (the proof) ─► the run ─► unwritten bytes
//!      ─► the digest of the output, compared with one calculated in memory
//! ```
//!
//! The run that does not count touches the memory that the measured run needs. A guest that returns free
//! memory to its host would otherwise have to request it again, which costs many times more than the
//! differences between the methods.

mod floor;
mod input;
mod measure;
mod method;
mod needs;
mod pass;
mod preset;
mod variant;

pub use crate::spec::transform::{Digests, Kind, Rules};
pub use floor::Floor;
pub use input::create;
pub use measure::{TransformExperiment, rules};
pub use method::{Method, TransformPart, cells};
pub use needs::Needs;
pub use pass::run;
pub use preset::{PRESETS, Preset};
pub use transect_program::profile::SyncRule;
pub use variant::Variant;

/// The base of comparisons: the engine's default method with its default block.
pub const BASE: &str = "buffered";
