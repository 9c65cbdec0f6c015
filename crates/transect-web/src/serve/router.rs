//! Decides which requests are accepted, by their heads alone.

use hyper::header::{self, HeaderMap, HeaderName};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

use super::action::{self, Action};

/// The target of a request with the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Page,
    /// The update from this version.
    Columns(u64),
    /// The number of entries read.
    Progress,
    /// Nothing: the page is still open.
    Alive,
    /// The state of the last action that takes long.
    Task,
    /// A request that changes something or takes long.
    Action(Action),
}

/// The address that requests must carry.
#[derive(Debug)]
pub(super) struct Router {
    pub(super) token: String,
    /// The `Host` headers of this server.
    hosts: [String; 2],
}

impl Router {
    pub(super) fn new(port: u16, token: String) -> Self {
        Self { token, hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")] }
    }

    /// Returns the target of a request, or the status of its rejection.
    pub(super) fn route(&self, head: &Parts) -> Result<Route, StatusCode> {
        if has_body(&head.headers) {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        let host = only(&head.headers, &header::HOST);
        let is_own = |host: &&[u8]| self.hosts.iter().any(|own| own.as_bytes() == *host);
        let Some(host) = host.filter(is_own).filter(|_| head.uri.authority().is_none()) else {
            return Err(StatusCode::MISDIRECTED_REQUEST);
        };
        let own_origin = [b"http://", host].concat();
        if head.headers.get_all(header::ORIGIN).iter().any(|origin| origin != own_origin.as_slice())
        {
            return Err(StatusCode::FORBIDDEN);
        }
        let address = head.uri.path_and_query().map_or("", |address| address.as_str());
        let address = address.strip_prefix('/').and_then(|address| address.split_once('/'));
        let Some((_, page)) = address.filter(|(token, _)| is_same_token(token, &self.token)) else {
            return Err(StatusCode::NOT_FOUND);
        };
        let page = page.split_once('/').unwrap_or((page, ""));
        match head.method {
            Method::GET => {}
            // What changes something must come from the page itself. Browsers send the origin with every
            // POST; it was compared above.
            Method::POST if head.headers.contains_key(header::ORIGIN) => {
                return action::parse(page)
                    .map(Route::Action)
                    .ok_or(StatusCode::METHOD_NOT_ALLOWED);
            }
            Method::POST => return Err(StatusCode::FORBIDDEN),
            _ => return Err(StatusCode::METHOD_NOT_ALLOWED),
        }
        match page {
            ("", "") => Ok(Route::Page),
            ("columns", known) => {
                known.parse().map(Route::Columns).map_err(|_| StatusCode::NOT_FOUND)
            }
            ("progress", "") => Ok(Route::Progress),
            ("alive", "") => Ok(Route::Alive),
            ("task", "") => Ok(Route::Task),
            _ => Err(StatusCode::NOT_FOUND),
        }
    }
}

/// Returns the value of a header that occurs exactly once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h [u8]> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.as_bytes();
    values.next().is_none().then_some(value)
}

/// Returns whether the request has a body. None needs one, so bodies are never read.
fn has_body(headers: &HeaderMap) -> bool {
    headers.contains_key(header::TRANSFER_ENCODING)
        || headers.get_all(header::CONTENT_LENGTH).iter().any(|length| length != "0")
}

/// Compares in constant time.
fn is_same_token(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && std::hint::black_box(differing) == 0
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    /// Routes a request with a browser's headers and `more`.
    fn check(address: &str, more: &[(&str, &str)]) -> Result<Route, u16> {
        check_method("GET", address, more)
    }

    fn check_method(method: &str, address: &str, more: &[(&str, &str)]) -> Result<Route, u16> {
        let request = Request::builder().method(method).uri(address).header("host", "localhost:80");
        let request =
            more.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let (head, ()) = request.body(()).unwrap().into_parts();
        Router::new(80, TOKEN.to_owned()).route(&head).map_err(|status| status.as_u16())
    }

    #[test]
    fn router_own_address_accepted() {
        let asked = |page: &str| check(&format!("/{TOKEN}/{page}"), &[]);
        assert_eq!(asked(""), Ok(Route::Page));
        assert_eq!(asked("columns/18446744073709551615"), Ok(Route::Columns(u64::MAX)));
        assert_eq!(asked("progress"), Ok(Route::Progress));
        assert_eq!(asked("alive"), Ok(Route::Alive));
        assert_eq!(asked("task"), Ok(Route::Task));
        assert_eq!(asked("columns/18446744073709551616"), Err(404));
        assert_eq!(asked("?"), Err(404));
    }

    #[test]
    fn router_body_rejected() {
        let page = format!("/{TOKEN}/");
        for (status, name, value) in [
            (Ok(Route::Page), "content-length", "0"),
            (Err(413), "content-length", "5000"),
            (Err(413), "content-length", "9223372036854775807"),
            (Err(413), "content-length", "nonsense"),
            (Err(413), "transfer-encoding", "chunked"),
        ] {
            assert_eq!(check(&page, &[(name, value)]), status, "{name}: {value}");
        }
    }

    #[test]
    fn router_second_host_rejected() {
        let page = format!("/{TOKEN}/");
        assert_eq!(check(&page, &[("host", "localhost:80")]), Err(421));
        assert_eq!(check(&format!("http://example.org{page}"), &[]), Err(421));
        let origins = [("origin", "http://localhost:80"), ("origin", "http://example.org")];
        assert_eq!(check(&page, &origins[..1]), Ok(Route::Page));
        assert_eq!(check(&page, &origins), Err(403));
    }

    #[test]
    fn router_post_only_from_own_page() {
        let rescan = format!("/{TOKEN}/rescan");
        let own = ("origin", "http://localhost:80");
        assert_eq!(check_method("POST", &rescan, &[own]), Ok(Route::Action(Action::Rescan)));
        assert_eq!(check_method("POST", &rescan, &[]), Err(403));
        assert_eq!(check_method("POST", &rescan, &[("origin", "null")]), Err(403));
        assert_eq!(check_method("POST", &rescan, &[("origin", "http://example.org")]), Err(403));
        assert_eq!(check_method("POST", &rescan.replace('0', "1"), &[own]), Err(404));
        assert_eq!(check_method("POST", &format!("/{TOKEN}/"), &[own]), Err(405));
        assert_eq!(check_method("GET", &rescan, &[own]), Err(404));
        assert_eq!(check_method("PUT", &rescan, &[own]), Err(405));
        assert_eq!(check_method("OPTIONS", &rescan, &[own]), Err(405));
    }

    #[test]
    fn router_actions_only_by_post_with_token() {
        let own = ("origin", "http://localhost:80");
        let number = "0".repeat(32);
        for page in ["delete/7/21", "trash/7/21", "duplicates/7/21", "stop", "confirm/"] {
            let page = if page == "confirm/" { format!("{page}{number}") } else { page.to_owned() };
            let address = format!("/{TOKEN}/{page}");
            let accepted = check_method("POST", &address, &[own]);
            assert!(matches!(accepted, Ok(Route::Action(_))), "{page}: {accepted:?}");
            assert_eq!(check_method("POST", &address, &[]), Err(403), "{page}");
            assert_eq!(check_method("POST", &address, &[("origin", "null")]), Err(403), "{page}");
            let foreign = ("origin", "http://localhost:81");
            assert_eq!(check_method("POST", &address, &[foreign]), Err(403), "{page}");
            assert_eq!(check_method("GET", &address, &[own]), Err(404), "{page}");
            assert_eq!(check_method("DELETE", &address, &[own]), Err(405), "{page}");
            let wrong = format!("/{}/{page}", TOKEN.replace('f', "e"));
            assert_eq!(check_method("POST", &wrong, &[own]), Err(404), "{page}");
            let body = [own, ("content-length", "1")];
            assert_eq!(check_method("POST", &address, &body), Err(413), "{page}");
        }
    }

    #[test]
    fn token_comparison_checks_every_byte() {
        assert!(is_same_token(TOKEN, TOKEN));
        for wrong in ["", &TOKEN[1..], &TOKEN[..31], "0123456789abcdef0123456789abcdeF"] {
            assert!(!is_same_token(wrong, TOKEN), "{wrong}");
        }
    }
}
