//! Looking at what was found, in a terminal.

pub mod text;
