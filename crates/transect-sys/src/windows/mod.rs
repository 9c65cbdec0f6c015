//! Windows: directory records by handle or by search handle, and everything asked without a path
//! being parsed anew.

pub mod system;
