//! Walks of trees: every reader in every order, contenders, peers and commands of the user.

mod copies;
pub mod floor;
pub mod keep;
pub mod measure;
pub mod method;
pub mod preset;
pub mod run;
pub mod sample_tree;
pub mod timed;
pub mod variant;
