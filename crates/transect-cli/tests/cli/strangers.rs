//! Clients of `transect map` without the token. Whatever they send, the page is served, and Ctrl-C
//! ends the program.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, prlimit};
use transect_testkit::{in_own_process, raise_descriptor_limit};

use crate::harness::{Running, TestEnv, skip};

/// The memory limit. The server reads heads of at most 64 KiB, and keeps 64 connections.
const MEMORY: u64 = 32 << 20;

/// Only an answer that never comes takes longer.
const HANG: Duration = Duration::from_secs(60);

/// A program that serves the map of a small tree.
struct Served {
    running: Running,
    port: u16,
    token: String,
}

impl Served {
    /// Starts the program, and waits until the tree has been read.
    fn start(env: &TestEnv) -> Self {
        env.mkdir("tree");
        env.write("tree/file", 1000);
        let mut running = env.start(["map", "tree"]);
        let address = running.first_line();
        let place = address.strip_prefix("http://127.0.0.1:").expect("an address on loopback");
        let (port, token) = place.trim_end_matches('/').split_once('/').expect("a token");
        let (port, token) = (port.parse().expect("a port"), token.to_owned());
        let served = Self { running, port, token };
        while served.get(&served.token, "progress").contains(r#""reading":true"#) {}
        served
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(HANG)).expect("a limit");
        stream
    }

    fn head(&self, token: &str, page: &str) -> String {
        format!("GET /{token}/{page} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", self.port)
    }

    /// Sends a request as a browser does, and returns the whole answer.
    fn get(&self, token: &str, page: &str) -> String {
        let (answer, ended) = self.exchange(token, page);
        ended.expect("a request is taken, and an answer comes");
        answer
    }

    /// Does the same, and returns what came before the connection ended, and how it ended.
    fn exchange(&self, token: &str, page: &str) -> (String, std::io::Result<()>) {
        let mut stream = self.connect();
        let request = self.head(token, page) + "Connection: close\r\n\r\n";
        let mut answer = Vec::new();
        let sent = stream.write_all(request.as_bytes());
        let ended = sent.and_then(|()| stream.read_to_end(&mut answer).map(|_| ()));
        (String::from_utf8(answer).expect("text"), ended)
    }

    #[track_caller]
    fn assert_serves(&self) {
        assert_page(&self.get(&self.token, ""));
    }

    /// Ends the program by Ctrl-C.
    #[track_caller]
    fn interrupt(mut self) {
        self.running.signal(Signal::INT);
        let ended = self.running.wait();
        assert_eq!(ended.code(), Some(0), "{ended}");
    }

    /// Returns the peak memory of the program in bytes.
    fn peak_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.running.child.id()));
        let status = status.expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
    }

    /// Raises the program's descriptor limit to its maximum.
    fn allow_descriptors(&self) {
        let pid = Pid::from_child(&self.running.child);
        let maximum = getrlimit(Resource::Nofile).maximum;
        let limit = Rlimit { current: maximum, maximum };
        prlimit(Some(pid), Resource::Nofile, limit).expect("a child of ours");
    }

    /// Limits the program to this many descriptors beyond those it has without connections.
    fn limit_descriptors(&self, more: u64) {
        let folder = format!("/proc/{}/fd", self.running.child.id());
        let open = || -> BTreeMap<u64, PathBuf> {
            let open = fs::read_dir(&folder).expect("it runs").flatten();
            let of = |entry: fs::DirEntry| {
                let number = entry.file_name().to_str().expect("a number").parse();
                // The descriptor may be closed by now.
                Some((number.expect("a number"), fs::read_link(entry.path()).ok()?))
            };
            open.filter_map(of).collect()
        };
        let is_socket = |open: &&PathBuf| open.to_string_lossy().starts_with("socket:");
        while open().values().filter(is_socket).count() > 1 {}
        let open = open();
        // The limit applies to descriptor numbers, so count the free ones.
        let mut free = (0..).filter(|number| !open.contains_key(number));
        let pid = Pid::from_child(&self.running.child);
        let current = free.nth(more as usize);
        let maximum = getrlimit(Resource::Nofile).maximum;
        prlimit(Some(pid), Resource::Nofile, Rlimit { current, maximum }).expect("a child of ours");
    }
}

