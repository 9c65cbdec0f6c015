//! The server: accepts connections, each on its own thread, until it is stopped.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::Scope;
use std::time::Duration;

use transect::Cancel;
use transect_cache::{AttributeCache, CacheOptions};

use crate::CACHED_FIELDS;
use crate::connection::Connection;
use crate::error::Error;
use crate::git;
use crate::open_connections::OpenConnections;
use crate::protocol::{ErrorCode, ErrorReply};
use crate::service::Service;
use crate::serving::{Event, ServeOptions, StopReason};
use crate::transport::{Listener, Peer, RETRY_DELAY, Stream, Wake, Waker};
use crate::trees::{Tree, Trees};
use crate::watchman::Host;

/// A cache that answers on a socket.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    /// Those for git, each with the top of its working tree.
    git: Vec<(Listener, PathBuf)>,
    service: Service,
    open: OpenConnections,
    wake: Wake,
}

impl Server {
    /// Opens a cache and listens at a socket. The cache holds [`CACHED_FIELDS`], whatever the
    /// options request; paths must be absolute. Clients that connect from now on are answered once
    /// the server [runs](Server::run).
    ///
    /// # Errors
    /// Another service listens there, or the cache cannot be opened.
    pub fn bind(socket: &Path, mut options: CacheOptions) -> Result<Self, Error> {
        (options.want, options.base) = (CACHED_FIELDS, None);
        let roots = options.roots.iter();
        let roots = roots.map(|root| root.as_os_str().as_encoded_bytes().to_vec()).collect();
        let service = Service::new(options.open().map_err(Error::Cache)?, roots);
        let (listener, open) = (Listener::bind(socket)?, OpenConnections::default());
        let wake = Wake::new().map_err(Error::from)?;
        Ok(Self { listener, git: Vec::new(), service, open, wake })
    }

    /// Makes the service answer git in a working tree, in place of git's own daemon (`core.fsmonitor=true`). The path of its top
    /// must be absolute and without links. Unless it is in a followed tree, git has to look itself.
    ///
    /// # Errors
    /// It is not the top of a working tree, or a daemon answers there already.
    pub fn answer_git(&mut self, top: PathBuf) -> Result<(), Error> {
        self.git.push((Listener::bind_for_git(&git::socket_of(&top)?)?, top));
        Ok(())
    }

    /// Makes the service follow these trees while it runs. The paths must be absolute. A tree with a file is stored there, and
    /// followed from there when a service runs again. The directory of the file must be private; it is created if it is missing.
    #[must_use]
    pub fn follow(mut self, roots: Vec<(PathBuf, Option<PathBuf>)>) -> Self {
        self.service.trees = Trees::new(roots);
        self
    }

    /// Returns the cache.
    pub fn cache(&self) -> &AttributeCache {
        self.service.cache()
    }

    /// Returns a handle that makes [`Server::run`] look whether it was cancelled.
    pub fn waker(&self) -> Waker {
        Waker(self.wake.clone())
    }

    /// Serves until `end` is cancelled and the server [woken](Waker::wake), or the service is idle. Then closes all
    /// connections.
    ///
    /// # Errors
    /// The socket failed.
    pub fn run(
        &self,
        options: &ServeOptions,
        end: &Cancel,
        on_event: impl Fn(Event) + Sync,
    ) -> Result<StopReason, Error> {
        self.service.update_last_request();
        let trees = &self.service.trees;
        std::thread::scope(|scope| {
            let on_event = &on_event;
            let ended = trees.all().into_iter().try_for_each(|tree| {
                let follow = move || trees.follow(&tree, options.store_every, on_event);
                std::thread::Builder::new().spawn_scoped(scope, follow).map(drop)
            });
            let ended = ended
                .map_err(Error::from)
                .and_then(|()| self.accept_all(scope, options, end, on_event));
            trees.end();
            self.open.close_all();
            ended
        })
    }

