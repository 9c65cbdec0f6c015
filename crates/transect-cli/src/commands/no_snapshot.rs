//! Stands for `snapshot` in a program without it.

use transect::FieldMask;
use transect::table::Table;

use crate::args::WalkArgs;
use crate::exit::CliError;

/// A tree that was stored: there is none.
pub(crate) struct StoredTree {
    pub(crate) table: Table,
    #[cfg_attr(not(feature = "map"), expect(dead_code, reason = "only the map shows it"))]
    pub(crate) read_at: Option<i64>,
    pub(crate) interrupted: bool,
}

/// Returns `None`: every path is that of a file or directory.
#[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
pub(crate) fn stored_tree(_: &WalkArgs, _: FieldMask) -> Result<Option<StoredTree>, CliError> {
    Ok(None)
}
