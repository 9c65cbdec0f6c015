//! A server for browsers on the same machine: a page, and its updates.
//!
//! ```text
//! browser ── GET /TOKEN/ ────────────────► the current page
//!         ── GET /TOKEN/progress ────────► the number of entries read
//!         ── GET /TOKEN/columns/VERSION ─► an update, if there is a newer version
//!         ── GET /TOKEN/alive ───────────► nothing: the page is still open
//!         ── GET /TOKEN/task ────────────► the state of the last removal or search
//!         ── POST /TOKEN/rescan ─────────► nothing: the tree is read again
//!         ── POST /TOKEN/delete/V/ENTRY ─► what it would free, and a NUMBER (`trash/…` likewise)
//!         ── POST /TOKEN/confirm/NUMBER ─► the number of the task that removes it
//!         ── POST /TOKEN/duplicates/V/ENTRY ─► the number of the task that searches
//!         ── POST /TOKEN/stop ───────────► nothing: that task ends
//!
//! connections.rs ── accepts, with limits on heads, time, connections and memory (own thread)
//! deadline.rs ───── deadlines of connections
//! stream.rs ─────── adapts connections to hyper
//! router.rs ─────── which requests are accepted: Host, Origin, token, method
//! action.rs ─────── the POSTs: what a page requests of the program
//! reply.rs ──────── responses and their headers
//! ```
//!
//! Other users must not learn the names of files. The server listens on loopback only, on a port
//! chosen by the system, and accepts only requests whose path contains the token: a random number
//! of 128 bits, new in every run. A page of another site in the same browser may guess the port;
//! its requests are rejected by their Origin and Host headers.
//!
//! Every user of the machine can connect, so requests without the token are limited: they can
//! neither stop the server nor block a browser with the token.

mod action;
mod connections;
mod deadline;
mod reply;
mod router;
mod stream;

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Runtime};

pub use action::{Action, EntryId, Refusal};

use connections::{POLL_INTERVAL, RoutedRequest};
use reply::Reply;
use router::{Route, Router};

use crate::page::Nonce;

/// A browser that sent no request for this time is gone. Browsers run background pages only once a
/// minute.
const BROWSER_TIMEOUT: Duration = Duration::from_secs(180);

/// The maximum number of connections waiting to be accepted. Above it, the system drops packets,
/// and clients repeat them after a second.
const BACKLOG: u32 = 1024;

/// A page and its updates.
pub trait PageSource {
    /// Returns the current page, or `None` if there will be none.
    ///
    /// # Errors
    /// The page cannot be created.
    fn page(&self) -> io::Result<Option<String>>;

    /// Returns an update for a page that shows the version `known`, or `None` if it is current.
    ///
    /// # Errors
    /// The update cannot be created.
    fn columns(&self, known: u64) -> io::Result<Option<Vec<u8>>>;

    /// Returns the number of entries read so far.
    fn entries(&self) -> u64 {
        0
    }

    /// Returns whether the tree is still being read.
    fn is_reading(&self) -> bool {
        false
    }

    /// Starts an action. Returns what the page is to know about it.
    ///
    /// # Errors
    /// [`Refusal`]: nothing was done.
    fn act(&self, action: Action) -> Result<Option<serde_json::Value>, Refusal>;

    /// Returns the state of the last task that an action started.
    fn task(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Returns whether the server should stop.
    fn has_ended(&self) -> bool;
}

/// A server for browsers that have its address.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    port: u16,
    router: Arc<Router>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("port", &self.port).finish_non_exhaustive()
    }
}

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    /// The system has no free port or no random numbers.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = {
            let _runtime = runtime.enter();
            let socket = TcpSocket::new_v4()?;
            socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
            socket.listen(BACKLOG)?
        };
        let port = listener.local_addr()?.port();
        let token = Nonce::random()?.to_string();
        Ok(Self { runtime, listener, port, router: Arc::new(Router::new(port, token)) })
    }

    /// Returns the URL of the page.
    pub fn address(&self) -> String {
        format!("http://{}:{}/{}/", Ipv4Addr::LOCALHOST, self.port, self.router.token)
    }

    /// Returns the maximum number of descriptors that connections use.
    pub fn max_connections() -> usize {
        connections::max_connections()
    }

    /// Serves until `page` has ended or the browser is gone.
    ///
    /// # Errors
    /// The thread for the connections cannot be started.
    pub fn serve(&self, page: &impl PageSource) -> io::Result<()> {
        let (requests, received) = channel();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // Stops the connections on every exit from this scope.
            let _stop = StopOnDrop(&stop);
            let Self { runtime, listener, router, .. } = self;
            let stop = &stop;
            let accept = move || connections::run(runtime, listener, router, &requests, stop);
            std::thread::Builder::new()
                .name("connections".to_owned())
                .spawn_scoped(scope, accept)?;
            let mut last_request: Option<Instant> = None;
            while !page.has_ended()
                && last_request.is_none_or(|last_request| last_request.elapsed() < BROWSER_TIMEOUT)
            {
                let RoutedRequest { route, reply: sender } =
                    match received.recv_timeout(POLL_INTERVAL) {
                        Ok(request) => request,
                        Err(RecvTimeoutError::Timeout) => continue,
                        Err(RecvTimeoutError::Disconnected) => break,
                    };
                let reply = reply_to(route, page);
                if !reply.is_error() {
                    last_request = Some(Instant::now());
                }
                // The browser may have hung up.
                let _ = sender.send(reply);
            }
            Ok(())
        })
    }
}

