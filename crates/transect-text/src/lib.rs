//! Text that users read and type, for the terminal view, the command line and the lab's reports:
//! numbers, names, sizes.

pub mod disk;
mod json_object;
pub mod measure;
pub mod nearest;
pub mod notes;
pub mod quote;
pub mod settings;
pub mod share;
pub mod size;
pub mod style;
pub mod table;
pub mod units;
pub mod wrap;
