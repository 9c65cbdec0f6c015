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

use super::PERIOD;
use super::answer::Answer;
use super::gate::{Asked, Gate};
use super::patience::Patience;
use super::stream::Stream;

/// The most connections that are open at once. A browser opens six.
const MOST: usize = 64;

/// The longest head of a request. Browsers send the cookies of all servers on this machine.
const LONGEST_HEAD: usize = 64 << 10;

/// The most headers in a request.
const MOST_HEADERS: usize = 100;

/// A request with the token, and where its answer goes.
pub(super) struct Question {
    pub(super) asked: Asked,
    pub(super) answer: oneshot::Sender<Answer>,
}

/// Returns how many connections are accepted at once: few where the process may open few files.
pub(super) fn most_connections() -> usize {
    (transect_sys::host::handle_limit() / 8).clamp(4, MOST)
}

/// Serves until `stop` is set. Requests with the token go to `questions`; all others are refused here.
pub(super) fn run(
    runtime: &Runtime,
    listener: &TcpListener,
    gate: &Arc<Gate>,
    questions: &Sender<Question>,
    stop: &AtomicBool,
) {
    LocalSet::new().block_on(runtime, async {
        let mut open = Connections { open: VecDeque::new(), most: most_connections() };
        while !stop.load(Ordering::Relaxed) {
            match timeout(PERIOD, listener.accept()).await {
                Ok(Ok((stream, _))) => open.add(stream, gate, questions),
                Ok(Err(error)) if is_of_one_connection(&error) => {}
                // No descriptors or no memory. A stranger gives back some, or others do. The kernel
                // says so even if nobody connects: who has just come gets time to send a request.
                Ok(Err(_)) if open.close_oldest_stranger(PERIOD) => {}
                Ok(Err(_)) => sleep(PERIOD).await,
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
    most: usize,
}

struct Connection {
    task: JoinHandle<()>,
    since: Instant,
    patience: Rc<Patience>,
}

impl Connections {
    /// Reads requests from a new connection. It is closed at once if there is no room for it.
    fn add(&mut self, stream: TcpStream, gate: &Arc<Gate>, questions: &Sender<Question>) {
        if self.open.len() >= self.most && !self.close_oldest_stranger(Duration::ZERO) {
            return;
        }
        let patience = Rc::new(Patience::new());
        let serving = serve(stream, Arc::clone(gate), questions.clone(), Rc::clone(&patience));
        let (task, since) = (spawn_local(serving), Instant::now());
        self.open.push_back(Connection { task, since, patience });
    }

    /// Returns false if there is none that has been open for so long.
    fn close_oldest_stranger(&mut self, least: Duration) -> bool {
        let is_old_stranger =
            |open: &Connection| !open.patience.is_trusted() && open.since.elapsed() >= least;
        let oldest = self.open.iter().position(is_old_stranger);
        let oldest = oldest.and_then(|oldest| self.open.remove(oldest));
        oldest.inspect(|oldest| oldest.task.abort()).is_some()
    }

    fn close_overdue(&mut self) {
        let now = Instant::now();
        self.open.retain(|open| {
            if open.patience.has_ended(now) {
                open.task.abort();
            }
            !open.task.is_finished() && !open.patience.has_ended(now)
        });
    }
}

/// Answers the requests of one connection.
async fn serve(
    stream: TcpStream,
    gate: Arc<Gate>,
    questions: Sender<Question>,
    patience: Rc<Patience>,
) {
    let respond = |request: Request<Incoming>| {
        let asked = gate.check(&request.into_parts().0);
        let (questions, patience) = (&questions, &patience);
        async move {
            let answer = match asked {
                Ok(asked) => {
                    patience.begin_response();
                    let answer = ask(questions, asked).await;
                    patience.finish_response();
                    answer
                }
                Err(status) => Answer::empty(status),
            };
            Ok::<_, Infallible>(answer.response())
        }
    };
    let stream = Stream::new(stream, Rc::clone(&patience));
    let connection = http1::Builder::new()
        .max_buf_size(LONGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .serve_connection(stream, service_fn(respond));
    // The client hung up, or sent something that is not HTTP: that is its own affair.
    let _ = connection.await;
}

/// Returns the answer to a request with the token.
async fn ask(questions: &Sender<Question>, asked: Asked) -> Answer {
    let (answer, answered) = oneshot::channel();
    // If nobody answers any more, the channel is dropped and the wait ends.
    let _ = questions.send(Question { asked, answer });
    answered.await.unwrap_or_else(|_| Answer::empty(StatusCode::SERVICE_UNAVAILABLE))
}
