//! Links the other names of a replaced file to the new file.

use std::path::Path;

use transect_sys::Attributes;
use transect_sys::file::attributes_at;

use super::temporary::with_unused_name;
use super::{Durability, sync_parent_dir};
use crate::error::{Error, Operation};

/// Replaces `other`, a name of the file that `first` has replaced, with a hard link to `first`, so
/// that all names stay names of the same file. `before` holds the attributes of the replaced file.
///
/// # Errors
/// `other` has changed, or the system reports an error. `other` is then unchanged.
pub fn replace_with_link(
    first: &Path,
    other: &Path,
    before: &Attributes,
    durability: Durability,
) -> Result<(), Error> {
    let failed = || Error::system(Operation::Replace, other);
    let now = attributes_at(other).map_err(failed())?;
    let replaced = attributes_at(first).map_err(failed())?;
    if now.file_id() == replaced.file_id() {
        // The same name, spelled differently.
        return Ok(());
    }
    // Its ctime changed when it lost its first name.
    let is_same = now.file_id() == before.file_id()
        && now.size() == before.size()
        && now.mtime() == before.mtime();
    if !is_same {
        return Err(Error::changed(other));
    }
    let linked = with_unused_name(other, |name| std::fs::hard_link(first, name));
    let ((), name) = linked.map_err(failed())?;
    std::fs::rename(&name, other).map_err(|error| {
        // Report the first error.
        let _ = std::fs::remove_file(&name);
        failed()(error)
    })?;
    match durability {
        Durability::None => Ok(()),
        Durability::File | Durability::Batch => sync_parent_dir(other),
    }
}
