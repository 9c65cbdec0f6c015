//! Which series there are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use transect::ScanOptions;
use transect_snapshot::Snapshot;
use transect_sys::file::attributes_at;
use transect_sys::{FaultKind, name_from_bytes};

use super::{FOLDER, Search, Series, name, resolved};
use crate::commands::snapshot::host;
use crate::exit::CliError;
use crate::user_dirs;

/// Returns the newest snapshot of a directory that was kept on this machine, or else of the nearest directory above it,
/// and the newer files that could not be used.
///
/// # Errors
/// No data folder is known, or a folder in it cannot be read.
pub(crate) fn nearest(directory: &Path) -> Result<Search, CliError> {
    let folder = user_dirs::data_path(FOLDER)?;
    let host = host().unwrap_or_default();
    let mut nearest = Search::default();
    for root in resolved(directory).ancestors() {
        let series = Series::below(&folder, &host, root);
        if attributes_at(&series.folder).is_err() {
            continue;
        }
        let Search { kept, unusable } = series.newest(i64::MAX)?;
        nearest.unusable.extend(unusable);
        if kept.is_some() {
            nearest.kept = kept;
            break;
        }
    }
    Ok(nearest)
}

/// Returns the series of this machine, sorted by their roots, except those whose roots lie in the root of another one.
///
/// # Errors
/// No data folder is known, or a folder in it cannot be read.
pub(crate) fn outermost() -> Result<Vec<Series>, CliError> {
    let host = host().unwrap_or_default();
    outermost_in(&user_dirs::data_path(FOLDER)?, &host)
}

/// Like [`outermost`], in a folder of series.
pub(super) fn outermost_in(folder: &Path, host: &str) -> Result<Vec<Series>, CliError> {
    let of_host = folder.join(name::host_folder(host));
    let plan = ScanOptions::new([&of_host]).max_depth(1).plan()?;
    let mut roots = Vec::new();
    for entry in plan.walk() {
        match entry {
            Ok(entry) if entry.depth() == 1 && entry.is_dir() => roots.extend(root(&entry.path())?),
            Ok(_) => {}
            // Nothing was kept yet.
            Err(error) if error.depth() == 0 && error.kind() == FaultKind::NotFound => break,
            Err(error) => return Err(CliError::File(error.to_string())),
        }
    }
    roots.sort();
    let mut outermost: Vec<PathBuf> = Vec::new();
    for root in roots {
        // A directory is sorted before all that is in it.
        if !outermost.iter().any(|outer| root.starts_with(outer)) {
            outermost.push(root);
        }
    }
    Ok(outermost.iter().map(|root| Series::below(folder, host, root)).collect())
}

/// Returns the root whose series has this folder: that of its newest snapshot with the right name.
fn root(folder: &Path) -> Result<Option<PathBuf>, CliError> {
    let unknown = Series { root: PathBuf::new(), host: String::new(), folder: folder.to_owned() };
    let dated = unknown.list()?.dated;
    let file_name = folder.file_name().unwrap_or_default();
    let is_root = |root: &OsStr| OsStr::new(&name::root_folder(root)) == file_name;
    let roots = dated.iter().rev().filter_map(|(_, path)| {
        let snapshot = Snapshot::open(path).ok()?;
        let text = snapshot.metadata().roots.first()?;
        if is_root(text.as_ref()) {
            return Some(PathBuf::from(text));
        }
        // A path that is not UTF-8.
        let mut rows = snapshot.rows();
        let has_row = rows.advance().ok()?;
        let root = name_from_bytes(rows.name().to_vec());
        (has_row && is_root(&root)).then(|| PathBuf::from(root))
    });
    Ok({ roots }.next())
}
