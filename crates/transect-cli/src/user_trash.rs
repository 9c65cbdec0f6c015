//! The trash of the user.

use std::time::SystemTime;

use transect::FieldMask;
use transect_remove::Trash;

use crate::output::time::TimeFormatter;

/// Returns the trash of this user, or why there is none. Entries in it are recorded with the local
/// time.
pub(crate) fn user_trash() -> Result<Trash, String> {
    let variable = |name| std::env::var_os(name);
    let home = Trash::home(variable("XDG_DATA_HOME").as_deref(), variable("HOME").as_deref());
    // Without a home, a trash at the top of another file system may exist, but file managers would
    // not show it.
    let home = home.ok_or("no home directory for the trash; set HOME or XDG_DATA_HOME")?;
    let now = TimeFormatter::for_fields(FieldMask::MTIME).text(nanoseconds_since_1970());
    Trash::new(home, &now.replace(' ', "T")).map_err(|refused| refused.to_string())
}

fn nanoseconds_since_1970() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
