//! Unix domain sockets: accessible to their user only, and replaced if they are left over from a
//! killed service.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::geteuid;
use transect::{FieldMask, FileId, FileType};
use transect_sys::file::{attributes_of, query_attributes};
use transect_sys::private_dir::{self, OtherUsers};

use super::{Peer, RETRY_DELAY};
use crate::error::Error;

/// Returns the socket of a user's service: in the directory for sockets and the like
/// (`XDG_RUNTIME_DIR`), or else in one with the user's id in the directory for temporary files. On
/// Windows, a pipe whose name contains the user's id.
///
/// # Errors
/// None on Linux. On Windows, the user cannot be determined.
pub fn default_socket(runtime: Option<PathBuf>, temporary: PathBuf) -> Result<PathBuf, Error> {
    let folder = runtime.map_or_else(
        || temporary.join(format!("transect-{}", geteuid().as_raw())),
        |runtime| runtime.join("transect"),
    );
    Ok(folder.join("cache.sock"))
}

/// Creates the directory of a socket, so that no other user can access it. If it exists, verifies that:
/// where any user can write, another may have created it first. Does nothing on Windows, where a
/// pipe is in no directory.
///
/// # Errors
/// The directory cannot be created; or what exists is not a directory, belongs to another user, or is
/// open to others.
pub fn create_socket_dir(socket: &Path) -> Result<(), Error> {
    let Some(folder) = socket.parent() else { return Ok(()) };
    private_dir::create(folder, OtherUsers::NoAccess).map_err(Error::NotPrivate)
}

/// A socket of this process, removed when dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: PathBuf,
    id: Option<FileId>,
    listener: UnixListener,
    /// Locked as long as the process lives, however it ends. The file stays: if it were removed,
    /// two processes could hold the lock. None if git's rules hold.
    _lock: Option<File>,
}

impl Listener {
    /// Listens at a socket, unless a live service does.
    pub(crate) fn bind(socket: &Path) -> Result<Self, Error> {
        // Checked first, so that no lock is left beside another file.
        socket_exists(socket)?;
        let lock = lock(socket)?;
        // The lock is free, so no process listens at this socket.
        Self::replace(socket, Some(lock))
    }

