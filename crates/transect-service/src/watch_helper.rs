//! A process with privileges that reports changes of whole file systems to programs of other users
//! (`transect-sys/src/linux/watch_protocol.rs` explains which).

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use transect::Cancel;

use crate::error::Error;
use crate::transport::{Listener, Peer, RETRY_DELAY, Stream, Wake, Waker};

/// A helper that listens at a socket. It needs `CAP_SYS_ADMIN`, and `CAP_DAC_READ_SEARCH` for directories that its own user
/// may not read. It believes no client: the limits hold for clients that do not keep to the protocol.
#[derive(Debug)]
pub struct WatchHelper {
    listener: Listener,
    limits: HelperLimits,
    wake: Wake,
}

/// What the clients of a helper may occupy.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HelperLimits {
    /// The most connections: one takes a thread, five descriptors and a queue of the kernel.
    pub connections: usize,
    /// The most connections of one user.
    pub user_connections: usize,
    /// The most directories of one connection: one takes 33 to 66 bytes.
    pub directories: usize,
}

impl Default for HelperLimits {
    fn default() -> Self {
        // The kernel allows a user 128 queues (`fs.fanotify.max_user_groups`).
        Self { connections: 100, user_connections: 8, directories: 1 << 20 }
    }
}

/// How many connections each user has.
type Connections = Arc<Mutex<HashMap<u32, usize>>>;

impl WatchHelper {
    /// Listens at a socket, to which all users can connect.
    ///
    /// # Errors
    /// Another process listens there, or the system has no such notifications.
    pub fn bind(socket: &Path, limits: HelperLimits) -> Result<Self, Error> {
        let listener = Listener::bind(socket)?;
        let failed = |error| Error::Path("open to other users", socket.to_owned(), error);
        listener.admit_all_users().map_err(failed)?;
        Ok(Self { listener, limits, wake: Wake::new()? })
    }

    /// Returns a handle that makes [`WatchHelper::run`] look whether it was cancelled.
    pub fn waker(&self) -> Waker {
        Waker(self.wake.clone())
    }

    /// Serves clients, each on a thread of its own, until `end` is cancelled and the helper [woken](Waker::wake). Threads
    /// that serve then still do, until their clients close the connections or this process ends.
    ///
    /// # Errors
    /// The socket failed.
    pub fn run(&self, end: &Cancel) -> Result<(), Error> {
        let connections = Connections::default();
        while !end.is_cancelled() {
            if !Listener::wait(&[&self.listener], &self.wake, None)? {
                continue;
            }
            match self.listener.accept() {
                Ok(Some(stream)) => self.serve(stream, &connections),
                Ok(None) => {}
                // No descriptors, for now.
                Err(_) => std::thread::sleep(RETRY_DELAY),
            }
        }
        Ok(())
    }

    /// Serves a client, or closes its connection if that is one too many.
    fn serve(&self, stream: Stream, connections: &Connections) {
        let Ok(Peer { other_user, .. }) = stream.peer() else { return };
        let Some(place) = Place::take(connections, other_user, self.limits) else { return };
        let directories = self.limits.directories;
        // Without a thread, the connection is closed, too.
        let _ = std::thread::Builder::new().name("client".to_owned()).spawn(move || {
            // Whatever the error is, the client sees that the connection is closed.
            let _ = stream.serve_watches(directories);
            drop(place);
        });
    }
}

/// One of the connections.
struct Place {
    connections: Connections,
    /// Zero for the user of this process.
    user: u32,
}

impl Place {
    fn take(all: &Connections, user: Option<u32>, limits: HelperLimits) -> Option<Self> {
        let user = user.unwrap_or(0);
        let mut counts = all.lock().ok()?;
        let own = counts.get(&user).copied().unwrap_or(0);
        if own >= limits.user_connections || counts.values().sum::<usize>() >= limits.connections {
            return None;
        }
        counts.insert(user, own + 1);
        Some(Self { connections: Arc::clone(all), user })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Ok(mut counts) = self.connections.lock() else { return };
        if let Some(count) = counts.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.user);
            }
        }
    }
}
