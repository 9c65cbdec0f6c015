//! The programs' own directories, below the user's: never in directories that other users may write
//! to. The lab builds programs in the cache and starts them there, so the cache must be private.

use std::path::{Path, PathBuf};

use transect_sys::private_dir::{self, OtherUsers};

use crate::exit::CliError;

/// A directory of the user, and the variable that overrides it.
#[derive(Debug)]
pub struct UserDir {
    /// Its name in messages.
    what: &'static str,
    variable: &'static str,
    /// Its path in the home directory, if the variable is not set.
    default: &'static str,
}

/// Files that can be created again: built contenders, corpora.
pub const CACHE: UserDir = UserDir {
    what: "cache",
    variable: if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_CACHE_HOME" },
    default: ".cache",
};

/// Files that users created: series of snapshots.
pub const DATA: UserDir = UserDir {
    what: "data",
    variable: if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_DATA_HOME" },
    default: ".local/share",
};

/// Files that make the next start faster: tables of followed trees.
pub const STATE: UserDir = UserDir {
    what: "state",
    variable: if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_STATE_HOME" },
    default: ".local/state",
};

/// Files to keep: profiles.
pub const CONFIG: UserDir = UserDir {
    what: "configuration",
    variable: if cfg!(windows) { "APPDATA" } else { "XDG_CONFIG_HOME" },
    default: ".config",
};

/// Returns a subdirectory of the cache, creating it if it is missing.
///
/// # Errors
/// No cache directory is known, or other users may write to it.
pub fn cache(part: &str) -> Result<PathBuf, CliError> {
    let path = CACHE.path(part)?;
    let create = |path: &Path| private_dir::create_all(path, OtherUsers::ReadOnly);
    path.parent().map_or(Ok(()), create).and_then(|()| create(&path)).map_err(|refused| {
        let (why, variable) = (transect::reason(&refused), CACHE.variable);
        CliError::Failed(format!("{why}; set {variable} to a directory that only you can write to"))
    })?;
    Ok(path)
}

/// Returns the default socket of the service. On a system without a runtime directory, it is below
/// the temporary directory; server and client check each other's user.
///
/// # Errors
/// The user of this process cannot be determined.
pub fn service_socket() -> Result<PathBuf, CliError> {
    let runtime = absolute("XDG_RUNTIME_DIR");
    Ok(transect_service::default_socket(runtime, std::env::temp_dir())?)
}

impl UserDir {
    /// Returns the path of a subdirectory of ours, without creating it.
    pub fn path(&self, part: &str) -> Result<PathBuf, CliError> {
        Ok(self.base()?.join("transect").join(part))
    }

    /// Returns the directory that the variable names, or the default one, which all programs share.
    ///
    /// # Errors
    /// Neither directory is known.
    pub fn base(&self) -> Result<PathBuf, CliError> {
        let home = || std::env::home_dir().filter(|home| home.is_absolute());
        let named = absolute(self.variable).or_else(|| Some(home()?.join(self.default)));
        named.ok_or_else(|| {
            let Self { what, variable, .. } = self;
            let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
            CliError::Failed(format!(
                "no {what} directory: neither {variable} nor {home} is an absolute path; \
                 set one of them"
            ))
        })
    }
}

/// Returns the path in a variable. A relative one is ignored, as the XDG Base Directory Specification
/// requires.
fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