    /// Listens at the socket of git's daemon, unless one does. Git's daemon also creates the lock beside a socket, and removes
    /// it once it listens.
    pub(crate) fn bind_for_git(socket: &Path) -> Result<Self, Error> {
        let failed = |error| Error::Path("listen at", socket.to_owned(), error);
        let directory = socket.parent().unwrap_or(Path::new(""));
        let there = query_attributes(directory, FieldMask::UID, true).map_err(failed)?;
        if there.uid() != Some(geteuid().as_raw()) {
            return Err(failed(io::Error::other("its directory belongs to another user")));
        }
        let lock = lock_of(socket);
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&lock)
            .map_err(|error| Error::Path("create", lock.clone(), error))?;
        let listener = match connect(socket, RETRY_DELAY) {
            Ok(stream) => {
                let process = Stream(stream).peer().ok().map(|peer| peer.process);
                Err(Error::AlreadyRunning { socket: socket.to_owned(), process })
            }
            // As many clients wait as can.
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                Err(Error::AlreadyRunning { socket: socket.to_owned(), process: None })
            }
            Err(_) => Self::replace(socket, None),
        };
        fs::remove_file(&lock).map_err(|error| Error::Path("remove", lock, error))?;
        listener
    }

    /// Listens at a socket at which no process listens.
    fn replace(socket: &Path, lock: Option<File>) -> Result<Self, Error> {
        if socket_exists(socket)? {
            fs::remove_file(socket)
                .map_err(|error| Error::Path("replace", socket.to_owned(), error))?;
        }
        let failed = |error| Error::Path("listen at", socket.to_owned(), error);
        let listener = listen_privately(socket).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let id = query_attributes(socket, FieldMask::FILE_ID, false).map_err(failed)?.file_id();
        Ok(Self { socket: socket.to_owned(), id, listener, _lock: lock })
    }

    /// Lets all users connect. What another user has put in the place of the socket keeps its mode: root may listen in a
    /// directory of that user.
    pub(crate) fn admit_all_users(&self) -> io::Result<()> {
        let flags = (OFlags::PATH | OFlags::NOFOLLOW).bits().cast_signed();
        let socket = OpenOptions::new().read(true).custom_flags(flags).open(&self.socket)?;
        if attributes_of(&socket)?.file_type() != FileType::Socket {
            return Err(io::Error::other("it is not a socket any more"));
        }
        // Before Linux 6.6, only this link leads to the mode of such a descriptor.
        let link = format!("/proc/self/fd/{}", socket.as_raw_fd());
        fs::set_permissions(link, Permissions::from_mode(0o666))
    }

    /// Waits for a connection to one of these, or until it is woken, at most for `longest`. Returns whether there may be a
    /// connection.
    pub(crate) fn wait(
        listeners: &[&Self],
        wake: &Wake,
        longest: Option<Duration>,
    ) -> io::Result<bool> {
        let ends = listeners.iter().map(|it| it.listener.as_fd()).chain([wake.0.as_fd()]);
        let mut ends: Vec<_> =
            ends.map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN)).collect();
        match poll(&mut ends, longest.map(timespec).as_ref()) {
            Ok(_) => {
                wake.reset();
                Ok(ends[..listeners.len()].iter().any(|end| !end.revents().is_empty()))
            }
            Err(Errno::INTR) => Ok(false),
            Err(Errno::NOMEM) => {
                std::thread::sleep(RETRY_DELAY);
                Ok(false)
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Accepts a connection, if there is one.
    pub(crate) fn accept(&self) -> io::Result<Option<Stream>> {
        match self.listener.accept() {
            Ok((stream, _)) => Ok(Some(Stream(stream))),
            Err(error) if is_transient(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Not a socket that has replaced ours meanwhile.
        if query_attributes(&self.socket, FieldMask::FILE_ID, false)
            .is_ok_and(|it| it.file_id() == self.id)
        {
            // If this fails, the next service replaces it.
            let _ = fs::remove_file(&self.socket);
        }
    }
}

/// Listens at a socket that only the user of this process can connect to.
fn listen_privately(path: &Path) -> io::Result<UnixListener> {
    /// As the standard library.
    const WAITING: i32 = 128;
    let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    // Its file gets this mode. Changed later, by the path, it might be that of another file by then.
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&socket, WAITING)?;
    Ok(socket.into())
}

/// Returns whether a socket exists. Any other file is an error.
fn socket_exists(socket: &Path) -> Result<bool, Error> {
    match query_attributes(socket, FieldMask::empty(), false) {
        Ok(found) if found.file_type() == FileType::Socket => Ok(true),
        Ok(_) => Err(Error::NotASocket(socket.to_owned())),
        Err(_) => Ok(false),
    }
}

fn lock_of(socket: &Path) -> PathBuf {
    let mut path = socket.to_owned().into_os_string();
    path.push(".lock");
    path.into()
}

/// Locks the file beside a socket, and writes the process id into it.
fn lock(socket: &Path) -> Result<File, Error> {
    let path = lock_of(socket);
    let failed = |error| Error::Path("lock", path.clone(), error);
    let mut lock = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        // Where any user can write, a link could redirect the write.
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(&path)
        .map_err(failed)?;
    let there = attributes_of(&lock).map_err(failed)?;
    if there.uid() != Some(geteuid().as_raw()) {
        return Err(Error::LockOfOtherUser(path));
    }
    // Reading a pipe would wait for its writer.
    if there.file_type() != FileType::File {
        return Err(Error::NotALock(path));
    }
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // It may not be written yet.
            let _ = lock.read_to_string(&mut text);
            let process = text.trim().parse().ok();
            return Err(Error::AlreadyRunning { socket: socket.to_owned(), process });
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    // The user chooses the socket's name: a file of this name with `.lock` may be something else.
    if !is_lock(&lock).map_err(failed)? {
        return Err(Error::NotALock(path));
    }
    lock.set_len(0).map_err(failed)?;
    writeln!(lock, "{}", std::process::id()).map_err(failed)?;
    Ok(lock)
}

/// Returns whether a file is empty or contains a process id and nothing else.
fn is_lock(file: &File) -> io::Result<bool> {
    /// More than the digits of any process id, with a newline.
    const LONGEST: u64 = 12;
    let mut text = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut text)?;
    (&mut &*file).rewind()?;
    let digits = text.strip_suffix(b"\n").unwrap_or(&text);
    Ok(text.len() as u64 <= LONGEST && digits.iter().all(u8::is_ascii_digit))
}

/// Returns whether there was no connection after all, or it is closed already.
fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
    )
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: time.subsec_nanos().into() }
}

