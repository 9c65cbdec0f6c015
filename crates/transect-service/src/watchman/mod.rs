//! A subset of Watchman's protocol, for clients that speak it: `docs/LIVE.md` lists what there is.

pub mod bser;
mod client;
mod commands;
mod expression;
mod query;
mod session;
mod value;
mod wire;

pub use client::ask;
pub use commands::answer_without_service;
pub(crate) use session::{Host, Session};
pub use value::Value;
pub(crate) use wire::is_watchman;
pub use wire::{Encoding, take_message};
