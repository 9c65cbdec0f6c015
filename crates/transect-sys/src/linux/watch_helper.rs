//! The helper's end of a connection through which another process gets notifications of a file system.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, socketpair};

use super::fanotify::handle_of;
use super::file_system_watch::{BUFFER, Directories, FileSystemWatch};
use super::watch_protocol::{ANSWER, MESSAGE, device_of_listable, receive, send_with};
use crate::record::fanotify::{Events, Handle};

/// Where a record has the id of the process that made the change.
const PROCESS: usize = 20;

/// Serves a client until it closes the connection, its root is gone, or the file system of the root is unmounted. Watches
/// at most `limit` directories. A client that does not read its records occupies the thread that calls this, and the
/// kernel's queue (`fs.fanotify.max_queued_events`).
///
/// # Errors
/// The connection failed, or the client did not keep to the protocol.
pub fn serve_watches(control: BorrowedFd<'_>, limit: usize) -> io::Result<()> {
    let (message, root) = receive::<MESSAGE>(control, RecvFlags::empty())?;
    let root = root.filter(|_| message[0] == b'r').ok_or(Errno::PROTO)?;
    let opened = device_of_listable(root.as_fd()).and_then(|_| FileSystemWatch::of(root.as_fd()));
    let watch = match opened {
        Ok(watch) => watch,
        Err(error) => return answer(control, error.raw_os_error().unwrap_or(libc::EIO), 0, None),
    };
    // It would keep the file system from being unmounted.
    drop(root);
    let (records, other) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    answer(control, 0, limit as u64, Some(other.as_fd()))?;
    drop(other);
    let (queue, end, device) = watch.into_parts();
    let end = end.ok_or(Errno::IO)?;
    Session { control, records, queue, device, limit, known: Directories::default() }.run(&end)
}

fn answer(
    control: BorrowedFd<'_>,
    error: i32,
    limit: u64,
    records: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut message = [0; ANSWER];
    message[..4].copy_from_slice(&error.to_ne_bytes());
    message[4..].copy_from_slice(&limit.to_ne_bytes());
    send_with(control, &message, records)
}

/// The helper's end.
struct Session<'a> {
    control: BorrowedFd<'a>,
    records: OwnedFd,
    queue: OwnedFd,
    device: (u32, u32),
    limit: usize,
    known: Directories,
}

impl Session<'_> {
    fn run(mut self, end: &OwnedFd) -> io::Result<()> {
        loop {
            let mut ends = [
                PollFd::new(end, PollFlags::IN),
                PollFd::new(&self.control, PollFlags::IN),
                PollFd::new(&self.queue, PollFlags::IN),
            ];
            match poll(&mut ends, None) {
                Ok(_) | Err(Errno::INTR | Errno::NOMEM) => {}
                Err(errno) => return Err(errno.into()),
            }
            if !ends[0].revents().is_empty() {
                return Ok(());
            }
            let mut buffer = [0; BUFFER];
            // `watch_protocol.rs` explains the order of these three.
            let length = self.read(&mut buffer)?;
            let must_settle = match self.take_messages() {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                taken => taken?,
            };
            self.forward(&buffer[..length])?;
            if must_settle {
                loop {
                    let length = self.read(&mut buffer)?;
                    if length == 0 {
                        break;
                    }
                    self.forward(&buffer[..length])?;
                }
                send_with(self.control, &[0], None)?;
            }
        }
    }

    /// Reads records from the kernel; returns 0 if there are none.
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match rustix::io::read(&self.queue, &mut *buffer) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(0),
                answer => return Ok(answer?),
            }
        }
    }

    /// Takes all messages of the client. Returns whether it waits for the records of all earlier changes.
    fn take_messages(&mut self) -> io::Result<bool> {
        loop {
            let (message, descriptor) = match receive::<MESSAGE>(self.control, RecvFlags::DONTWAIT)
            {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                received => received?,
            };
            match (message[0], descriptor) {
                (b'w', Some(directory)) => {
                    if device_of_listable(directory.as_fd())? != self.device {
                        return Err(Errno::XDEV.into());
                    }
                    self.known.insert(handle_of(directory.as_fd())?)?;
                    if self.known.len() > self.limit {
                        return Err(Errno::NOSPC.into());
                    }
                }
                (b'u', None) => {
                    let handle = message[1..].first_chunk().copied().map(Handle::from_bytes);
                    let watch = handle.and_then(|handle| self.known.find(&handle));
                    if let Some(watch) = watch {
                        self.known.remove(watch);
                    }
                }
                (b's', None) => return Ok(true),
                _ => return Err(Errno::PROTO.into()),
            }
        }
    }

    /// Sends the records of directories of the client.
    fn forward(&mut self, records: &[u8]) -> io::Result<()> {
        let mut message = Vec::new();
        for event in Events::new(records) {
            let event = event.map_err(io::Error::other)?;
            let is_lost = event.mask & libc::FAN_Q_OVERFLOW != 0;
            let watch = event.place.and_then(|place| self.known.find(&place.directory));
            if !is_lost && watch.is_none() {
                continue;
            }
            let begin = message.len();
            message.extend_from_slice(event.record);
            message[begin + PROCESS..][..4].fill(0);
            if event.is_of_removed_directory()
                && let Some(watch) = watch
            {
                self.known.remove(watch);
            }
        }
        if message.is_empty() {
            return Ok(());
        }
        send_with(self.records.as_fd(), &message, None)
    }
}
