//! Stored profiles, used unless an option overrides them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect::ScanOptions;
use transect::internal::WalkProfile;
use transect_program::profile::{Profile, SyncRule, TransformSetting};
use transect_transform::pass::Preference;
use transect_transform::publish::Durability;

use crate::args::WalkArgs;

/// Returns the options of a walk, and the profile that set some of them.
///
/// A profile is used only if all roots have the same one.
pub(crate) fn scan_options(walk: &WalkArgs) -> (ScanOptions, Option<WalkProfile>) {
    let mut options = walk.options();
    let profile = if walk.allows_profile() { shared_profile(&options.roots) } else { None };
    let profile = profile.as_ref().and_then(Profile::walk_profile);
    if let Some(profile) = &profile {
        options.settings = profile.settings.supported();
    }
    (options, profile)
}

/// Returns the measured preferences for the file system of all `inputs` and `target`, with or without
/// syncing.
pub(crate) fn preferences(
    inputs: &[PathBuf],
    target: &Path,
    durability: Durability,
) -> Arc<[Preference]> {
    let sync = SyncRule::from(durability);
    // A missing directory will be created in its nearest existing ancestor.
    let there = target.ancestors().find(|directory| directory.exists()).unwrap_or(Path::new("."));
    let paths: Vec<&Path> =
        std::iter::once(there).chain(inputs.iter().map(PathBuf::as_path)).collect();
    let settings = shared_profile(&paths).map_or(Vec::new(), |profile| profile.passes);
    let settings = settings.iter().filter(|setting| setting.sync == sync);
    settings.map(TransformSetting::preference).collect()
}

/// Returns the profile of the file system that contains all these paths.
fn shared_profile(paths: &[impl AsRef<Path>]) -> Option<Profile> {
    let (first, others) = paths.split_first()?;
    let profile = Profile::of_path(first.as_ref())?;
    let same =
        |path: &Path| Profile::of_path(path).is_some_and(|it| it.identity == profile.identity);
    others.iter().all(|path| same(path.as_ref())).then_some(profile)
}
