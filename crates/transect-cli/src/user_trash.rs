//! The trash of the user.

use transect_remove::Trash;
use transect_sys::host::now;

use crate::output::time::TimeFormatter;

/// Returns the trash of this user, or why there is none. Entries in it are recorded with the local
/// time.
pub(crate) fn user_trash() -> Result<Trash, String> {
    let variable = |name| std::env::var_os(name);
    let home = Trash::home(variable("XDG_DATA_HOME").as_deref(), variable("HOME").as_deref());
    // Without a home, a trash at the top of another file system may exist, but file managers would
    // not show it.
    let home = home.ok_or("no home directory for the trash; set HOME or XDG_DATA_HOME")?;
    let now = TimeFormatter::local().text(now());
    Trash::new(home, &now.replace(' ', "T")).map_err(|refused| refused.to_string())
}
