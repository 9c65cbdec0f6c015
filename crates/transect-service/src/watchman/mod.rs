//! A subset of Watchman's protocol, for clients that speak it.

mod value;

pub use value::Value;