    fn accept_all<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        options: &ServeOptions,
        end: &'s Cancel,
        on_event: &'s (impl Fn(Event) + Sync),
    ) -> Result<StopReason, Error> {
        // The cache needs descriptors, too.
        let max = options.connections.min(transect_sys::host::handle_limit() / 4).max(1);
        let mut number = 0;
        let of_git = self.git.iter().map(|(listener, top)| (listener, Some(&**top)));
        let all: Vec<_> = [(&self.listener, None)].into_iter().chain(of_git).collect();
        let listeners: Vec<&Listener> = all.iter().map(|(listener, _)| *listener).collect();
        loop {
            if end.is_cancelled() {
                return Ok(StopReason::Cancelled);
            }
            let left = options.idle.map(|idle| idle.saturating_sub(self.service.idle()));
            if left == Some(Duration::ZERO) {
                return Ok(StopReason::Idle);
            }
            if !Listener::wait(&listeners, &self.wake, left)? {
                continue;
            }
            for &(listener, top) in &all {
                match listener.accept() {
                    Ok(Some(stream)) => {
                        number += 1;
                        self.handle_connection(scope, (stream, top), number, max, end, on_event);
                    }
                    Ok(None) => {}
                    // No descriptors: a client that keeps the service waiting gives one back.
                    Err(_) if self.open.close_one() => {}
                    Err(error) => {
                        on_event(Event::Failed { why: transect::reason(&error) });
                        std::thread::sleep(RETRY_DELAY);
                    }
                }
            }
        }
    }

    /// Answers a client on a new thread, or rejects it. With the top of a working tree, it is git.
    fn handle_connection<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        (stream, top): (Stream, Option<&'s Path>),
        number: u64,
        max: usize,
        end: &'s Cancel,
        on_event: &'s (impl Fn(Event) + Sync),
    ) {
        let Peer { process, other_user } = match stream.peer() {
            Ok(peer) => peer,
            Err(error) => return on_event(Event::Failed { why: transect::reason(&error) }),
        };
        if let Some(user) = other_user {
            self.service.refused.fetch_add(1, Ordering::Relaxed);
            reject(&stream, top, ErrorCode::Denied, "it answers its own user only");
            return on_event(Event::Refused { user });
        }
        if self.open.len() >= max && !self.open.close_one() {
            reject(&stream, top, ErrorCode::Busy, "too many programs ask it");
            return on_event(Event::Busy { process });
        }
        let open = self.open.add(number, stream);
        let answer = move || {
            self.service.connections.fetch_add(1, Ordering::Relaxed);
            on_event(Event::Connected { process });
            let trees = &self.service.trees;
            let start = |tree: Arc<Tree>| {
                // A requested tree is not stored.
                let follow = move || trees.follow(&tree, Duration::MAX, on_event);
                std::thread::Builder::new().spawn_scoped(scope, follow).map(drop)
            };
            let end = || {
                end.cancel();
                self.wake.wake();
            };
            let host = Host { service: &self.service, start: &start, end: &end };
            let answered = match top {
                Some(top) => git::serve(&self.service, &open, top),
                None => Connection::new(host, &open).run(),
            };
            self.open.remove(number);
            on_event(match answered {
                Ok(questions) => Event::Disconnected { process, questions },
                Err(why) => Event::Broken { process, why },
            });
        };
        if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, answer) {
            // The closure was dropped, and the connection with it.
            self.open.remove(number);
            on_event(Event::Failed { why: transect::reason(&error) });
            std::thread::sleep(RETRY_DELAY);
        }
    }
}

/// Sends an error, except to git, and closes the connection. So few bytes fit into the buffer even if the client
/// does not read.
fn reject(mut stream: &Stream, top: Option<&Path>, code: ErrorCode, why: &str) {
    if top.is_some() {
        return;
    }
    let mut out = Vec::new();
    ErrorReply::new(code, why).append(&mut out);
    let _ = stream.write_all(&out);
}
