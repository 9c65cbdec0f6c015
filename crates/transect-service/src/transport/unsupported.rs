//! Systems without a service: nothing can be bound or connected.

use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Peer;
use crate::error::Error;

/// Returns a path without a socket.
///
/// # Errors
/// None.
pub fn default_socket(_: Option<PathBuf>, temporary: PathBuf) -> Result<PathBuf, Error> {
    Ok(temporary.join("transect/cache.sock"))
}

/// Returns an error.
///
/// # Errors
/// Always.
pub fn create_socket_dir(_: &Path) -> Result<(), Error> {
    Err(Error::Unsupported)
}

#[derive(Debug)]
pub(crate) struct Listener(());

impl Listener {
    pub(crate) fn bind(_: &Path) -> Result<Self, Error> {
        Err(Error::Unsupported)
    }

    pub(crate) fn wait(_: &[&Self], _: &Wake, _: Option<Duration>) -> io::Result<bool> {
        Err(ErrorKind::Unsupported.into())
    }

    pub(crate) fn accept(&self) -> io::Result<Option<Stream>> {
        Err(ErrorKind::Unsupported.into())
    }
}

#[derive(Debug)]
pub(crate) struct Stream(());

impl Stream {
    pub(crate) fn connect(_: &Path, _: Duration) -> Result<Self, Error> {
        Err(Error::Unsupported)
    }

    pub(crate) fn peer(&self) -> io::Result<Peer> {
        Err(ErrorKind::Unsupported.into())
    }

    pub(crate) fn close(&self) {}

    pub(crate) fn wait(&self, _: bool, _: Option<Duration>) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    pub(crate) fn is_woken(&self, wake: &Wake) -> io::Result<bool> {
        match wake.0 {}
    }

    pub(crate) fn wait_or_woken(&self, wake: &Wake) -> io::Result<(bool, bool)> {
        match wake.0 {}
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Wake(std::convert::Infallible);

impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        Err(ErrorKind::Unsupported.into())
    }

    pub(crate) fn wake(&self) {
        match self.0 {}
    }
}

impl Read for &Stream {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(ErrorKind::Unsupported.into())
    }
}

impl Write for &Stream {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(ErrorKind::Unsupported.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
