//! Who serves: takes connections, each on a thread of its own, until the end is asked for.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use transect::Cancel;
use transect_cache::{AttributeCache, CacheCounts, CacheOptions};

use crate::KEPT;
use crate::connection::{Connection, HungUp, Service};
use crate::error::Error;
use crate::open::{Open, OpenConnections};
use crate::place::{Place, is_us, peer};
use crate::protocol::{Complaint, ComplaintCode, Greeting, VERSION};
use crate::serving::{Ended, Event, ServeOptions};

/// How long nothing is looked at but the socket. A signal ends the wait at once; this is for one that
/// comes just before it begins.
const MOMENT: Duration = Duration::from_secs(1);

/// How long to wait when no descriptor, or no thread, is to be had.
const PAUSE: Duration = Duration::from_millis(100);

/// A cache that answers on a socket.
#[derive(Debug)]
pub struct Server {
    place: Place,
    cache: AttributeCache,
    roots: Vec<Vec<u8>>,
    began: Instant,
    /// Milliseconds after that, when somebody last asked.
    asked_at: AtomicU64,
    counts: Counts,
    open: OpenConnections,
}

#[derive(Debug, Default)]
struct Counts {
    connections: AtomicU64,
    requests: AtomicU64,
    questions: AtomicU64,
    refused: AtomicU64,
}

impl Server {
    /// Takes a place and makes a cache. What it keeps is [`KEPT`], whatever the options say; paths
    /// have to be absolute. From now on who connects is answered as soon as it [runs](Server::run).
    ///
    /// # Errors
    /// Somebody else answers there, or the cache cannot be made.
    pub fn bind(socket: &Path, options: CacheOptions) -> Result<Self, Error> {
        let options = CacheOptions { want: KEPT, base: None, ..options };
        let roots = options.roots.iter().map(|root| root.as_os_str().as_bytes().to_vec()).collect();
        let cache = options.open().map_err(Error::Cache)?;
        Ok(Self {
            place: Place::take(socket)?,
            cache,
            roots,
            began: Instant::now(),
            asked_at: AtomicU64::new(0),
            counts: Counts::default(),
            open: OpenConnections::default(),
        })
    }

    /// Returns the cache that answers.
    pub fn cache(&self) -> &AttributeCache {
        &self.cache
    }

    /// Serves until `end` is cancelled, or nobody asks any more. Then all connections are hung up.
    ///
    /// # Errors
    /// The socket fails.
    pub fn run(
        &self,
        options: &ServeOptions,
        end: &Cancel,
        tell: impl Fn(Event) + Sync,
    ) -> Result<Ended, Error> {
        self.note_time();
        std::thread::scope(|scope| {
            let ended = self.accept_all(scope, options, end, &tell);
            self.open.close_all();
            ended
        })
    }

