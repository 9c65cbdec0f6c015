//! Connections between programs on one machine: a socket on Linux, a named pipe on Windows.
//!
//! The module of each system has the same items, and all other code is the same everywhere:
//!
//! * `Listener::bind` listens, unless another service does; `bind_for_git` at the socket of git's daemon; `wait` and `accept`
//!   yield connections.
//! * `Stream::connect` connects to a service of the same user; `peer` is the program at the other
//!   end. Reads and writes of an accepted stream wait, until `close` ends them. Those of a connected
//!   stream return [`WouldBlock`](std::io::ErrorKind::WouldBlock); `wait` waits for both at once.
//! * `Wake` ends a wait of a `Listener` or a `Stream` from another thread.
//! * [`default_socket`], [`create_socket_dir`].

use std::time::Duration;

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "unsupported.rs"]
mod system;

#[cfg(test)]
pub(crate) use system::pair;
pub(crate) use system::{Listener, Stream, Wake};
pub use system::{create_socket_dir, default_socket};

/// Only Linux has the helper that reports changes to all users, and answers git.
#[cfg(not(target_os = "linux"))]
impl Listener {
    pub(crate) fn bind_for_git(_: &std::path::Path) -> Result<Self, crate::error::Error> {
        Err(crate::error::Error::NoGit)
    }

    pub(crate) fn admit_all_users(&self) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

#[cfg(not(target_os = "linux"))]
impl Stream {
    pub(crate) fn serve_watches(&self, _: usize) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

/// Makes a server look from another thread whether it was cancelled.
#[derive(Clone, Debug)]
pub struct Waker(pub(crate) Wake);

impl Waker {
    /// Ends the wait for clients.
    pub fn wake(&self) {
        self.0.wake();
    }
}

/// The delay after a failure for lack of memory, descriptors or threads.
pub(crate) const RETRY_DELAY: Duration = Duration::from_millis(100);

/// The program at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    /// Its process id; 0 if the system does not report it.
    pub(crate) process: u32,
    /// Its user, if that is not the user of this process.
    pub(crate) other_user: Option<u32>,
}
