//! What the programs of this workspace use besides. It changes without notice, and is no part of the interface.

pub use crate::filter::AttributeFilter;
pub use crate::iter::FoundEntries;
pub use crate::options::WorkLimit;
pub use crate::order::Order;
pub use crate::path::push_name;
pub use crate::profile::{WalkProfile, WalkSettings};
pub use crate::reader::{AnyHandle, AnyReader, disk_space_of};
pub use crate::sink::{LineFormat, ListEntry, ListOutput, ListSink, ListTotals, Skips};
pub use crate::sink::{SortBuffer, SortKey, SortSpec};
pub use crate::walk::{StoredRows, for_each_dir};

pub use transect_sys::{Reader, StatOrder};
