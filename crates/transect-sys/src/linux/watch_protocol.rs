//! Notifications of a file system for a process that may not ask for them, through a helper that may: the messages between
//! them, and the client's end.
//!
//! The client sends messages of 25 bytes on a stream: a letter, and a handle or zeros. Some carry a descriptor.
//!
//! | letter | the client | the helper |
//! |---|---|---|
//! | `r` | sends its root, open for reading | answers with an error number and a limit, and with a socket for records |
//! | `w` | sends a directory, open for reading | from now on sends the records of fanotify for this directory |
//! | `u` | names a handle | does so no longer |
//! | `s` | | answers with a byte after it has sent all records of earlier changes |
//!
//! **A client receives names only of directories that it has opened for reading,** so of those that it may list: the
//! kernel has checked that. The helper checks that a descriptor is one of reading, which one of `O_PATH` is not, and of
//! the file system of the root: elsewhere, a directory may have the handle of another one. So a client receives what an
//! inotify watch of its own would report. A process id in a record is erased.
//!
//! **No change is missed,** although `w` has no answer: the helper reads records from the kernel first, then all messages,
//! and then drops what is not of a directory of the client. A change that follows the sending of `w` has a record after it.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use super::open::LIST_FLAGS;
use crate::record::fanotify::Handle;

/// The length of a message: a letter and a handle.
pub(super) const MESSAGE: usize = 1 + Handle::LENGTH;

/// The length of the answer to `r`.
pub(super) const ANSWER: usize = 12;

/// The client's end.
#[derive(Debug)]
pub(super) struct Helper {
    control: Mutex<UnixStream>,
    /// The most directories that the helper watches for this client.
    pub(super) limit: usize,
}

impl Helper {
    /// Connects to a helper, and returns a socket for records of the file system that holds `root`, which is open for
    /// reading.
    ///
    /// # Errors
    /// No helper of root listens there, or it cannot watch this file system.
    pub(super) fn connect(socket: &Path, root: BorrowedFd<'_>) -> io::Result<(Self, OwnedFd)> {
        let control = UnixStream::connect(socket)?;
        if !socket_peercred(&control)?.uid.is_root() {
            return Err(Errno::PERM.into());
        }
        send_message(&control, b'r', None, Some(root))?;
        let (answer, records) = receive::<ANSWER>(control.as_fd(), RecvFlags::empty())?;
        let (error, limit) = answer.split_at(4);
        let error = error.first_chunk().map_or(libc::EPROTO, |bytes| i32::from_ne_bytes(*bytes));
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        let limit = limit.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
        let records = records.ok_or(Errno::PROTO)?;
        rustix::io::ioctl_fionbio(&records, true)?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok((Self { control: Mutex::new(control), limit }, records))
    }

    /// Locks the connection: messages of several threads do not mix, and a second thread that watches a directory waits
    /// until the first one has sent it.
    pub(super) fn lock(&self) -> MutexGuard<'_, UnixStream> {
        self.control.lock().expect("BUG: a thread panicked while it watched")
    }

    /// Waits until every earlier change can be read.
    pub(super) fn settle(&self) -> io::Result<()> {
        let control = self.lock();
        send_message(&control, b's', None, None)?;
        receive::<1>(control.as_fd(), RecvFlags::empty()).map(drop)
    }
}

/// Sends a directory, which may be open without permission to read.
pub(super) fn send_watch(control: &UnixStream, directory: BorrowedFd<'_>) -> io::Result<()> {
    if !rustix::fs::fcntl_getfl(directory)?.contains(OFlags::PATH) {
        return send_message(control, b'w', None, Some(directory));
    }
    let readable = rustix::fs::openat(directory, c".", LIST_FLAGS, Mode::empty())?;
    send_message(control, b'w', None, Some(readable.as_fd()))
}

pub(super) fn send_unwatch(control: &UnixStream, handle: Handle) -> io::Result<()> {
    send_message(control, b'u', Some(handle), None)
}

fn send_message(
    control: &UnixStream,
    letter: u8,
    handle: Option<Handle>,
    descriptor: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut message = [0; MESSAGE];
    message[0] = letter;
    message[1..].copy_from_slice(&handle.map_or([0; Handle::LENGTH], Handle::to_bytes));
    send_with(control.as_fd(), &message, descriptor)
}

pub(super) fn send_with(
    socket: BorrowedFd<'_>,
    message: &[u8],
    descriptor: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let descriptor = descriptor.as_slice();
    loop {
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !descriptor.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(descriptor));
        }
        match sendmsg(socket, &[IoSlice::new(message)], &mut ancillary, SendFlags::NOSIGNAL) {
            Ok(sent) if sent == message.len() => return Ok(()),
            Ok(_) => return Err(Errno::PROTO.into()),
            Err(Errno::INTR) => {}
            // Too many descriptors of this user are on the way.
            Err(Errno::TOOMANYREFS) => std::thread::yield_now(),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Receives a message of a fixed length, and the first descriptor that it carries.
pub(super) fn receive<const LENGTH: usize>(
    socket: BorrowedFd<'_>,
    flags: RecvFlags,
) -> io::Result<([u8; LENGTH], Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = [0; LENGTH];
    loop {
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let room = &mut [IoSliceMut::new(&mut message)];
        match recvmsg(socket, room, &mut ancillary, flags | RecvFlags::CMSG_CLOEXEC) {
            Ok(received) if received.bytes == LENGTH => {}
            Ok(received) if received.bytes == 0 => {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(_) => return Err(Errno::PROTO.into()),
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        }
        let descriptor = ancillary.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut all) => all.next(),
            _ => None,
        });
        return Ok((message, descriptor));
    }
}

/// Returns the device of a directory whose names the holder of this descriptor may list.
///
/// # Errors
/// It is not a directory, or not open for reading.
pub(super) fn device_of_listable(directory: BorrowedFd<'_>) -> io::Result<(u32, u32)> {
    let flags = rustix::fs::fcntl_getfl(directory)?;
    if flags.contains(OFlags::PATH) || flags & OFlags::ACCMODE != OFlags::RDONLY {
        return Err(Errno::ACCESS.into());
    }
    device_of(directory)
}

/// Returns the device of a directory. No server is asked, as of NFS or FUSE, which may not answer.
pub(super) fn device_of(directory: BorrowedFd<'_>) -> io::Result<(u32, u32)> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let found = rustix::fs::statx(directory, c"", flags, StatxFlags::TYPE)?;
    match rustix::fs::FileType::from_raw_mode(found.stx_mode.into()) {
        rustix::fs::FileType::Directory => Ok((found.stx_dev_major, found.stx_dev_minor)),
        _ => Err(Errno::NOTDIR.into()),
    }
}
