//! Other systems, where no cause can be found.

use std::path::Path;

use transect::ScanOptions;

use super::NotFound;

pub(super) fn find(_: &Path, _: &ScanOptions) -> Option<NotFound> {
    None
}
