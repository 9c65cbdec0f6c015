//! Accepts connections and reads their requests, with limits on all that a stranger may send.
//!
//! Anybody on the machine can connect. A connection that has not sent a complete request with the
//! token is a stranger: it gets a short time, and the oldest stranger makes room for a newcomer. So
//! a browser with the token gets through however many connections are open.

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

/// How often the server checks whether it is to stop.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The most connections that are open at once. A browser opens six.
const MAX_CONNECTIONS: usize = 64;

/// The longest head of a request. Browsers send the cookies of all servers on this machine.
const MAX_HEAD: usize = 64 << 10;

/// The most headers in a request.
const MAX_HEADERS: usize = 100;

/// A request with the token, and where its answer goes.
pub(super) struct RoutedRequest {
    pub(super) route: Route,
    pub(super) reply: oneshot::Sender<Reply>,
}

/// Returns how many connections are accepted at once: few where the process may open few files.
pub(super) fn max_connections() -> usize {
    (transect_sys::host::handle_limit() / 8).clamp(4, MAX_CONNECTIONS)
}

/// Serves until `stop` is set. Requests with the token go to `requests`; all others are refused here.
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
                // No descriptors or no memory. A stranger gives back some, or others do. The kernel
                // says so even if nobody connects: who has just come gets time to send a request.
                Ok(Err(_)) if open.close_oldest_stranger(POLL_INTERVAL) => {}
                Ok(Err(_)) => sleep(POLL_INTERVAL).await,
                Err(_) => {}
            }
            open.close_overdue();
            // A new connection is read before the next is accepted: however fast strangers come, a
            // request with the token is seen before its connection is the oldest. The first turn
            // learns what has arrived, the second reads it.
            yield_now().await;
            yield_now().await;
        }
    });
}

/// Returns whether only the connection that was to be accepted has failed.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
}

/// The open connections, in the order in which they came.
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
    /// Reads requests from a new connection. It is closed at once if there is no room for it.
    fn add(&mut self, stream: TcpStream, router: &Arc<Router>, requests: &Sender<RoutedRequest>) {
        if self.open.len() >= self.max && !self.close_oldest_stranger(Duration::ZERO) {
            return;
        }
        let deadline = Rc::new(Deadline::new());
        let serving = serve(stream, Arc::clone(router), requests.clone(), Rc::clone(&deadline));
        let (task, since) = (spawn_local(serving), Instant::now());
        self.open.push_back(Connection { task, since, deadline });
    }

    /// Returns false if there is none that has been open for so long.
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

/// Answers the requests of one connection.
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
    // The client hung up, or sent something that is not HTTP: that is its own affair.
    let _ = connection.await;
}

/// Returns the answer to a request with the token.
async fn ask(requests: &Sender<RoutedRequest>, route: Route) -> Reply {
    let (reply, received) = oneshot::channel();
    // If nobody answers any more, the channel is dropped and the wait ends.
    let _ = requests.send(RoutedRequest { route, reply });
    received.await.unwrap_or_else(|_| Reply::empty(StatusCode::SERVICE_UNAVAILABLE))
}
