//! See [`transect_program::interrupt`].

pub(crate) use transect_program::interrupt::*;
