//! The settings of commands in a program without the lab, which alone stores and reads profiles.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect::{ScanOptions, WalkProfile};
use transect_transform::pass::Preference;
use transect_transform::publish::Durability;

use crate::args::WalkArgs;

/// Returns the options of a walk.
pub(crate) fn scan_options(walk: &WalkArgs) -> (ScanOptions, Option<WalkProfile>) {
    (walk.options(), None)
}

/// Returns no preferences.
pub(crate) fn preferences(_: &[PathBuf], _: &Path, _: Durability) -> Arc<[Preference]> {
    Arc::default()
}
