//! One file per command.

pub(crate) mod attributes;
pub(crate) mod cache;
pub(crate) mod doctor;
pub(crate) mod duplicates;
pub(crate) mod generate;
#[cfg(feature = "lab")]
pub(crate) mod lab;
pub(crate) mod list;
#[cfg(feature = "map")]
pub(crate) mod map;
pub(crate) mod parts;
pub(crate) mod patch;
pub(crate) mod scan;
pub(crate) mod serve;
pub(crate) mod transform;
#[cfg(feature = "tui")]
pub(crate) mod tui;
pub(crate) mod usage;
pub(crate) mod verify;
