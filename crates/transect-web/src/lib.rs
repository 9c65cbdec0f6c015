//! Pages to look at what was found: one file each, that needs nothing beside it and asks nothing of
//! any network.

pub mod map;
pub mod page;
