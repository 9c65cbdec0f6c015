//! A subset of Watchman's protocol, for clients that speak it.

pub mod bser;
mod value;
mod wire;

pub use value::Value;
pub use wire::{Encoding, take_message};