/// Connects. If more clients wait than the system lets wait, that takes until the service accepts one of them.
fn connect(path: &Path, longest: Duration) -> io::Result<UnixStream> {
    let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&socket, Timeout::Send, Some(longest))?;
    match rustix::net::connect(&socket, &SocketAddrUnix::new(path)?) {
        Ok(()) => Ok(socket.into()),
        Err(Errno::AGAIN) => Err(io::ErrorKind::TimedOut.into()),
        Err(errno) => Err(errno.into()),
    }
}

#[derive(Debug)]
pub(crate) struct Stream(UnixStream);

impl Stream {
    /// Connects to a service of the user of this process. Waits at most for `longest` while others wait, too.
    pub(crate) fn connect(socket: &Path, longest: Duration) -> Result<Self, Error> {
        let stream = connect(socket, longest)
            .map(Self)
            .map_err(|error| Error::NotRunning(socket.to_owned(), error))?;
        // Before anything is sent: in a directory that any user can write to, the socket may be
        // another user's.
        if let Some(user) = stream.peer()?.other_user {
            return Err(Error::OtherUser { socket: socket.to_owned(), user: user.to_string() });
        }
        stream.0.set_nonblocking(true)?;
        Ok(stream)
    }

    /// Returns the program at the other end.
    pub(crate) fn peer(&self) -> io::Result<Peer> {
        let peer = rustix::net::sockopt::socket_peercred(&self.0)?;
        let other_user = (peer.uid != geteuid()).then(|| peer.uid.as_raw());
        Ok(Peer { process: peer.pid.as_raw_pid().cast_unsigned(), other_user })
    }

    /// Sends the client what happens in its directories, until it closes the connection.
    pub(crate) fn serve_watches(&self, directories: usize) -> io::Result<()> {
        transect_sys::linux::serve_watches(self.0.as_fd(), directories)
    }

    /// Ends reads and writes of an accepted connection, now and later.
    pub(crate) fn close(&self) {
        // It may be closed already.
        let _ = self.0.shutdown(Shutdown::Both);
    }

