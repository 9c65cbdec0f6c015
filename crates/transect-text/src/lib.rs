//! Numbers, names and sizes as people read and type them, for the terminal view, the command line and
//! the lab's reports.

pub mod notes;
pub mod quote;
pub mod share;
pub mod size;
pub mod style;
pub mod units;
pub mod wrap;
