//! Replaces a file by a clone of another one.

use std::fs::File;
use std::path::Path;

use transect_sys::Attributes;

use super::{Durability, Existing, PublishReport, ReplaceOptions, Replacement};
use crate::error::Error;
use crate::source::{Source, SourceOptions, same_state};
use crate::system;

/// Replaces the file at `target` by a clone of `from` (reflink), which shares the blocks of `from`
/// until one of them is changed. The caller has compared their content. Owner, permissions, times
/// and extended attributes stay those of the target, as far as the system allows. `expected` holds
/// the attributes of the target when it was compared.
///
/// Returns `None` if the file system cannot clone; nothing has changed then.
///
/// # Errors
/// The target has changed, or the system reports an error. The target is then unchanged.
pub fn replace_with_clone(
    from: &File,
    target: &Path,
    expected: &Attributes,
) -> Result<Option<PublishReport>, Error> {
    let options = SourceOptions { is_listed: true, ..SourceOptions::default() };
    let source = Source::open_as(target.to_owned(), options)?;
    if !same_state(source.attributes(), expected) {
        return Err(Error::changed(target));
    }
    let options = ReplaceOptions {
        existing: Existing::InPlace,
        break_links: true,
        durability: Durability::File,
        keep_times: true,
        ..ReplaceOptions::default()
    };
    let mut out = Replacement::begin(target, Some(&source), options)?;
    out.start()?;
    if !system::clone_file(from, out.file()) {
        return Ok(None);
    }
    out.skip(source.size())?;
    // Windows cannot replace an open file.
    drop(source);
    out.publish().map(Some)
}
