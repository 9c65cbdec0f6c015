//! Snapshots: written, read, damaged.

mod changes;
mod common;
mod find;
mod flips;
mod hostile;
mod largest;
mod model;
mod round_trip;
#[cfg(unix)]
mod since;
#[cfg(unix)]
mod tasks;
