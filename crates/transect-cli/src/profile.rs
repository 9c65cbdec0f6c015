//! The settings that `lab tune` found to win: used by whatever walks, unless it is told otherwise.

use std::path::Path;

use transect::ScanOptions;
use transect_lab::profile::{Profile, Profiles};

use crate::args::WalkArgs;
use crate::{folders, output};

/// Returns the profiles of this user.
pub(crate) fn profiles() -> Profiles {
    Profiles::of(folders::config().join("profiles"))
}

/// Returns the options that arguments mean, and the profile that is among them.
///
/// Roots on several file systems have several profiles, or some have none: then none is used.
pub(crate) fn options(walk: &WalkArgs) -> (ScanOptions, Option<Profile>) {
    let mut options = walk.options();
    let profile = if walk.leaves_all_open() { of(&options) } else { None };
    if let Some(profile) = &profile {
        profile.settings.apply(&mut options);
    }
    (options, profile)
}

fn of(options: &ScanOptions) -> Option<Profile> {
    let (first, others) = options.roots.split_first()?;
    let profile = load(first)?;
    let same = |root: &Path| load(root).is_some_and(|other| other.identity == profile.identity);
    others.iter().all(|root| same(root)).then_some(profile)
}

/// Returns the profile of a place. One that cannot be read is told, and done without: it is a
/// measurement, no order.
pub(crate) fn load(path: &Path) -> Option<Profile> {
    profiles().load(path).unwrap_or_else(|error| {
        let (path, reason) = (path.display(), transect::reason(&error));
        output::hint(&format!("the profile of '{path}' cannot be read and is not used: {reason}"));
        None
    })
}
