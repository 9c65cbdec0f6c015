//! Self-contained HTML pages that work offline, and a server for browsers on the same machine.

pub mod history;
pub mod lab;
pub mod map;
pub mod page;
pub mod serve;
