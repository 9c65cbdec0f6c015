//! Walks of trees: every reader in every order, contenders and peers.

pub mod measure;
pub mod method;
pub mod preset;
pub mod run;
pub mod sample_tree;
pub mod spec;
pub mod timed;
pub mod variant;
