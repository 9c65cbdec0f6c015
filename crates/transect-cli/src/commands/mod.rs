//! One file per command.

pub(crate) mod attributes;
pub(crate) mod cache;
#[cfg(feature = "snapshot")]
pub(crate) mod changes;
#[cfg(feature = "snapshot")]
pub(crate) mod commit;
#[cfg(feature = "snapshot")]
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod duplicates;
#[cfg(feature = "snapshot")]
pub(crate) mod find;
pub(crate) mod generate;
#[cfg(feature = "snapshot")]
pub(crate) mod history;
#[cfg(feature = "snapshot")]
pub(crate) mod keep;
#[cfg(feature = "lab")]
pub(crate) mod lab;
pub(crate) mod list;
#[cfg(feature = "map")]
pub(crate) mod map;
#[cfg(feature = "snapshot")]
pub(crate) mod query;
pub(crate) mod scan;
pub(crate) mod serve;
pub(crate) mod service;
#[cfg_attr(not(feature = "snapshot"), path = "no_snapshot.rs")]
pub(crate) mod snapshot;
#[cfg(feature = "snapshot")]
pub(crate) mod task;
pub(crate) mod transform;
#[cfg(feature = "tui")]
pub(crate) mod tui;
pub(crate) mod usage;
pub(crate) mod verify;
