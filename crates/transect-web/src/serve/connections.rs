//! Accepts connections and reads requests, with limits on everything that unknown clients send.
//!
//! Every user of the machine can connect. A connection without a complete request that carries the
//! token has a short deadline, and the oldest one is closed to make room for a new one. So a
//! browser that sends its request at once gets through, however many connections are open.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, LocalSet, spawn_local, yield_now};
use tokio::time::{sleep, timeout};

use super::deadline::Deadline;
use super::reply::Reply;
use super::router::{Route, Router};
use super::stream::Stream;

/// The interval between checks of the stop flag.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The maximum number of open connections. A browser opens six.
const MAX_CONNECTIONS: usize = 64;

/// The maximum size of a request head. Browsers send the cookies of all servers on this machine.
const MAX_HEAD: usize = 64 << 10;

const MAX_HEADERS: usize = 100;

/// A request with the token, and the channel of its reply.
pub(super) struct RoutedRequest {
    pub(super) route: Route,
    pub(super) reply: oneshot::Sender<Reply>,
}

/// Returns the maximum number of connections; lower if the process may open only few files.
pub(super) fn max_connections() -> usize {
    (transect_sys::host::handle_limit() / 8).clamp(4, MAX_CONNECTIONS)
}

/// Serves until `stop` is set. Requests with the token go to `requests`; all others are rejected
/// here.
pub(super) fn run(
    runtime: &Runtime,
    listener: &TcpListener,
    router: &Arc<Router>,
    requests: &Sender<RoutedRequest>,
    stop: &AtomicBool,
) {
    LocalSet::new().block_on(runtime, async {
        let mut open = Connections { open: VecDeque::new(), max: max_connections() };
        while !stop.load(Ordering::Relaxed) {
            match timeout(POLL_INTERVAL, listener.accept()).await {
                Ok(Ok((stream, _))) => open.add(stream, router, requests),
                Ok(Err(error)) if is_of_one_connection(&error) => {}
                // No descriptors or no memory: closes the oldest connection without the token, or
                // waits. The kernel reports this even if no client connects, so new connections
                // keep time for their request.
                Ok(Err(_)) if open.close_oldest_stranger(POLL_INTERVAL) => {}
                Ok(Err(_)) => sleep(POLL_INTERVAL).await,
                Err(_) => {}
            }
            open.close_overdue();
            // Reads a new connection before accepting the next one, so that a request with the
            // token is seen before its connection becomes the oldest, however fast others connect.
            // The first yield polls for readiness, the second reads.
            yield_now().await;
            yield_now().await;
        }
    });
}

/// Returns whether the error concerns only the connection being accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
}

/// Open connections, oldest first.
struct Connections {
    open: VecDeque<Connection>,
    max: usize,
}

struct Connection {
    task: JoinHandle<()>,
    since: Instant,
    deadline: Rc<Deadline>,
}

impl Connections {
    /// Starts to serve a connection. Closes it at once if there is no room.
    fn add(&mut self, stream: TcpStream, router: &Arc<Router>, requests: &Sender<RoutedRequest>) {
        if self.open.len() >= self.max && !self.close_oldest_stranger(Duration::ZERO) {
            return;
        }
        let deadline = Rc::new(Deadline::new());
        let serving = serve(stream, Arc::clone(router), requests.clone(), Rc::clone(&deadline));
        let (task, since) = (spawn_local(serving), Instant::now());
        self.open.push_back(Connection { task, since, deadline });
    }

    /// Closes the oldest connection without the token that is at least `least` old. Returns whether
    /// there was one.
    fn close_oldest_stranger(&mut self, least: Duration) -> bool {
        let is_old_stranger =
            |open: &Connection| !open.deadline.is_trusted() && open.since.elapsed() >= least;
        let oldest = self.open.iter().position(is_old_stranger);
        let oldest = oldest.and_then(|oldest| self.open.remove(oldest));
        oldest.inspect(|oldest| oldest.task.abort()).is_some()
    }

    fn close_overdue(&mut self) {
        let now = Instant::now();
        self.open.retain(|open| {
            if open.deadline.has_expired(now) {
                open.task.abort();
            }
            !open.task.is_finished() && !open.deadline.has_expired(now)
        });
    }
}

async fn serve(
    stream: TcpStream,
    router: Arc<Router>,
    requests: Sender<RoutedRequest>,
    deadline: Rc<Deadline>,
) {
    let respond = |request: Request<Incoming>| {
        let route = router.route(&request.into_parts().0);
        let (requests, deadline) = (&requests, &deadline);
        async move {
            let reply = match route {
                Ok(route) => {
                    deadline.begin_response();
                    let reply = ask(requests, route).await;
                    deadline.finish_response();
                    reply
                }
                Err(status) => Reply::empty(status),
            };
            Ok::<_, Infallible>(reply.response())
        }
    };
    let stream = Stream::new(stream, Rc::clone(&deadline));
    let connection = http1::Builder::new()
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .serve_connection(stream, service_fn(respond));
    // Errors of the client, such as a hang-up or invalid HTTP, are ignored.
    let _ = connection.await;
}

/// Returns the reply to a request with the token.
async fn ask(requests: &Sender<RoutedRequest>, route: Route) -> Reply {
    let (reply, received) = oneshot::channel();
    // If the receiver is gone, the channel is dropped and the wait ends.
    let _ = requests.send(RoutedRequest { route, reply });
    received.await.unwrap_or_else(|_| Reply::empty(StatusCode::SERVICE_UNAVAILABLE))
}
