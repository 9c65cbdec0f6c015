//! Self-contained HTML pages that work offline, and a server for browsers on the same machine.

/// Returns the scripts with these names, in one text. Each uses those before it.
macro_rules! scripts {
    ($($name:ident)*) => { concat!($(include_str!(concat!("scripts/", stringify!($name), ".js"))),*) };
}

pub mod history;
pub mod lab;
pub mod map;
pub mod page;
pub mod serve;