    /// Waits until a connected stream can be read, or written if `or_write`.
    ///
    /// # Errors
    /// That took `longest`.
    pub(crate) fn wait(&self, or_write: bool, longest: Option<Duration>) -> io::Result<()> {
        let mut events = PollFlags::IN;
        events.set(PollFlags::OUT, or_write);
        match poll(&mut [PollFd::new(&self.0, events)], longest.map(timespec).as_ref()) {
            Ok(0) => Err(io::ErrorKind::TimedOut.into()),
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Waits until it is woken. Returns false if the connection has ended before.
    pub(crate) fn is_woken(&self, wake: &Wake) -> io::Result<bool> {
        let closed = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        let mut ends =
            [PollFd::new(&self.0, PollFlags::RDHUP), PollFd::new(&wake.0, PollFlags::IN)];
        loop {
            match poll(&mut ends, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            if ends[0].revents().intersects(closed) {
                return Ok(false);
            }
            if wake.reset() {
                return Ok(true);
            }
        }
    }

    /// Waits until there is input, or the end of it, or until it is woken. Returns which of them.
    pub(crate) fn wait_or_woken(&self, wake: &Wake) -> io::Result<(bool, bool)> {
        let mut ends = [PollFd::new(&self.0, PollFlags::IN), PollFd::new(&wake.0, PollFlags::IN)];
        match poll(&mut ends, None) {
            Ok(_) => Ok((!ends[0].revents().is_empty(), wake.reset())),
            Err(Errno::INTR) => Ok((false, false)),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// Ends a wait of a [`Stream`] from another thread.
#[derive(Clone, Debug)]
pub(crate) struct Wake(Arc<OwnedFd>);

impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
        Ok(Self(Arc::new(eventfd(0, flags)?)))
    }

    /// Returns whether it was woken since the last call.
    fn reset(&self) -> bool {
        // If it was not woken, there is nothing to read.
        rustix::io::read(&self.0, &mut [0; 8]).is_ok()
    }

    pub(crate) fn wake(&self) {
        // Fails only if it was woken very often already.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

impl Read for &Stream {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        (&self.0).read(block)
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the two ends of a connection.
#[cfg(test)]
pub(crate) fn pair() -> (Stream, Stream) {
    let (one, other) = UnixStream::pair().expect("a pair of sockets");
    (Stream(one), Stream(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    fn exists(path: &Path) -> bool {
        query_attributes(path, FieldMask::empty(), false).is_ok()
    }

    #[test]
    fn default_socket_from_environment() {
        let usual = |runtime: Option<&str>| {
            default_socket(runtime.map(Into::into), "/tmp".into()).expect("always on Linux")
        };
        assert_eq!(usual(Some("/run/user/7")), Path::new("/run/user/7/transect/cache.sock"));
        let own = format!("/tmp/transect-{}/cache.sock", geteuid().as_raw());
        assert_eq!(usual(None), Path::new(&own));
    }

    #[test]
    fn admit_all_users_socket_replaced_by_link_or_file_refused() {
        let temp = TempDir::new();
        let (socket, other) = (temp.join("socket"), temp.join("other"));
        let listener = Listener::bind(&socket).unwrap();
        let mode = |path: &Path| query_attributes(path, FieldMask::MODE, false).unwrap().mode();
        assert_eq!(mode(&socket), Some(0o140_600));
        listener.admit_all_users().unwrap();
        assert_eq!(mode(&socket), Some(0o140_666));
        fs::write(&other, "").unwrap();
        fs::set_permissions(&other, Permissions::from_mode(0o600)).unwrap();
        let links: [fn(&Path, &Path) -> io::Result<()>; 2] =
            [|to, at| std::os::unix::fs::symlink(to, at), |to, at| fs::hard_link(to, at)];
        for link in links {
            fs::remove_file(&socket).unwrap();
            link(&other, &socket).unwrap();
            assert!(listener.admit_all_users().is_err());
            assert_eq!(mode(&other), Some(0o100_600));
        }
    }

    #[test]
    fn socket_dir_created_and_reused() {
        let temp = TempDir::new();
        let folder = temp.join("own");
        for _ in 0..2 {
            create_socket_dir(&folder.join("socket")).unwrap();
        }
        assert_eq!(
            query_attributes(&folder, FieldMask::MODE, false).unwrap().mode(),
            Some(0o040_700)
        );
    }

    #[test]
    fn socket_dir_not_private_refused() {
        let temp = TempDir::new();
        let create = |name: &str| create_socket_dir(&temp.join(name).join("socket"));
        let why = |name: &str| create(name).unwrap_err().to_string();
        fs::create_dir(temp.join("open")).unwrap();
        fs::set_permissions(temp.join("open"), Permissions::from_mode(0o750)).unwrap();
        assert!(why("open").ends_with("open' is open to other users"));
        create("own").unwrap();
        std::os::unix::fs::symlink("own", temp.join("link")).unwrap();
        assert!(why("link").ends_with("link' is not a directory"));
        fs::write(temp.join("file"), "").unwrap();
        assert!(why("file").ends_with("file' is not a directory"));
        assert!(why("missing/own").contains("cannot create"));
        if !geteuid().is_root() {
            let test = "socket_dir_not_private_refused";
            return transect_testkit::loudly_skip(test, "only root can give a directory away");
        }
        fs::create_dir(temp.join("foreign")).unwrap();
        std::os::unix::fs::chown(temp.join("foreign"), Some(65534), None).unwrap();
        assert!(why("foreign").ends_with("foreign' belongs to another user"));
    }

    #[test]
    fn socket_bound_once_and_removed() {
        let temp = TempDir::new();
        let socket = temp.join("socket");
        let listener = Listener::bind(&socket).unwrap();
        let mode = query_attributes(&socket, FieldMask::MODE, false).unwrap().mode().unwrap();
        assert_eq!(mode & 0o777, 0o600);
        let running = Listener::bind(&socket).unwrap_err();
        let us = std::process::id();
        assert!(
            matches!(running, Error::AlreadyRunning { process: Some(process), .. } if process == us)
        );
        drop(listener);
        assert!(!exists(&socket));
        drop(Listener::bind(&socket).unwrap());
    }

    #[test]
    fn socket_left_over_replaced_other_files_kept() {
        let temp = TempDir::new();
        let socket = temp.join("socket");
        drop(UnixListener::bind(&socket).unwrap());
        assert!(exists(&socket), "it was not removed");
        drop(Listener::bind(&socket).unwrap());

        fs::write(&socket, "precious").unwrap();
        assert!(matches!(Listener::bind(&socket), Err(Error::NotASocket(_))));
        assert_eq!(fs::read_to_string(&socket).unwrap(), "precious");

        fs::write(temp.join("other"), "precious").unwrap();
        assert!(matches!(Listener::bind(&temp.join("other")), Err(Error::NotASocket(_))));
        assert!(!exists(&temp.join("other.lock")));
    }

    #[test]
    fn socket_of_another_not_removed() {
        let temp = TempDir::new();
        let socket = temp.join("socket");
        let listener = Listener::bind(&socket).unwrap();
        // The old socket still exists, so its inode number is not reused.
        fs::rename(&socket, temp.join("old")).unwrap();
        let _other = UnixListener::bind(&socket).unwrap();
        drop(listener);
        assert!(exists(&socket));
    }

    #[test]
    fn socket_of_git_bound_once_and_removed() {
        let temp = TempDir::new();
        let (socket, lock) = (temp.join("socket"), temp.join("socket.lock"));
        let listener = Listener::bind_for_git(&socket).unwrap();
        let mode = query_attributes(&socket, FieldMask::MODE, false).unwrap().mode().unwrap();
        assert_eq!((mode & 0o777, exists(&lock)), (0o600, false));
        let us = std::process::id();
        let running = Listener::bind_for_git(&socket).unwrap_err();
        assert!(
            matches!(running, Error::AlreadyRunning { process: Some(process), .. } if process == us)
        );
        assert!(exists(&socket) && !exists(&lock));
        drop(listener);
        assert!(!exists(&socket));

        drop(UnixListener::bind(&socket).unwrap());
        assert!(exists(&socket), "it was not removed");
        fs::write(&lock, "").unwrap();
        assert!(matches!(Listener::bind_for_git(&socket), Err(Error::Path("create", ..))));
        assert!(exists(&lock), "it is that of another process");
        fs::remove_file(&lock).unwrap();
        drop(Listener::bind_for_git(&socket).unwrap());

        fs::write(&socket, "precious").unwrap();
        assert!(matches!(Listener::bind_for_git(&socket), Err(Error::NotASocket(_))));
        assert!(!exists(&lock));
        if !geteuid().is_root() {
            let test = "socket_of_git_bound_once_and_removed";
            return transect_testkit::loudly_skip(test, "only root can give a directory away");
        }
        std::os::unix::fs::chown(temp.path(), Some(65534), None).unwrap();
        let refused = Listener::bind_for_git(&temp.join("other")).unwrap_err().to_string();
        assert!(refused.ends_with("its directory belongs to another user"), "{refused}");
    }

    #[test]
    fn lock_symlink_not_followed() {
        let temp = TempDir::new();
        fs::write(temp.join("victim"), "precious").unwrap();
        std::os::unix::fs::symlink("victim", temp.join("socket.lock")).unwrap();
        assert!(matches!(Listener::bind(&temp.join("socket")), Err(Error::Path("lock", ..))));
        assert_eq!(fs::read_to_string(temp.join("victim")).unwrap(), "precious");
    }

    /// Regression: `--socket Cargo` in a project emptied its Cargo.lock.
    #[test]
    fn lock_other_file_refused_and_unchanged() {
        let temp = TempDir::new();
        let lock = temp.join("Cargo.lock");
        for content in ["precious", "1234567890123", "17\nprecious"] {
            fs::write(&lock, content).unwrap();
            let refused = Listener::bind(&temp.join("Cargo")).unwrap_err().to_string();
            assert!(refused.ends_with("Cargo.lock' is not the lock of a service"), "{refused}");
            assert_eq!(fs::read_to_string(&lock).unwrap(), content);
        }
        for content in ["", "17", "4194304\n"] {
            fs::write(&lock, content).unwrap();
            drop(Listener::bind(&temp.join("Cargo")).unwrap());
        }
    }
}
