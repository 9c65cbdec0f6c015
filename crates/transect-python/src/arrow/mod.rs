//! Columns in the layout of Arrow, and the C interface that passes them to other libraries.

pub(crate) mod array;
pub(crate) mod interface;
