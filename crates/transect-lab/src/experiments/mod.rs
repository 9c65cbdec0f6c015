//! The experiments of the lab: walks of trees, transforms of files, attribute queries.
//!
//! Each experiment is a directory: `method.rs` has its methods, `preset.rs` and `presets.toml` its presets, and `measure.rs` implements
//! [`Experiment`](crate::harness::experiment::Experiment). Beyond its directory it needs a variant of
//! [`Spec`](crate::spec::Spec), its data in [`Dataset`](crate::spec::Dataset), and a subcommand of `lab run`.

pub mod attributes;
pub mod method;
pub mod preset;
pub mod transform;
pub mod walk;
