//! Why a service cannot be made, or does not answer.

use std::fmt;
use std::io;
use std::path::PathBuf;

use transect::reason;

use crate::protocol::{ErrorReply, ProtocolError};

/// Why a service cannot be made, or does not answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// This system has none.
    Unsupported,
    /// The cache cannot be as it is asked for.
    Cache(transect::Error),
    /// A service answers there already.
    AlreadyRunning {
        /// Where.
        socket: PathBuf,
        /// Its process, if it has said so.
        process: Option<u32>,
    },
    /// Something other than a socket is there.
    NotASocket(PathBuf),
    /// A folder for sockets cannot be created, is not the user's own, or is open to others: why.
    NotPrivate(io::Error),
    /// The lock of a socket belongs to another user.
    LockOfOtherUser(PathBuf),
    /// Beside the socket, in the place of its lock, is something else.
    NotALock(PathBuf),
    /// A path could not be used: what was to be done with it, and what the system said.
    Path(&'static str, PathBuf, io::Error),
    /// No service answers there.
    NotRunning(PathBuf, io::Error),
    /// Who answers is another user.
    OtherUser {
        /// Where.
        socket: PathBuf,
        /// The number of that user.
        user: u32,
    },
    /// The service complains.
    Remote(ErrorReply),
    /// What it said makes no sense.
    Protocol(ProtocolError),
    /// It hung up.
    Disconnected,
    /// The connection failed.
    Connection(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported => f.write_str("so far there is a service on Linux only"),
            Self::Cache(error) => error.fmt(f),
            Self::AlreadyRunning { socket, process } => {
                write!(f, "a service answers at '{}' already", socket.display())?;
                process.map_or(Ok(()), |process| write!(f, ": process {process}"))
            }
            Self::NotASocket(path) => write!(f, "'{}' is no socket", path.display()),
            Self::NotPrivate(error) => f.write_str(&reason(error)),
            Self::LockOfOtherUser(path) => {
                write!(f, "'{}' belongs to another user", path.display())
            }
            Self::NotALock(path) => {
                write!(f, "'{}' is not the lock of a service", path.display())
            }
            Self::Path(what, path, error) => {
                write!(f, "cannot {what} '{}': {}", path.display(), reason(error))
            }
            Self::NotRunning(socket, error) => {
                write!(f, "no service answers at '{}': {}", socket.display(), reason(error))
            }
            Self::OtherUser { socket, user } => {
                write!(f, "the service at '{}' is that of user {user}", socket.display())
            }
            Self::Remote(reply) => write!(f, "the service says: {}", reply.text),
            Self::Protocol(error) => {
                write!(f, "what the service said makes no sense: {error}")
            }
            Self::Disconnected => f.write_str("the service has ended"),
            Self::Connection(error) => {
                write!(f, "the connection to the service failed: {}", reason(error))
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<ProtocolError> for Error {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(error)
    }
}

impl From<io::Error> for Error {
    /// Who hangs up may do so with something unread, or while something is written to him.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Self::Disconnected,
            _ => Self::Connection(error),
        }
    }
}
