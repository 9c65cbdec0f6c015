//! A subset of Watchman's protocol, for clients that speak it: `docs/LIVE.md` lists what there is.

pub mod bser;
mod commands;
mod expression;
mod query;
mod value;
mod wire;

pub use value::Value;
pub use wire::{Encoding, take_message};
