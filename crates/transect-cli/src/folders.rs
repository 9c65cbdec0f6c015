//! Where this program keeps files of its own.

use std::path::PathBuf;

/// Returns the folder for what can be made again: contenders that were built, corpora.
pub(crate) fn cache() -> PathBuf {
    of_the_user("XDG_CACHE_HOME", "LOCALAPPDATA", ".cache")
}

/// Returns the folder for what was found out, and is to stay: profiles.
pub(crate) fn config() -> PathBuf {
    of_the_user("XDG_CONFIG_HOME", "APPDATA", ".config")
}

/// Returns where a service is asked, and answers, unless another place is named.
pub(crate) fn service_socket() -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|path| path.is_absolute());
    transect_service::usual_folder(runtime, std::env::temp_dir()).join("cache.sock")
}

/// Returns our folder in the one that a variable names, or in the usual one of the user.
fn of_the_user(unix: &str, windows: &str, usual: &str) -> PathBuf {
    let variable = if cfg!(windows) { windows } else { unix };
    let home = || std::env::home_dir().unwrap_or_else(std::env::temp_dir).join(usual);
    // One that is not absolute is to be ignored (XDG Base Directory Specification).
    let named = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named.unwrap_or_else(home).join("transect")
}
