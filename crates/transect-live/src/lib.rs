//! A table of a tree that follows the tree.
//!
//! ```text
//! Watcher → Inbox, on its own thread → LiveTree::next: query, edit → Table
//! ```
//!
//! A [`LiveTree`] walks a tree once and watches every directory before it is listed. Afterwards it queries again only
//! what a notification names. A notification is only a hint that a name in a directory may have changed. The name is
//! queried relative to that directory, after its file id has proved that it is the known one. So notifications may
//! come late, twice, or in another order.
//!
//! On Windows, one watch covers the whole tree, and notifications have paths. They are resolved with the table. What a
//! name leads to after it was created or renamed is compared, with everything below.
//!
//! A directory that is renamed stays what it is, with everything below it: it is recognized by its file id. If
//! notifications are lost, every directory is compared with the table ([`Update::was_gap`]).
//!
//! ```no_run
//! use transect::Cancel;
//! use transect_live::LiveTree;
//!
//! let end = Cancel::new();
//! let mut tree = LiveTree::open("src", &end)?;
//! println!("{} entries", tree.table().len());
//! while let Some(update) = tree.next(&end)? {
//!     for change in update.changes {
//!         println!("{} {}", change.kind.as_str(), change.path.display());
//!     }
//! }
//! # Ok::<(), transect::Error>(())
//! ```
//!
//! **What no notification reports** is not followed: stores through a mapping until it is closed, a file that is
//! changed by a name outside of the tree, a mount, and what happens on another machine or below FUSE. Other file
//! systems below the root are not entered.

mod change;
mod inbox;
mod journal;
mod listeners;
mod live_tree;
mod lookup;
mod mirror;
mod pace;
mod places;
mod reader;
mod resume;
mod shared_tree;
mod suspects;
mod update;
mod view;

pub use change::{Change, ChangeKind};
pub use journal::{ChangesSince, Cursor};
pub use listeners::Listening;
pub use live_tree::{LiveTree, Update, Waker};
pub use lookup::{PathLookup, PathState};
pub use mirror::COLUMNS;
pub use shared_tree::SharedTree;
pub use transect_sys::watch::WatchMethod;
pub use view::{Counts, View};
