//! Transforms of files, measured: every way of getting the bytes of a file through a step into another
//! file.
//!
//! ```text
//! methods × blocks ─► rounds ─► one sample:
//!
//!   the same run, which does not count ─► output removed ─► input dropped, or read
//!      ─► how much of it is in memory (the proof) ─► the run ─► what is unwritten
//!      ─► the output's digest, against one of bytes that were never in a file
//! ```
//!
//! The run that does not count touches the memory that the measured one takes: a guest that gives
//! free memory back to its host pays for having it again, many times more than the methods differ.

mod floor;
mod input;
mod many;
mod measure;
mod method;
mod needs;
mod pass;
mod preset;
pub mod spec;
mod variant;

pub use floor::Floor;
pub use input::create;
pub use many::{WriteMethod, create_many, run_many};
pub use many::{cells as cells_of_many, digests as digests_of_many, work as work_of_many};
pub use measure::{TransformExperiment, files_of, rules};
pub use method::{Implementation, Method, TransformRunner, cells};
pub use needs::Needs;
pub use pass::run;
pub use preset::{CLASSIC, PRESETS, Preset};
pub use spec::{Digests, Files, Kind, Phase, Rules, SyncRule};
pub use variant::Variant;

/// The cell that others are compared with: what this program does by itself, with the block that it
/// chooses.
pub const BASE: &str = "buffered";
