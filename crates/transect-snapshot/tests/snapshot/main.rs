//! Snapshots: written, read, damaged.

mod changes;
mod hostile;
mod model;
mod round_trip;
#[cfg(unix)]
mod since;
