//! See [`transect_program::user_dirs`].

pub(crate) use transect_program::user_dirs::*;
