//! Reads a tree again with the help of a snapshot: directories that did not change are not listed.
//!
//! ```text
//!                     ┌─ same file id, mtime and ctime ─► the rows of the snapshot
//! walker ─► SinceReader ─┤
//!                     └─ anything else ─► the reader of the system
//! ```
//!
//! The walker, filters and sinks are the same as for every walk. A system changes both times of a
//! directory when an entry is added to it, removed from it or renamed in it. Changes of the entries
//! themselves change nothing there: [`SinceLevel`] decides whether they are queried.
//!
//! A file system may report what changed (Btrfs). Then only that is listed or queried again, and everything else is
//! certain to be as it was: no times are compared.

mod baseline;
mod reader;
mod stored_attributes;

pub use baseline::{Baseline, BaselineRoot, Changes, generation_of};
pub use reader::{SinceHandle, SinceReader};

transect_sys::words! {
    /// What is queried of entries in a directory that did not change.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SinceLevel {
        /// Only directories: which names there are is current, attributes of files are those of the
        /// snapshot.
        Names = "names",
        /// Everything: only the listing is saved.
        Attributes = "attributes",
    }
}
