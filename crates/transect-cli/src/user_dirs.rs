//! Where this program keeps files of its own: in folders of the user, never in those that everybody
//! may write to. Programs are built in the cache and started from there, so it has to be private.

use std::path::{Path, PathBuf};

use transect_sys::private_dir::{self, OtherUsers};

use crate::exit::CliError;

/// The folders of a user, and the variables that name others.
struct UserDir {
    /// What it is, for people.
    what: &'static str,
    variable: &'static str,
    /// In the home, if the variable does not name another one.
    default: &'static str,
}

/// For what can be made again: contenders that were built, corpora.
const CACHE: UserDir = UserDir {
    what: "cache",
    variable: if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_CACHE_HOME" },
    default: ".cache",
};

/// For what was found out, and is to stay: profiles.
const CONFIG: UserDir = UserDir {
    what: "configuration",
    variable: if cfg!(windows) { "APPDATA" } else { "XDG_CONFIG_HOME" },
    default: ".config",
};

/// Returns a part of the cache, which is created if it is missing.
///
/// # Errors
/// There is no place for it, or other users could have put something there.
pub(crate) fn cache(part: &str) -> Result<PathBuf, CliError> {
    let path = cache_path(part)?;
    let create = |path: &Path| private_dir::create_all(path, OtherUsers::ReadOnly);
    path.parent().map_or(Ok(()), create).and_then(|()| create(&path)).map_err(|refused| {
        let (why, variable) = (transect::reason(&refused.into()), CACHE.variable);
        CliError::File(format!("{why}; set {variable} to a directory that only you can write to"))
    })?;
    Ok(path)
}

/// Returns where a part of the cache is, or would be.
///
/// # Errors
/// There is no place for it.
pub(crate) fn cache_path(part: &str) -> Result<PathBuf, CliError> {
    Ok(CACHE.path()?.join(part))
}

/// Returns where a part of the configuration is, or would be.
///
/// # Errors
/// There is no place for it.
pub(crate) fn config(part: &str) -> Result<PathBuf, CliError> {
    Ok(CONFIG.path()?.join(part))
}

/// Returns where a service is asked, and answers, unless another place is named. Where the system has
/// no folder for what runs, it is in the one for temporary files; server and client each check who
/// the other one is.
pub(crate) fn service_socket() -> PathBuf {
    let runtime = absolute("XDG_RUNTIME_DIR");
    transect_service::default_socket_dir(runtime, std::env::temp_dir()).join("cache.sock")
}

impl UserDir {
    /// Returns our folder in the one that the variable names, or in the usual one of the user.
    fn path(&self) -> Result<PathBuf, CliError> {
        let home = || std::env::home_dir().filter(|home| home.is_absolute());
        let named = absolute(self.variable).or_else(|| Some(home()?.join(self.default)));
        let Some(folder) = named else {
            let Self { what, variable, .. } = self;
            let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
            return Err(CliError::File(format!(
                "no {what} directory: neither {variable} nor {home} is an absolute path; \
                 set one of them"
            )));
        };
        Ok(folder.join("transect"))
    }
}

/// Returns the path that a variable holds. One that is not absolute is ignored, as the XDG Base
/// Directory Specification demands.
fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
