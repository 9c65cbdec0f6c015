//! What is measured: walks of trees, transforms of files, questions about attributes.
//!
//! Each experiment is a folder: `spec.rs` with what the file of a session stores of it and the words of
//! reports, `method.rs` and `preset.rs`, and `measure.rs`, which implements
//! [`Experiment`](crate::harness::experiment::Experiment). Beyond its folder it needs a variant of
//! [`Spec`](crate::spec::Spec) and of [`Payload`](crate::spec::Payload), and a subcommand of `lab run`.

pub mod attributes;
pub mod method;
pub mod transform;
pub mod walk;
pub mod words;
