//! A page for a browser on the same machine, of what is there and what is still coming.
//!
//! ```text
//! browser ── GET /TOKEN/ ────────────────► the page, of what is known now
//!         ── GET /TOKEN/progress ────────► how far it is
//!         ── GET /TOKEN/columns/VERSION ─► what is newer, for the page that is open
//!         ── GET /TOKEN/alive ───────────► nothing: somebody is still looking
//! ```
//!
//! Names of files are nobody else's business. The server listens on loopback only, on a port that the
//! system chooses, and answers nobody who does not know the address, which holds a number of 128 bits
//! that is new in every run. A page of somebody else that is open in the same browser may guess the
//! port: it is refused by its origin, and by the name it knows this machine under.

use std::io;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use tiny_http::{Header, Method, Request, Response};

/// Who has looked and was not heard of for so long is gone. Pages in the background are woken once a
/// minute only.
const GONE: Duration = Duration::from_secs(180);

/// How often is looked whether somebody asked to stop.
const PERIOD: Duration = Duration::from_millis(100);

/// What a server has to show.
pub trait Show {
    /// Returns the page of what is known now; `None` if there will be nothing.
    ///
    /// # Errors
    /// It cannot be made.
    fn page(&self) -> io::Result<Option<String>>;

    /// Returns what a page takes that is open and shows the version `known`; `None` if nothing is newer.
    ///
    /// # Errors
    /// It cannot be made.
    fn columns(&self, known: u64) -> io::Result<Option<Vec<u8>>>;

    /// Returns how many entries were read until now.
    fn entries(&self) -> u64;

    /// Returns whether more is to come.
    fn is_reading(&self) -> bool;

    /// Returns whether nobody is to be served any more.
    fn has_ended(&self) -> bool;
}

/// A server that nobody but a browser on this machine can use, and there who knows the address.
pub struct Server {
    http: tiny_http::Server,
    port: u16,
    token: String,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("port", &self.port).finish_non_exhaustive()
    }
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// There is no port, or no random number.
    pub fn start() -> io::Result<Self> {
        let http = tiny_http::Server::http((Ipv4Addr::LOCALHOST, 0)).map_err(io::Error::other)?;
        let port = http.server_addr().to_ip().map(|address| address.port());
        let port = port.ok_or_else(|| io::Error::other("the server has no port"))?;
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let token = format!("{:032x}", u128::from_le_bytes(random));
        Ok(Self { http, port, token })
    }

    /// Returns where the page is.
    pub fn address(&self) -> String {
        format!("http://{}:{}/{}/", Ipv4Addr::LOCALHOST, self.port, self.token)
    }

    /// Serves until it has ended, or whoever looked is gone.
    ///
    /// # Errors
    /// Nobody can be listened to any more.
    pub fn serve(&self, shown: &impl Show) -> io::Result<()> {
        let mut heard: Option<Instant> = None;
        while !shown.has_ended() && heard.is_none_or(|heard| heard.elapsed() < GONE) {
            let Some(request) = self.http.recv_timeout(PERIOD)? else { continue };
            let answer = self.answer(&request, shown);
            if answer.status < 400 {
                heard = Some(Instant::now());
            }
            // Who hung up did not want it.
            let _ = request.respond(answer.response());
        }
        Ok(())
    }

    fn answer(&self, request: &Request, shown: &impl Show) -> Answer {
        let header = |name: &'static str| {
            let mut all = request.headers().iter().filter(move |header| header.field.equiv(name));
            all.next().map(|header| header.value.as_str())
        };
        let own = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let Some(host) = header("Host").filter(|host| own.iter().any(|own| own == host)) else {
            return Answer::refused(421);
        };
        if header("Origin").is_some_and(|origin| origin != format!("http://{host}")) {
            return Answer::refused(403);
        }
        let path = request.url().strip_prefix('/').and_then(|path| path.split_once('/'));
        let Some((_, page)) = path.filter(|(token, _)| is_same(token, &self.token)) else {
            return Answer::refused(404);
        };
        if *request.method() != Method::Get {
            return Answer::refused(405);
        }
        let answer = match page.split_once('/').unwrap_or((page, "")) {
            ("", "") => shown.page().map(|page| page.map(Answer::html)),
            ("columns", known) => match known.parse() {
                Ok(known) => shown.columns(known).map(|columns| columns.map(Answer::columns)),
                Err(_) => return Answer::refused(404),
            },
            ("progress", "") => Ok(Some(Answer::progress(shown))),
            ("alive", "") => Ok(None),
            _ => return Answer::refused(404),
        };
        match answer {
            Ok(answer) => answer.unwrap_or_else(Answer::nothing),
            Err(_) => Answer::refused(500),
        }
    }
}

/// Compares without telling by the time it takes how much was right.
fn is_same(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && differing == 0
}

struct Answer {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
}

impl Answer {
    fn html(page: String) -> Self {
        Self { status: 200, kind: "text/html; charset=utf-8", body: page.into_bytes() }
    }

    fn columns(body: Vec<u8>) -> Self {
        Self { status: 200, kind: "application/octet-stream", body }
    }

    fn progress(shown: &impl Show) -> Self {
        // In this order: what is read to its end is not said to be less.
        let reading = shown.is_reading();
        let progress = serde_json::json!({ "entries": shown.entries(), "reading": reading });
        Self { status: 200, kind: "application/json", body: progress.to_string().into_bytes() }
    }

    fn nothing() -> Self {
        Self::refused(204)
    }

    fn refused(status: u16) -> Self {
        Self { status, kind: "text/plain", body: Vec::new() }
    }

    fn response(self) -> Response<io::Cursor<Vec<u8>>> {
        let headers = [
            ("Content-Type", self.kind),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Content-Security-Policy", "frame-ancestors 'none'"),
            ("Referrer-Policy", "no-referrer"),
        ];
        let response = Response::from_data(self.body).with_status_code(self.status);
        headers.into_iter().fold(response, |response, (name, value)| {
            let header = Header::from_bytes(name, value).expect("BUG: the header is plain text");
            response.with_header(header)
        })
    }
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

    impl Show for Shown {
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

        fn is_reading(&self) -> bool {
            !self.there.load(Ordering::Relaxed)
        }

        fn has_ended(&self) -> bool {
            self.ended.load(Ordering::Relaxed)
        }
    }

    /// Sends a request, and returns the whole answer.
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
                /// Whatever becomes of the check, the server ends.
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
    fn who_knows_the_address_sees_the_page_and_what_is_newer() {
        with_server(|server, shown| {
            let host = format!("Host: 127.0.0.1:{}\r\n", server.port);
            let get = |page: &str| ask(server, &format!("GET /{}/{page}", server.token), &host);
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
    fn nobody_else_is_told_anything() {
        with_server(|server, _| {
            let (port, token) = (server.port, &server.token);
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
                (405, format!("POST /{token}/"), own.clone()),
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
    fn every_run_has_an_address_of_its_own_on_loopback() {
        let (one, other) = (Server::start().unwrap(), Server::start().unwrap());
        assert_ne!(one.token, other.token);
        assert!(one.address().starts_with("http://127.0.0.1:"));
        let listening = one.http.server_addr().to_ip().unwrap();
        assert!(listening.ip().is_loopback());
    }
}
