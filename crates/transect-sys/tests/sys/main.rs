//! The readers as the system changes under them: sandboxes, signals, Windows.

mod sandbox;
mod signals;
mod windows;
