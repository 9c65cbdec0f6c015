//! Errors of services and clients.

use std::fmt;
use std::io;
use std::path::PathBuf;

use transect::reason;

use crate::protocol::{ErrorReply, ProtocolError};

/// An error of a service or a client.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// This system has no service.
    Unsupported,
    /// The service answers git on Linux only.
    NoGit,
    /// The options of the cache are invalid here.
    Cache(transect::Error),
    /// The entries do not fit into a table.
    Table(transect::Error),
    /// Another service listens there.
    AlreadyRunning {
        /// The path of the socket, or the name of the pipe.
        socket: PathBuf,
        /// Its process id, if known.
        process: Option<u32>,
    },
    /// The path is something other than a socket.
    NotASocket(PathBuf),
    /// The path is not the name of a pipe (Windows).
    NotAPipe(PathBuf),
    /// The user of this process cannot be determined (Windows).
    NoUser(io::Error),
    /// A directory for sockets cannot be created, belongs to another user, or is open to others.
    NotPrivate(io::Error),
    /// The lock of a socket belongs to another user.
    LockOfOtherUser(PathBuf),
    /// The file beside the socket is not a lock.
    NotALock(PathBuf),
    /// An operation on a path failed: the operation, the path, the system's error.
    Path(&'static str, PathBuf, io::Error),
    /// No service answers there.
    NotRunning(PathBuf, io::Error),
    /// The service there belongs to another user.
    OtherUser {
        /// The path of the socket, or the name of the pipe.
        socket: PathBuf,
        /// The id of that user: a number, or a security identifier (Windows).
        user: String,
    },
    /// The service replied with an error.
    Remote(ErrorReply),
    /// The service's message cannot be parsed.
    Protocol(ProtocolError),
    /// The service closed the connection.
    Disconnected,
    /// The connection failed.
    Connection(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported => f.write_str("so far there is a service on Linux and Windows only"),
            Self::NoGit => f.write_str("so far, git is answered on Linux only"),
            Self::Cache(error) | Self::Table(error) => error.fmt(f),
            Self::AlreadyRunning { socket, process } => {
                write!(f, "a service answers at '{}' already", socket.display())?;
                process.map_or(Ok(()), |process| write!(f, ": process {process}"))
            }
            Self::NotASocket(path) => write!(f, "'{}' is not a socket", path.display()),
            Self::NotAPipe(path) => {
                let path = path.display();
                write!(f, r"'{path}' is not the name of a pipe; use one like \\.\pipe\NAME")
            }
            Self::NoUser(error) => {
                write!(f, "cannot determine the user of this process: {}", reason(error))
            }
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
    /// A peer may disconnect with unread data, or while something is written to it.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Self::Disconnected,
            _ => Self::Connection(error),
        }
    }
}
