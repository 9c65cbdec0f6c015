//! The directory of profiles.

use std::io;
use std::path::{Path, PathBuf};

use transect_sys::input::read_regular_text;
use transect_sys::private_dir::{self, OtherUsers};
use transect_transform::publish::put_with;
use transect_transform::{Error, Operation};

use super::{Profile, SCHEMA};
use crate::exit::CliError;
use crate::{output, user_dirs};

/// A directory of profiles.
#[derive(Clone, Debug)]
pub struct ProfileStore(PathBuf);

impl ProfileStore {
    /// Returns the store in a directory, which need not exist.
    pub fn of(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// Returns the path of the profile of a file system; the file need not exist.
    pub fn file(&self, identity: &str) -> PathBuf {
        self.0.join(format!("{identity}.json"))
    }

    /// Loads the profile of the file system of a path; `None` if there is none.
    ///
    /// # Errors
    /// The profile cannot be read, or other users can write to the directory.
    pub fn load(&self, path: &Path) -> io::Result<Option<Profile>> {
        // Most machines have no profiles; they pay one system call.
        if !private_dir::exists(&self.0, OtherUsers::ReadOnly)? {
            return Ok(None);
        }
        let Some(identity) = transect_sys::host::file_system_identity(path) else {
            return Ok(None);
        };
        let text = match read_regular_text(&self.file(&identity)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let profile: Profile = serde_json::from_str(&text)?;
        if profile.schema != SCHEMA || profile.identity != identity {
            let why = format!("schema {} of {}", profile.schema, profile.identity);
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(Some(profile))
    }

    /// Stores a profile, replacing an earlier one; returns the path of its file.
    ///
    /// # Errors
    /// A system call fails; an earlier profile is then unchanged.
    pub fn store(&self, profile: &Profile) -> Result<PathBuf, Error> {
        private_dir::create_all(&self.0, OtherUsers::ReadOnly)
            .map_err(Error::system(Operation::Create, &self.0))?;
        let file = self.file(&profile.identity);
        put_with(&file, |out| {
            serde_json::to_writer_pretty(&mut *out, profile)?;
            out.write_all(b"\n")
        })?;
        Ok(file)
    }

    /// Removes the profile of a file system; returns the path of its file, `None` if there was none.
    pub fn forget(&self, identity: &str) -> io::Result<Option<PathBuf>> {
        let file = self.file(identity);
        match std::fs::remove_file(&file) {
            Ok(()) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the store of this user.
    pub fn of_user() -> Result<Self, CliError> {
        Ok(Self::of(user_dirs::CONFIG.path("profiles")?))
    }
}

impl Profile {
    /// Loads this user's profile of the file system of a path. A profile that cannot be read is reported
    /// and ignored: settings are only advice.
    pub fn of_path(path: &Path) -> Option<Self> {
        // No home directory, no profiles.
        let profiles = ProfileStore::of_user().ok()?;
        profiles.load(path).unwrap_or_else(|error| {
            let (path, reason) = (path.display(), transect::reason(&error));
            output::hint(&format!("cannot read the profile of '{path}', and ignores it: {reason}"));
            None
        })
    }
}
