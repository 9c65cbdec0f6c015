//! Snapshots: written, read, damaged.

mod changes;
mod common;
mod find;
mod flips;
mod hostile;
mod largest;
mod live;
mod model;
mod round_trip;
#[cfg(unix)]
mod since;
#[cfg(unix)]
mod tasks;

/// Returns how many cases a property gets. Snapshots are the same on both systems, and Linux tries all: on
/// Windows a sixth, as Wine on a slow machine takes long.
fn cases(all: u32) -> u32 {
    if cfg!(windows) { all.div_ceil(6) } else { all }
}
