//! What articles published: their tables, their listings, and what became of their rows.

pub mod contract;
pub mod import;
pub mod reference;
