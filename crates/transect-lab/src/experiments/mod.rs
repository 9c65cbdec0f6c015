//! What is measured: walks of trees, transforms of files, questions about attributes.

pub mod attributes;
pub mod method_info;
pub mod transform;
pub mod walk;
pub mod words;
