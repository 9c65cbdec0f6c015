//! The terminal view of directory trees.
//!
//! ```text
//! keys ─► Action ─►┌─────┐─► Effect ──► walk, jobs, programs
//!                  │ App │                      │
//!                  └─────┘◄─ Message ◄──────────┘
//!                     └─► widgets ─► cells ─► terminal
//! ```
//!
//! [`browse`] and [`browse_stored`] are the event loop. The state (`app`) has no side effects, and drawing (`widgets`)
//! depends only on the state.

mod app;
mod background;
mod cursor;
mod event_loop;
mod followed;
mod growth;
mod keys;
mod message;
mod pattern;
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

pub use event_loop::{BrowseOutcome, Error, browse, browse_stored};
pub use followed::FollowedTree;
pub use view_options::{StoredBefore, ViewOptions};
pub use walk_thread::{DISPLAY_FIELDS, FIELDS};
