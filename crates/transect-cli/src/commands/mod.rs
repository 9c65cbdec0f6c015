//! One file per command.

pub(crate) mod attributes;
pub(crate) mod cache;
pub(crate) mod changes;
pub(crate) mod commit;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod duplicates;
pub(crate) mod find;
pub(crate) mod generate;
pub(crate) mod history;
pub(crate) mod keep;
pub(crate) mod list;
pub(crate) mod live;
pub(crate) mod map;
pub(crate) mod query;
pub(crate) mod reclaim;
pub(crate) mod scan;
pub(crate) mod service;
pub(crate) mod snapshot;
pub(crate) mod task;
pub(crate) mod transform;
pub(crate) mod tui;
pub(crate) mod usage;
pub(crate) mod verify;
pub(crate) mod watch;
