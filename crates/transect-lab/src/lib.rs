//! The lab: every way of asking a file system, measured on the machine at hand under rules that
//! make the numbers worth having.

pub mod corpus;
pub mod statistics;
