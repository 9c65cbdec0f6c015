//! Snapshots: written, read, damaged.

mod hostile;
mod model;
mod round_trip;
