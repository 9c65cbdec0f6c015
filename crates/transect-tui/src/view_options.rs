//! What differs with whoever looks on.

use transect_remove::Trash;

/// How things are shown.
pub struct ViewOptions {
    /// Colours are welcome.
    pub colour: bool,
    /// Returns a time as people read it, from nanoseconds since 1970 UTC: the day in ten characters,
    /// a blank, the time of day.
    pub time: Box<dyn Fn(i64) -> String>,
    /// Returns the name of a user.
    pub owner: fn(u32) -> String,
    /// Returns where things are moved that may be wanted back, or why there is no such place.
    pub trash: Box<dyn Fn() -> Result<Trash, String>>,
    /// Lengths of files are shown first, not disk usage.
    pub apparent: bool,
    /// Nothing can be removed.
    pub read_only: bool,
}

impl std::fmt::Debug for ViewOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { colour, read_only, .. } = self;
        f.debug_struct("ViewOptions").field("colour", colour).field("read_only", read_only).finish()
    }
}