struct StopOnDrop<'s>(&'s AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn reply_to(route: Route, page: &impl PageSource) -> Reply {
    let reply = match route {
        Route::Page => page.page().map(|page| page.map(Reply::html)),
        Route::Columns(known) => page.columns(known).map(|columns| columns.map(Reply::columns)),
        Route::Progress => Ok(Some(progress(page))),
        Route::Alive => Ok(None),
        Route::Task => Ok(Some(Reply::json(&page.task()))),
        Route::Action(action) => match page.act(action) {
            Ok(answer) => Ok(answer.as_ref().map(Reply::json)),
            Err(refusal) => Ok(Some(Reply::refusal(&refusal))),
        },
    };
    match reply {
        Ok(reply) => reply.unwrap_or_else(|| Reply::empty(StatusCode::NO_CONTENT)),
        Err(_) => Reply::empty(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

fn progress(page: &impl PageSource) -> Reply {
    // In this order, so that a finished tree is never reported with too few entries.
    let reading = page.is_reading();
    Reply::json(&serde_json::json!({ "entries": page.entries(), "reading": reading }))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[derive(Default)]
    struct Shown {
        there: AtomicBool,
        ended: AtomicBool,
    }

    impl PageSource for Shown {
        fn page(&self) -> io::Result<Option<String>> {
            Ok(Some("<title>the page</title>".to_owned()))
        }

        fn columns(&self, known: u64) -> io::Result<Option<Vec<u8>>> {
            match known {
                0 => Ok(Some(b"{}\nthe page".to_vec())),
                1 => Ok(None),
                _ => Err(io::ErrorKind::OutOfMemory.into()),
            }
        }

        fn entries(&self) -> u64 {
            17
        }

        fn act(&self, action: Action) -> Result<Option<serde_json::Value>, Refusal> {
            match action {
                Action::Rescan => {
                    self.there.store(true, Ordering::Relaxed);
                    Ok(None)
                }
                Action::Confirm(number) => Ok(Some(serde_json::json!({ "number": number as u64 }))),
                Action::Stop => Err(Refusal::conflict("nothing runs")),
                _ => Err(Refusal::forbidden("not here")),
            }
        }

        fn task(&self) -> serde_json::Value {
            serde_json::json!({ "running": false })
        }

        fn is_reading(&self) -> bool {
            !self.there.load(Ordering::Relaxed)
        }

        fn has_ended(&self) -> bool {
            self.ended.load(Ordering::Relaxed)
        }
    }

    /// Sends a request and returns the whole response.
    fn ask(server: &Server, line: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).unwrap();
        let request = format!("{line} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn with_server(check: impl FnOnce(&Server, &Shown) + Send) {
        let (server, shown) = (Server::start().unwrap(), Shown::default());
        std::thread::scope(|scope| {
            let serving = scope.spawn(|| server.serve(&shown));
            scope.spawn(|| {
                /// Stops the server even if the check panics.
                struct End<'s>(&'s Shown);
                impl Drop for End<'_> {
                    fn drop(&mut self) {
                        self.0.ended.store(true, Ordering::Relaxed);
                    }
                }
                let _end = End(&shown);
                check(&server, &shown);
            });
            serving.join().unwrap().unwrap();
        });
    }

    #[test]
    fn server_with_token_returns_page_and_updates() {
        with_server(|server, shown| {
            let host = format!("Host: 127.0.0.1:{}\r\n", server.port);
            let get =
                |page: &str| ask(server, &format!("GET /{}/{page}", server.router.token), &host);
            let page = get("");
            assert!(page.starts_with("HTTP/1.1 200") && page.ends_with("<title>the page</title>"));
            assert!(page.contains("frame-ancestors 'none'") && page.contains("no-store"), "{page}");
            assert!(get("progress").ends_with(r#"{"entries":17,"reading":true}"#));
            shown.there.store(true, Ordering::Relaxed);
            assert!(get("progress").ends_with(r#"{"entries":17,"reading":false}"#));
            let columns = get("columns/0");
            assert!(columns.starts_with("HTTP/1.1 200") && columns.ends_with("{}\nthe page"));
            assert!(columns.contains("application/octet-stream") && columns.contains("nosniff"));
            assert!(get("columns/1").starts_with("HTTP/1.1 204"));
            assert!(get("columns/2").starts_with("HTTP/1.1 500"));
            assert!(get("alive").starts_with("HTTP/1.1 204"));
        });
    }

    #[test]
    fn server_actions_answered_or_refused_with_reason() {
        with_server(|server, shown| {
            let host = format!("127.0.0.1:{}", server.port);
            let headers = format!("Host: {host}\r\nOrigin: http://{host}\r\n");
            let post = |page: &str| {
                ask(server, &format!("POST /{}/{page}", server.router.token), &headers)
            };
            assert!(post("rescan").starts_with("HTTP/1.1 204"));
            assert!(shown.there.load(Ordering::Relaxed));
            let confirmed = post("confirm/00000000000000000000000000000007");
            assert!(
                confirmed.starts_with("HTTP/1.1 200") && confirmed.ends_with(r#"{"number":7}"#)
            );
            for (status, page, reason) in
                [(409, "stop", "nothing runs"), (403, "delete/1/2", "not here")]
            {
                let refused = post(page);
                assert!(refused.starts_with(&format!("HTTP/1.1 {status}")), "{refused}");
                assert!(refused.ends_with(&format!("{{\"error\":\"{reason}\"}}")), "{refused}");
            }
            let task = ask(server, &format!("GET /{}/task", server.router.token), &headers);
            assert!(task.ends_with(r#"{"running":false}"#), "{task}");
        });
    }

    #[test]
    fn server_without_token_reveals_nothing() {
        with_server(|server, _| {
            let (port, token) = (server.port, &server.router.token);
            let own = format!("Host: 127.0.0.1:{port}\r\n");
            let wrong = "0".repeat(32);
            for (status, line, headers) in [
                (404, "GET /".to_owned(), own.clone()),
                (404, format!("GET /{wrong}/"), own.clone()),
                (404, format!("GET /{}/", &token[..31]), own.clone()),
                (404, format!("GET /{token}"), own.clone()),
                (404, format!("GET /{token}/../etc/passwd"), own.clone()),
                (404, format!("GET /{wrong}/columns/0"), own.clone()),
                (404, format!("GET /{token}/columns"), own.clone()),
                (404, format!("GET /{token}/columns/-1"), own.clone()),
                (404, format!("GET /{token}/alive/0"), own.clone()),
                (421, format!("GET /{token}/columns/0"), "Host: example.org\r\n".to_owned()),
                (
                    403,
                    format!("GET /{token}/columns/0"),
                    format!("{own}Origin: http://example.org\r\n"),
                ),
                (421, format!("GET /{token}/"), "Host: example.org\r\n".to_owned()),
                (421, format!("GET /{token}/"), format!("Host: example.org:{port}\r\n")),
                (421, format!("GET /{token}/"), String::new()),
                (403, format!("GET /{token}/"), format!("{own}Origin: http://example.org\r\n")),
                (403, format!("GET /{token}/"), format!("{own}Origin: null\r\n")),
                (403, format!("POST /{token}/"), own.clone()),
            ] {
                let answer = ask(server, &line, &headers);
                assert!(
                    answer.starts_with(&format!("HTTP/1.1 {status}")),
                    "{line} {headers}: {answer}"
                );
                assert!(!answer.contains("the page"), "{answer}");
            }
            let origin = format!("{own}Origin: http://127.0.0.1:{port}\r\n");
            assert!(ask(server, &format!("GET /{token}/"), &origin).contains("the page"));
        });
    }

    #[test]
    fn server_address_new_and_on_loopback() {
        let (one, other) = (Server::start().unwrap(), Server::start().unwrap());
        assert_ne!(one.router.token, other.router.token);
        assert!(one.address().starts_with("http://127.0.0.1:"));
        let listening = one.listener.local_addr().unwrap();
        assert!(listening.ip().is_loopback());
    }
}
