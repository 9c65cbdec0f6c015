//! The client and the server on systems without a service: constructors return an error.

use std::path::{Path, PathBuf};

use transect::{Cancel, FieldMask};
use transect_cache::{CacheOptions, LookupResult};

use crate::protocol::ServerInfo;
use crate::{Error, Event, ServeOptions, StopReason};

/// A client, which cannot exist on this system.
#[derive(Debug)]
pub enum Client {}

impl Client {
    /// Returns an error.
    ///
    /// # Errors
    /// Always.
    pub fn connect(_: &Path) -> Result<Self, Error> {
        Err(Error::Unsupported)
    }

    /// Unreachable: there is no client. The same holds for the methods that follow.
    pub fn server_info(&self) -> &ServerInfo {
        match *self {}
    }

    /// Unreachable.
    pub fn attributes<P: AsRef<Path>>(
        &mut self,
        _: &[P],
        _: FieldMask,
        _: bool,
    ) -> Result<Vec<LookupResult>, Error> {
        match *self {}
    }

    /// Unreachable.
    pub fn invalidate(&mut self, _: impl AsRef<Path>) -> Result<(), Error> {
        match *self {}
    }

    /// Unreachable.
    pub fn clear(&mut self) -> Result<(), Error> {
        match *self {}
    }

    /// Unreachable.
    pub fn freeze(&mut self) -> Result<(), Error> {
        match *self {}
    }

    /// Unreachable.
    pub fn thaw(&mut self) -> Result<(), Error> {
        match *self {}
    }

    /// Unreachable.
    pub fn stats(&mut self) -> Result<Vec<(String, u64)>, Error> {
        match *self {}
    }

    /// Unreachable.
    pub fn settle(&mut self) -> Result<bool, Error> {
        match *self {}
    }
}

/// A server, which cannot exist on this system.
#[derive(Debug)]
pub enum Server {}

impl Server {
    /// Returns an error.
    ///
    /// # Errors
    /// Always.
    pub fn bind(_: &Path, _: CacheOptions) -> Result<Self, Error> {
        Err(Error::Unsupported)
    }

    /// Unreachable: there is no server.
    pub fn run(
        &self,
        _: &ServeOptions,
        _: &Cancel,
        _: impl Fn(Event) + Sync,
    ) -> Result<StopReason, Error> {
        match *self {}
    }
}

/// Returns an error.
///
/// # Errors
/// Always.
pub fn create_private_dir(_: &Path) -> Result<(), Error> {
    Err(Error::Unsupported)
}

/// Returns a folder without a socket.
pub fn default_socket_dir(_: Option<PathBuf>, temporary: PathBuf) -> PathBuf {
    temporary.join("transect")
}