    fn accept_all<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        options: &ServeOptions,
        end: &Cancel,
        tell: &'s (impl Fn(Event) + Sync),
    ) -> Result<Ended, Error> {
        // The cache needs descriptors, too.
        let most = options.connections.min(transect_sys::host::handle_limit() / 4).max(1);
        let mut number = 0;
        loop {
            if end.is_cancelled() {
                return Ok(Ended::Cancelled);
            }
            let left = options.idle.map(|idle| idle.saturating_sub(self.idle()));
            if left == Some(Duration::ZERO) {
                return Ok(Ended::Idle);
            }
            if !self.wait(left.unwrap_or(MOMENT).min(MOMENT))? {
                continue;
            }
            match self.place.listener.accept() {
                Ok((stream, _)) => {
                    number += 1;
                    self.welcome(scope, stream, number, most, tell);
                }
                Err(error) if is_nothing(&error) => {}
                // No descriptors. A client that keeps the service waiting gives one back.
                Err(_) if self.open.close_one() => {}
                Err(error) => {
                    tell(Event::Failed { why: transect::reason(&error) });
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }

    /// Waits until somebody comes, but no longer than that; returns whether it is worth a look.
    fn wait(&self, longest: Duration) -> io::Result<bool> {
        let longest = Timespec {
            tv_sec: longest.as_secs().cast_signed(),
            tv_nsec: longest.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(&self.place.listener, PollFlags::IN)], Some(&longest)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(Errno::NOMEM) => {
                std::thread::sleep(PAUSE);
                Ok(false)
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Answers whoever has come, on a thread of its own, or says why not.
    fn welcome<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        stream: UnixStream,
        number: u64,
        most: usize,
        tell: &'s (impl Fn(Event) + Sync),
    ) {
        let (process, user) = match peer(&stream) {
            Ok(peer) => peer,
            Err(error) => return tell(Event::Failed { why: transect::reason(&error) }),
        };
        if !is_us(user) {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            send_away(&stream, ComplaintCode::Denied, "it answers its own user only");
            return tell(Event::Refused { user });
        }
        if self.open.len() >= most && !self.open.close_one() {
            send_away(&stream, ComplaintCode::Busy, "too many programs ask it");
            return tell(Event::Busy { process });
        }
        let open = self.open.add(number, stream);
        let answer = move || {
            self.counts.connections.fetch_add(1, Ordering::Relaxed);
            tell(Event::Connected { process });
            let one = One { server: self, open: &open, questions: AtomicU64::new(0) };
            let hung_up = Connection::new(&one).run(&open.stream);
            self.open.remove(number);
            tell(match hung_up {
                HungUp::Orderly => Event::HungUp { process, questions: one.questions.into_inner() },
                HungUp::Complaint(complaint) => Event::Broken { process, why: complaint.text },
                HungUp::Broken => {
                    Event::Broken { process, why: "it was gone before it was answered".to_owned() }
                }
            });
        };
        if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, answer) {
            // With what was to run there, the connection is gone, too.
            self.open.remove(number);
            tell(Event::Failed { why: transect::reason(&error) });
            std::thread::sleep(PAUSE);
        }
    }

    fn note_time(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.asked_at.store(now, Ordering::Relaxed);
    }

    /// Returns how long nobody has asked anything.
    fn idle(&self) -> Duration {
        let asked_at = Duration::from_millis(self.asked_at.load(Ordering::Relaxed));
        self.began.elapsed().saturating_sub(asked_at)
    }
}

/// One connection's view of the service, which counts its questions.
struct One<'a> {
    server: &'a Server,
    open: &'a Open,
    questions: AtomicU64,
}

impl Service for One<'_> {
    fn cache(&self) -> &AttributeCache {
        &self.server.cache
    }

    fn greeting(&self) -> Greeting {
        Greeting {
            version: VERSION,
            process: std::process::id(),
            level: self.server.cache.level().as_str().to_owned(),
            fields: KEPT,
            roots: self.server.roots.clone(),
        }
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let CacheCounts {
            hits,
            misses,
            listings,
            listings_given_up,
            queries,
            checks,
            outdated,
            invalidations,
            evictions,
            unwatched,
            lost,
            directories,
            names,
            watches,
            ..
        } = self.server.cache.counts();
        let Counts { connections, requests, questions, refused } = &self.server.counts;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            ("hits", hits),
            ("misses", misses),
            ("listings", listings),
            ("listings_given_up", listings_given_up),
            ("queries", queries),
            ("checks", checks),
            ("outdated", outdated),
            ("invalidations", invalidations),
            ("evictions", evictions),
            ("unwatched", unwatched),
            ("lost", lost),
            ("directories", directories),
            ("names", names),
            ("watches", watches),
            ("memory", self.server.cache.memory() as u64),
            ("connections", read(connections)),
            ("requests", read(requests)),
            ("questions", read(questions)),
            ("refused", read(refused)),
        ]
    }

    fn asked(&self, questions: usize) {
        let questions = questions as u64;
        self.questions.fetch_add(questions, Ordering::Relaxed);
        self.server.counts.requests.fetch_add(1, Ordering::Relaxed);
        self.server.counts.questions.fetch_add(questions, Ordering::Relaxed);
        self.server.note_time();
    }

    fn begin_wait(&self) {
        self.open.begin_wait();
    }

    fn end_wait(&self) {
        self.open.end_wait();
    }
}

/// Returns whether nobody was there after all, or is gone already.
fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
    )
}

/// Says why, and hangs up. So little is taken at once, also from who does not listen.
fn send_away(mut stream: &UnixStream, code: ComplaintCode, why: &str) {
    let mut out = Vec::new();
    Complaint::new(code, why).append(&mut out);
    let _ = stream.write_all(&out);
}
