//! One file per command.

pub(crate) mod attributes;
pub(crate) mod cache;
pub(crate) mod doctor;
pub(crate) mod generate;
pub(crate) mod lab;
pub(crate) mod list;
pub(crate) mod map;
pub(crate) mod parts;
pub(crate) mod patch;
pub(crate) mod scan;
pub(crate) mod serve;
pub(crate) mod transform;
pub(crate) mod tui;
pub(crate) mod usage;
pub(crate) mod verify;
