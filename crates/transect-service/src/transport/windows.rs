//! Named pipes, which only their user can open.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use transect_sys::windows::{Event, Pipe, PipeListener, UserId};

use super::Peer;
use crate::error::Error;

/// How the names of all pipes of this machine begin.
const PREFIX: &str = r"\\.\pipe\";

/// Returns the pipe of a user's service: its name contains the user's id. The arguments are of use
/// on other systems only.
///
/// # Errors
/// The user cannot be determined.
pub fn default_socket(_: Option<PathBuf>, _: PathBuf) -> Result<PathBuf, Error> {
    let user = UserId::current().map_err(Error::NoUser)?;
    Ok(format!("{PREFIX}transect-{user}").into())
}

/// Does nothing: pipes are in no directory.
///
/// # Errors
/// None.
pub fn create_socket_dir(_: &Path) -> Result<(), Error> {
    Ok(())
}

/// A pipe of this process.
#[derive(Debug)]
pub(crate) struct Listener(PipeListener);

impl Listener {
    /// Listens at a pipe, unless a service does.
    pub(crate) fn bind(name: &Path) -> Result<Self, Error> {
        check_name(name)?;
        let running = |process| Error::AlreadyRunning { socket: name.to_owned(), process };
        // Before a pipe is created, because Wine would create another instance of an existing one.
        // If it cannot be opened, creating it reports why, or there is none.
        if let Ok(pipe) = Pipe::try_connect(name) {
            return Err(running(pipe.and_then(|pipe| pipe.server_process().ok())));
        }
        PipeListener::bind(name).map(Self).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => running(None),
            _ => Error::Path("listen at", name.to_owned(), error),
        })
    }

    /// Waits for a connection, or until it is woken, at most for `longest`. Returns whether there may be a connection. There is
    /// one listener, since git is not answered.
    pub(crate) fn wait(
        listeners: &[&Self],
        wake: &Wake,
        longest: Option<Duration>,
    ) -> io::Result<bool> {
        listeners.first().map_or(Ok(false), |it| it.0.wait(&wake.0, longest))
    }

    /// Accepts a connection, if there is one.
    pub(crate) fn accept(&self) -> io::Result<Option<Stream>> {
        Ok(self.0.accept()?.map(|pipe| Stream { pipe, waits: true }))
    }
}

/// Returns an error unless a path is the name of a pipe. A pipe in another directory would be a file,
/// or a pipe of another machine.
fn check_name(name: &Path) -> Result<(), Error> {
    let is_pipe = name.to_str().is_some_and(|name| {
        let start = name.get(..PREFIX.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(PREFIX)) && name.len() > PREFIX.len()
    });
    if is_pipe { Ok(()) } else { Err(Error::NotAPipe(name.to_owned())) }
}

#[derive(Debug)]
pub(crate) struct Stream {
    pipe: Pipe,
    /// Reads and writes wait.
    waits: bool,
}

impl Stream {
    /// Connects to a service of the user of this process.
    pub(crate) fn connect(name: &Path, _: Duration) -> Result<Self, Error> {
        check_name(name)?;
        let pipe =
            Pipe::connect(name).map_err(|error| Error::NotRunning(name.to_owned(), error))?;
        // Before anything is sent: any user may create a pipe with a free name.
        let (owner, user) = (pipe.owner()?, UserId::current().map_err(Error::NoUser)?);
        if owner != user {
            return Err(Error::OtherUser { socket: name.to_owned(), user: owner.to_string() });
        }
        Ok(Self { pipe, waits: false })
    }

    /// Returns the program at the other end. The system keeps other users away.
    pub(crate) fn peer(&self) -> io::Result<Peer> {
        // A client may be gone already.
        Ok(Peer { process: self.pipe.client_process().unwrap_or(0), other_user: None })
    }

    /// Ends reads and writes of an accepted connection, now and later.
    pub(crate) fn close(&self) {
        self.pipe.close();
    }

    /// Waits until a connected stream can be read, or written if `or_write`.
    ///
    /// # Errors
    /// That took `longest`.
    pub(crate) fn wait(&self, or_write: bool, longest: Option<Duration>) -> io::Result<()> {
        self.pipe.wait(or_write, longest)
    }

    /// Waits until it is woken. Returns false if the connection has ended before.
    pub(crate) fn is_woken(&self, wake: &Wake) -> io::Result<bool> {
        self.pipe.is_woken(&wake.0)
    }

    /// Waits until there is input, or the end of it, or until it is woken. Returns which of them.
    pub(crate) fn wait_or_woken(&self, wake: &Wake) -> io::Result<(bool, bool)> {
        self.pipe.wait_or_woken(&wake.0)
    }
}

/// Ends a wait of a [`Stream`] from another thread.
#[derive(Clone, Debug)]
pub(crate) struct Wake(Arc<Event>);

impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(Event::new()?)))
    }

    pub(crate) fn wake(&self) {
        self.0.signal();
    }
}

impl Read for &Stream {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        if self.waits { self.pipe.read(block) } else { self.pipe.try_read(block) }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.waits { self.pipe.write(bytes) } else { self.pipe.try_write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the two ends of a connection: the accepted one, and the connected one.
#[cfg(test)]
pub(crate) fn pair() -> (Stream, Stream) {
    use std::sync::atomic::{AtomicU32, Ordering};

    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = PathBuf::from(format!("{PREFIX}transect-pair-{}-{number}", std::process::id()));
    let listener = Listener::bind(&name).expect("a free name");
    let connected = Stream::connect(&name, Duration::MAX).expect("a listener of our own");
    let accepted = listener.accept().expect("a listener of our own").expect("a client");
    (accepted, connected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_socket_names_user() {
        let socket = default_socket(None, PathBuf::new()).unwrap();
        let name = socket.to_str().unwrap();
        assert!(name.starts_with(r"\\.\pipe\transect-S-1-"), "{name}");
        assert_eq!(default_socket(Some("C:\\".into()), "D:\\".into()).unwrap(), socket);
        check_name(&socket).unwrap();
    }

    #[test]
    fn pipe_other_names_refused() {
        for name in ["", "cache.sock", r"C:\pipe\x", r"\\.\pipe\", r"\\.\pip", r"\\host\pipe\x"] {
            let name = Path::new(name);
            assert!(matches!(Listener::bind(name), Err(Error::NotAPipe(_))), "{name:?}");
            assert!(
                matches!(Stream::connect(name, Duration::MAX), Err(Error::NotAPipe(_))),
                "{name:?}"
            );
        }
        check_name(Path::new(r"\\.\PIPE\x")).unwrap();
    }

    #[test]
    fn pipe_bound_once() {
        let name = PathBuf::from(format!(r"\\.\pipe\transect-once-{}", std::process::id()));
        let listener = Listener::bind(&name).unwrap();
        let us = std::process::id();
        assert!(matches!(
            Listener::bind(&name),
            Err(Error::AlreadyRunning { process: Some(process), .. }) if process == us
        ));
        drop(listener);
        drop(Listener::bind(&name).unwrap());
    }
}
