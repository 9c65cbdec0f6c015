//! Connections without the client: tests write whatever they like.

use crate::support::Served;

/// A connection that waits in reads and writes.
#[cfg(unix)]
pub(crate) type RawStream = std::os::unix::net::UnixStream;

/// A connection that waits in reads and writes: a pipe is opened as a file.
#[cfg(windows)]
pub(crate) type RawStream = std::fs::File;

#[cfg(unix)]
pub(crate) fn connect(served: &Served) -> RawStream {
    RawStream::connect(served.socket()).unwrap()
}

#[cfg(windows)]
pub(crate) fn connect(served: &Served) -> RawStream {
    /// All instances of the pipe are in use, and the service creates another one.
    const ERROR_PIPE_BUSY: i32 = 231;
    transect_testkit::wait_for("a free instance", || {
        match RawStream::options().read(true).write(true).open(served.socket()) {
            Err(error) if error.raw_os_error() == Some(ERROR_PIPE_BUSY) => None,
            opened => Some(opened.unwrap()),
        }
    })
}
