//! Stored profiles: the settings that the lab found fastest, used unless an option overrides them.
//!
//! This module turns the lab's files into settings of the engine, so that commands that only use a
//! profile do not depend on the lab.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect::{ScanOptions, WalkProfile};
use transect_lab::experiments::transform::SyncRule;
use transect_lab::tune::profile::{Profile, ProfileStore, TransformSetting};
use transect_transform::pass::Preference;
use transect_transform::publish::Durability;

use crate::args::WalkArgs;
use crate::exit::CliError;
use crate::{output, user_dirs};

/// Returns the profiles of this user.
///
/// # Errors
/// No configuration directory is known.
pub(crate) fn profiles() -> Result<ProfileStore, CliError> {
    Ok(ProfileStore::of(user_dirs::config("profiles")?))
}

/// Returns the options of a walk, and the profile that set some of them.
///
/// A profile is used only if all roots have the same one.
pub(crate) fn scan_options(walk: &WalkArgs) -> (ScanOptions, Option<WalkProfile>) {
    let mut options = walk.options();
    let profile = if walk.allows_profile() { shared_profile(&options.roots) } else { None };
    let profile = profile.as_ref().and_then(Profile::walk_profile);
    if let Some(profile) = &profile {
        profile.settings.apply(&mut options);
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
    let there = target.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let paths: Vec<&Path> =
        std::iter::once(there).chain(inputs.iter().map(PathBuf::as_path)).collect();
    let settings = shared_profile(&paths).map_or(Vec::new(), |profile| profile.passes);
    let settings = settings.iter().filter(|setting| setting.sync == sync);
    settings.map(TransformSetting::preference).collect()
}

/// Returns the profile of the file system that contains all these paths.
fn shared_profile(paths: &[impl AsRef<Path>]) -> Option<Profile> {
    let (first, others) = paths.split_first()?;
    let profile = load(first.as_ref())?;
    let same = |path: &Path| load(path).is_some_and(|it| it.identity == profile.identity);
    others.iter().all(|path| same(path.as_ref())).then_some(profile)
}

/// Returns the profile of a path. A profile that cannot be read is reported and ignored: settings
/// are only advice.
pub(crate) fn load(path: &Path) -> Option<Profile> {
    // No home directory, no profiles.
    profiles().ok()?.load(path).unwrap_or_else(|error| {
        let (path, reason) = (path.display(), transect::reason(&error));
        output::hint(&format!("cannot read the profile of '{path}', and ignores it: {reason}"));
        None
    })
}
