//! Pages to look at what was found: one file each, that needs nothing beside it and asks nothing of
//! any network; and a server for the browser on the same machine.

pub mod map;
pub mod page;
pub mod serve;