/// Writes until the connection accepts no more: the server has closed it, or does not read. Returns
/// the number of bytes accepted.
fn flood(stream: &mut TcpStream, block: &[u8], most: usize) -> usize {
    stream.set_write_timeout(Some(Duration::from_millis(500))).expect("a limit");
    let mut sent = 0;
    while sent < most {
        match stream.write(block) {
            Ok(bytes) => sent += bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    sent
}

#[track_caller]
fn assert_page(answer: &str) {
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("</html>\n"), "{answer}");
}

#[test]
fn map_request_bodies_rejected() {
    let env = TestEnv::new();
    let served = Served::start(&env);
    let mut open = Vec::new();
    for (token, header) in
        ["0123456789abcdef0123456789abcdef", &served.token].into_iter().flat_map(|token| {
            [
                "Content-Length: 18446744073709551615",
                "Content-Length: 18446744073709551614",
                "Content-Length: 9223372036854775807",
                "Content-Length: 5000",
                "Content-Length: -1",
                "Transfer-Encoding: chunked",
                "Expect: 100-continue\r\nContent-Length: 5000",
            ]
            .map(|header| (token, header))
        })
    {
        let mut stream = served.connect();
        let request = format!("{}{header}\r\n\r\n", served.head(token, ""));
        stream.write_all(request.as_bytes()).expect("a request is taken");
        // The body is not sent, and the answer still comes.
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap_or_else(|error| panic!("{header}: {error}"));
        assert!(answer.starts_with("HTTP/1.1 4"), "{header}: {answer}");
        open.push(stream);
        served.assert_serves();
    }
    served.interrupt();
}

#[test]
fn map_unread_pipelined_responses_do_not_block_others() {
    let env = TestEnv::new();
    let served = Served::start(&env);
    let before = served.peak_memory();
    let mut open = Vec::new();
    for token in ["0123456789abcdef0123456789abcdef", &served.token] {
        for page in ["", "alive", "columns/0"] {
            let request = served.head(token, page) + "\r\n";
            let requests = request.repeat(10_000);
            let mut stream = served.connect();
            flood(&mut stream, requests.as_bytes(), requests.len());
            open.push(stream);
            served.assert_serves();
        }
    }
    let grown = served.peak_memory() - before;
    assert!(grown < MEMORY, "{grown} bytes");
    served.interrupt();
}

#[test]
fn map_endless_line_takes_little_memory() {
    let env = TestEnv::new();
    let served = Served::start(&env);
    let before = served.peak_memory();
    let block = vec![b'a'; 1 << 20];
    let mut open = Vec::new();
    for start in ["GET / HTTP/1.1\r\nX: ", "GET /", "", "GET / HTTP/1.1\r\n"] {
        let mut stream = served.connect();
        stream.write_all(start.as_bytes()).expect("a start is taken");
        let sent = flood(&mut stream, &block, 256 << 20);
        assert!(sent < 64 << 20, "{start}: {sent} bytes were taken");
        open.push(stream);
        served.assert_serves();
    }
    // Many short lines are limited like a long one.
    let mut stream = served.connect();
    stream.write_all(b"GET / HTTP/1.1\r\n").expect("a start is taken");
    flood(&mut stream, "a: b\r\n".repeat(100_000).as_bytes(), 256 << 20);
    served.assert_serves();
    let grown = served.peak_memory() - before;
    assert!(grown < MEMORY, "{grown} bytes");
    served.interrupt();
}

#[test]
fn map_without_descriptors_recovers() {
    let env = TestEnv::new();
    let served = Served::start(&env);
    served.limit_descriptors(1);
    let half = |_| {
        let mut stream = served.connect();
        stream.write_all(b"GET / HT").expect("a start is taken");
        stream
    };
    let open: Vec<TcpStream> = (0..20).map(half).collect();
    // One descriptor is left for connections, and the oldest stranger is closed to free it.
    served.assert_serves();
    drop(open);

    let served = Served::start(&env);
    served.limit_descriptors(0);
    let mut waiting = served.connect();
    let request = served.head(&served.token, "progress") + "Connection: close\r\n\r\n";
    waiting.write_all(request.as_bytes()).expect("the system takes a request");
    waiting.set_read_timeout(Some(Duration::from_millis(500))).expect("a limit");
    let early = waiting.read(&mut [0; 1]).map_err(|error| error.kind());
    assert_eq!(early, Err(ErrorKind::WouldBlock), "there is no descriptor for an answer");
    served.allow_descriptors();
    waiting.set_read_timeout(Some(HANG)).expect("a limit");
    let mut answer = String::new();
    waiting.read_to_string(&mut answer).expect("an answer comes");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(waiting);
    served.limit_descriptors(0);
    let _waiting = served.connect();
    served.interrupt();
}

#[test]
fn map_ten_thousand_half_open_connections_do_not_block() {
    let test = "map_ten_thousand_half_open_connections_do_not_block";
    // The descriptor limit applies to the whole process.
    in_own_process(&format!("strangers::{test}"), || {
        const CONNECTIONS: u64 = 10_000;
        let limit = raise_descriptor_limit();
        if limit.is_some_and(|limit| limit < CONNECTIONS + 100) {
            skip::<()>(test, &format!("only {limit:?} descriptors are allowed"));
            return;
        }
        let env = TestEnv::new();
        let served = Served::start(&env);
        let before = served.peak_memory();
        let mut open = Vec::new();
        for number in 0..CONNECTIONS {
            let mut stream = served.connect();
            // Some send nothing at all. The server may already have closed a connection to make
            // room.
            if number % 2 == 0 {
                let _ = stream.write_all(b"GET / HT");
            }
            open.push(stream);
        }
        served.assert_serves();
        let grown = served.peak_memory() - before;
        assert!(grown < MEMORY, "{grown} bytes");
        served.interrupt();
    });
}

#[test]
fn map_browser_served_during_connection_flood() {
    let env = TestEnv::new();
    let served = Served::start(&env);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        /// Stops the strangers even if the check fails.
        struct Stop<'s>(&'s AtomicBool);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _stop = Stop(&stop);
        for _ in 0..3 {
            scope.spawn(|| {
                let mut open = std::collections::VecDeque::new();
                while !stop.load(Ordering::Relaxed) {
                    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", served.port)) else {
                        continue;
                    };
                    let _ = stream.write_all(b"GET / HT");
                    open.push_back(stream);
                    if open.len() > 100 {
                        open.pop_front();
                    }
                }
            });
        }
        // Of a connection that has not sent its request before 64 others came, nothing is read. That
        // depends on when this thread runs; then a person reloads the page.
        let mut complete = 0;
        while complete < 20 {
            let (answer, _) = served.exchange(&served.token, "");
            if !answer.is_empty() {
                assert_page(&answer);
                complete += 1;
            }
        }
    });
    served.interrupt();
}
