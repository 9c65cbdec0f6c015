//! Options of the terminal view.

use std::sync::Arc;

use transect::table::Table;
use transect_remove::Trash;

use crate::followed::FollowedTree;

/// Options of the terminal view.
pub struct ViewOptions {
    /// Use colours.
    pub colour: bool,
    /// Formats a time, given in nanoseconds since 1970 UTC: the date in ten characters, a space,
    /// the time of day.
    pub time: Box<dyn Fn(i64) -> String>,
    /// Returns the name of a user.
    pub owner: fn(u32) -> String,
    /// Returns the trash, or the reason why there is none.
    pub trash: Box<dyn Fn() -> Result<Trash, String>>,
    /// Show apparent sizes first instead of disk usage.
    pub apparent: bool,
    /// React to the mouse.
    pub mouse: bool,
    /// Disable deletion.
    pub read_only: bool,
    /// When the tree was read, as text, if it is not that of the disk: nothing that needs the disk is
    /// possible.
    pub stored_at: Option<String>,
    /// The tree before: how entries grew since then is shown.
    pub before: Option<StoredBefore>,
    /// The tree if a service follows it: it is not walked, and what changes is shown at once.
    pub followed: Option<Arc<dyn FollowedTree>>,
}

/// A stored tree with the same root as the one that is read.
pub struct StoredBefore {
    /// Reads it, on a thread of its own.
    pub read: Arc<dyn Fn() -> Result<Table, String> + Send + Sync>,
    /// When it was read, as text.
    pub read_at: String,
}

impl std::fmt::Debug for ViewOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { colour, read_only, .. } = self;
        f.debug_struct("ViewOptions").field("colour", colour).field("read_only", read_only).finish()
    }
}
