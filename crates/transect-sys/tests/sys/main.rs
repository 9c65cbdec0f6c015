//! The readers on restricted or disturbed systems: sandboxes, signals, Windows.

mod sandbox;
mod signals;
mod windows;
