//! The choice between walking and reading the tables of a volume.
//!
//! The time to read the tables depends on all that is on the volume, that of a walk on what is wanted of
//! it. Tables are faster if more than an eighth of the entries of an ext4 are wanted warm, and a fourteenth cold
//! (`bench/volumes --shares`); warm, of a Btrfs two thirds, where each subvolume is a volume. How much is below a
//! directory is known only of the top directory, where it is everything.

use std::path::Path;

use transect_sys::ReaderKind;

use crate::options::ScanOptions;

/// Returns the reader of the volume if the only root is all of one, and why or why not.
pub(super) fn choose(options: &ScanOptions) -> (Option<ReaderKind>, Option<String>) {
    match volume_of(options) {
        Ok(reader) => (Some(reader), Some("everything on the volume is wanted".to_owned())),
        Err(reason) => (None, Some(reason)),
    }
}

fn volume_of(options: &ScanOptions) -> Result<ReaderKind, String> {
    let [root] = &*options.roots else { return Err("there are several roots".to_owned()) };
    if let Some(why) = unavailable_on_volumes(options) {
        return Err(format!("a reader of volumes is not enough: {why}"));
    }
    if options.settings.buffer_size.is_some() || options.settings.stat_order.is_some() {
        return Err("a setting of the walk is given".to_owned());
    }
    let (reader, is_whole) = probe(root)?;
    if !is_whole || options.max_depth.is_some() || options.entry_filter.is_some() {
        return Err("only a part of the volume is wanted".to_owned());
    }
    Ok(reader)
}

/// Returns why a reader of volumes, which has attributes and names but no content, cannot do what is
/// wanted.
pub(super) fn unavailable_on_volumes(options: &ScanOptions) -> Option<&'static str> {
    if options.follow_links || options.filters.broken_links {
        Some("it does not read the targets of links")
    } else if options.filters.gitignore {
        Some("it does not read .gitignore files")
    } else {
        None
    }
}

#[cfg(feature = "volumes")]
fn probe(root: &Path) -> Result<(ReaderKind, bool), String> {
    let found = transect_volumes::probe(root).map_err(|error| error.to_string())?;
    match found.why_walked {
        Some(why) => Err(why.to_owned()),
        None => Ok((found.reader, found.is_whole)),
    }
}

#[cfg(not(feature = "volumes"))]
fn probe(_: &Path) -> Result<(ReaderKind, bool), String> {
    Err("this program was built without readers of volumes".to_owned())
}
