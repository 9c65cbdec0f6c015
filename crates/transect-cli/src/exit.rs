//! See [`transect_program::exit`].

pub(crate) use transect_program::exit::*;
