//! Looking at what was found, in a terminal.
//!
//! ```text
//!  keys ─► Action ─►┌─────┐─► Effect ─► walk, desk, programs
//!                   │ App │                     │
//! table, messages ◄──└─────┘◄────── Message ◄─────┘
//!                      └─► widgets ─► cells ─► terminal
//! ```
//!
//! [`browse`] is the loop. What is looked at and what keys make of it is state without side effects
//! (`app`); what is drawn depends on nothing else (`widgets`).

mod app;
mod background;
mod cursor;
mod event_loop;
mod keys;
mod message;
mod pattern;
mod removal_thread;
mod screen;
mod sort;
mod system;
#[cfg(test)]
mod test_app;
mod theme;
mod tree;
mod view_options;
mod walk_thread;
mod widgets;

pub use event_loop::{BrowseOutcome, Error, browse};
pub use view_options::ViewOptions;
