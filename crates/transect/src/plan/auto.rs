//! The choice between walking and reading the tables of a volume.
//!
//! The time to read the tables depends on all that is on the volume, that of a walk on what is wanted of
//! it. Tables are faster if more than an eighth of the entries of an ext4 are wanted warm, and a fourteenth cold
//! (`bench/volumes --shares`); warm, of a Btrfs two thirds, where each subvolume is a volume. How much is below a
//! directory is known only of the top directory, where it is everything.

use std::path::{Path, PathBuf};

use transect_sys::ReaderKind;

/// What matters of a walk.
pub(super) struct Wanted<'a> {
    pub(super) roots: &'a [PathBuf],
    /// Why readers of volumes cannot do what is wanted.
    pub(super) unavailable: Option<&'static str>,
    /// Some directories are not read.
    pub(super) is_partial: bool,
    /// A setting is given that only readers of directories have.
    pub(super) has_settings: bool,
}

/// Returns the reader of the volume if the only root is all of one, and why or why not.
pub(super) fn choose(wanted: &Wanted<'_>) -> (Option<ReaderKind>, Option<String>) {
    match volume_of(wanted) {
        Ok(reader) => (Some(reader), Some("everything on the volume is wanted".to_owned())),
        Err(reason) => (None, Some(reason)),
    }
}

fn volume_of(wanted: &Wanted<'_>) -> Result<ReaderKind, String> {
    let [root] = wanted.roots else { return Err("there are several roots".to_owned()) };
    if let Some(why) = wanted.unavailable {
        return Err(format!("a reader of volumes is not enough: {why}"));
    }
    if wanted.has_settings {
        return Err("a setting of the walk is given".to_owned());
    }
    let (reader, is_whole) = probe(root)?;
    if !is_whole || wanted.is_partial {
        return Err("only a part of the volume is wanted".to_owned());
    }
    Ok(reader)
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
