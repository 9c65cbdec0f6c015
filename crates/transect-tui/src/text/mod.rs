//! Numbers and names as people read them in a terminal, on a screen of ours or line by line.

pub mod notes;
pub mod quote;
pub mod share;
pub mod units;
pub mod wrap;
