//! Looking at what was found, in a terminal.
//!
//! ```text
//!  keys ─► Action ─►┌─────┐─► Wish ─► walk, desk, programs
//!                   │ App │                     │
//! table, answers ◄──└─────┘◄────── Answer ◄─────┘
//!                      └─► widgets ─► cells ─► terminal
//! ```
//!
//! [`browse`] is the loop. What is looked at and what keys make of it is state without side effects
//! (`app`); what is drawn depends on nothing else (`widgets`).

mod app;
mod cursor;
mod desk;
mod keys;
mod look;
mod order;
mod pattern;
mod remover;
mod run;
mod screen;
#[cfg(test)]
mod session;
mod system;
mod theme;
mod tree;
mod walk;
mod widgets;

pub use look::Look;
pub use run::{Ended, Error, browse};
