//! Systems without a service: nothing of it can be made, and that is said.

use std::path::{Path, PathBuf};

use transect::{Cancel, FieldMask};
use transect_cache::{CacheOptions, LookupResult};

use crate::protocol::ServerInfo;
use crate::{Error, Event, ServeOptions, StopReason};

/// Where there is no service, nobody asks it.
#[derive(Debug)]
pub enum Client {}

impl Client {
    /// Says that there is no service.
    ///
    /// # Errors
    /// Always.
    pub fn connect(_: &Path) -> Result<Self, Error> {
        Err(Error::Unsupported)
    }

    /// Is not reached: there is no client; so it is with all that follow.
    pub fn server_info(&self) -> &ServerInfo {
        match *self {}
    }

    /// Is not reached.
    pub fn attributes<P: AsRef<Path>>(
        &mut self,
        _: &[P],
        _: FieldMask,
        _: bool,
    ) -> Result<Vec<LookupResult>, Error> {
        match *self {}
    }

    /// Is not reached.
    pub fn settle(&mut self) -> Result<bool, Error> {
        match *self {}
    }
}

/// Where there is no service, nobody serves.
#[derive(Debug)]
pub enum Server {}

impl Server {
    /// Says that there is no service.
    ///
    /// # Errors
    /// Always.
    pub fn bind(_: &Path, _: CacheOptions) -> Result<Self, Error> {
        Err(Error::Unsupported)
    }

    /// Is not reached: there is no server.
    pub fn run(
        &self,
        _: &ServeOptions,
        _: &Cancel,
        _: impl Fn(Event) + Sync,
    ) -> Result<StopReason, Error> {
        match *self {}
    }
}

/// Says that there is no service.
///
/// # Errors
/// Always.
pub fn create_private_dir(_: &Path) -> Result<(), Error> {
    Err(Error::Unsupported)
}

/// Returns a folder in which nobody answers.
pub fn default_socket_dir(_: Option<PathBuf>, temporary: PathBuf) -> PathBuf {
    temporary.join("transect")
}
