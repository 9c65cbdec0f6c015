//! The seed articles: their tables, their listings, and the status of the rows of the seed contract.

pub mod contract;
pub mod reference;
pub mod tables;
