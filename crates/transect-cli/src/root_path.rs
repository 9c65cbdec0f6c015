//! The paths of roots, as snapshots store them.

use std::path::{Component, Path, PathBuf};

/// Returns the absolute path of a root, so that it means the same everywhere. A root that is a link is not
/// followed.
pub(crate) fn absolute(root: &Path) -> PathBuf {
    let path = match root.components().any(|part| part == Component::ParentDir) {
        true => root.canonicalize(),
        false => std::path::absolute(root),
    };
    path.unwrap_or_else(|_| root.to_owned())
}

/// Returns the path by which the series of a root is named: absolute, and without links, so that a
/// directory has one series however it is reached. A path that does not exist is only made absolute.
pub(crate) fn resolved(root: &Path) -> PathBuf {
    // On Windows, resolved paths have a form that other programs refuse.
    let resolved = if cfg!(windows) { None } else { root.canonicalize().ok() };
    // Components have no separators at the end.
    resolved.unwrap_or_else(|| absolute(root).components().collect())
}
