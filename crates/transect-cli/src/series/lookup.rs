//! Which series there are, also those of other machines.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use transect_sys::file::attributes_at;
use transect_sys::host::host_name;
use transect_sys::name_from_bytes;

use super::{Listing, Search, Series, Unusable, entries, name, series_directory};
use crate::root_path::resolved;
use crate::snapshot_file;
use transect_program::CliError;

/// Why a directory with files is not a series.
const NO_SNAPSHOT: &str = "no snapshot in it is of the directory that it is named after";

/// Returns the newest snapshot of a directory that was kept on this machine, or else of the nearest directory above it,
/// and the newer files that could not be used.
pub(crate) fn nearest(directory: &Path) -> Result<Search, CliError> {
    let all = series_directory()?;
    let host = host_name().unwrap_or_default();
    let mut nearest = Search::default();
    for root in resolved(directory).ancestors() {
        let series = Series::below(&all, &host, root);
        if attributes_at(&series.directory).is_err() {
            continue;
        }
        let Search { kept, unusable } = series.last()?;
        nearest.unusable.extend(unusable);
        if kept.is_some() {
            nearest.kept = kept;
            break;
        }
    }
    Ok(nearest)
}

/// Returns the series of a machine, sorted by their roots, except those whose roots lie in the root of another one.
pub(crate) fn outermost(series: &Path, host: &str) -> Result<Vec<Series>, CliError> {
    let (all, _) = Series::find_all(series, Some(host))?;
    let mut outermost: Vec<Series> = Vec::new();
    for series in all {
        // A directory is sorted before all that is in it.
        if !outermost.iter().any(|outer| series.root.starts_with(&outer.root)) {
            outermost.push(series);
        }
    }
    Ok(outermost)
}

impl Series {
    /// Returns all series in a directory of series, or all of one machine, by machine and root, and what else lies in
    /// their directories. Series without snapshots are left out.
    pub(crate) fn find_all(
        series: &Path,
        host: Option<&str>,
    ) -> Result<(Vec<Self>, Vec<Unusable>), CliError> {
        let (mut found, mut unusable) = (Vec::new(), Vec::new());
        let machine = host.map(name::host_directory);
        for entry in entries(series, 2)? {
            let path = entry.path();
            let directory_of_host =
                if entry.depth() == 1 { Some(entry.file_name()) } else { parent(&path) };
            if machine.as_ref().is_some_and(|it| directory_of_host != Some(it.as_ref())) {
                continue;
            }
            let unusable_because = |reason: String| Unusable { path: path.clone(), reason };
            if !entry.file_type().is_dir() {
                unusable.push(unusable_because("not the directory of a series".to_owned()));
            } else if entry.depth() == 2 {
                match Listing::of(&path) {
                    Ok(listing) if listing.is_empty() => {}
                    Ok(listing) => match Self::of_directory(&path, &listing) {
                        Some(series) => found.push(series),
                        None => unusable.push(unusable_because(NO_SNAPSHOT.to_owned())),
                    },
                    Err(error) => unusable.push(unusable_because(error.to_string())),
                }
            }
        }
        found.sort_by(|a, b| (&a.host, &a.root).cmp(&(&b.host, &b.root)));
        unusable.sort_by(|a, b| a.path.cmp(&b.path));
        Ok((found, unusable))
    }

    /// Returns the series in a directory: a snapshot in it has the root that the directory is named after.
    fn of_directory(directory: &Path, listing: &Listing) -> Option<Self> {
        let (root, host) = listing.dated.iter().rev().find_map(|(_, file)| {
            let is_named = |root: &Path| {
                directory.file_name() == Some(name::root_directory(root.as_os_str()).as_ref())
            };
            described(file).filter(|(root, _)| is_named(root))
        })?;
        // A machine may have been renamed, and its directory with it.
        let in_directory = parent(directory).unwrap_or_default();
        let host = host.filter(|host| in_directory == &*name::host_directory(host));
        let host = host.unwrap_or_else(|| in_directory.to_string_lossy().into_owned());
        Some(Self { root, host, directory: directory.to_owned() })
    }
}

fn parent(path: &Path) -> Option<&OsStr> {
    path.parent().and_then(Path::file_name)
}

/// Returns the root and the machine of a snapshot; `None` if it cannot be read.
fn described(file: &Path) -> Option<(PathBuf, Option<String>)> {
    let snapshot = snapshot_file::open_kept(file).ok()?;
    let mut rows = snapshot.rows();
    // The metadata have the root only as text.
    let root = rows.advance(true).ok()?.then(|| name_from_bytes(rows.name().to_vec()))?;
    Some((root.into(), snapshot.metadata().host.clone()))
}
