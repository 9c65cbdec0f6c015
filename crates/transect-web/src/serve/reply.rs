//! Replies, with security headers.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use super::action::Refusal;

#[derive(Debug)]
pub(super) struct Reply {
    status: StatusCode,
    content_type: &'static str,
    body: Vec<u8>,
}

impl Reply {
    pub(super) fn html(page: String) -> Self {
        Self::ok("text/html; charset=utf-8", page.into_bytes())
    }

    pub(super) fn columns(body: Vec<u8>) -> Self {
        Self::ok("application/octet-stream", body)
    }

    pub(super) fn json(value: &serde_json::Value) -> Self {
        Self::ok("application/json", value.to_string().into_bytes())
    }

    /// Returns the refusal of an action: the reason as JSON.
    pub(super) fn refusal(refusal: &Refusal) -> Self {
        let status = match refusal.is_forbidden {
            true => StatusCode::FORBIDDEN,
            false => StatusCode::CONFLICT,
        };
        Self { status, ..Self::json(&serde_json::json!({ "error": refusal.reason })) }
    }

    /// Returns a reply without a body.
    pub(super) fn empty(status: StatusCode) -> Self {
        Self { status, content_type: "text/plain", body: Vec::new() }
    }

    fn ok(content_type: &'static str, body: Vec<u8>) -> Self {
        Self { status: StatusCode::OK, content_type, body }
    }

    pub(super) fn is_error(&self) -> bool {
        self.status.is_client_error() || self.status.is_server_error()
    }

    /// Returns the response. After an error the connection is closed: a client without the token
    /// gets one reply.
    pub(super) fn response(self) -> Response<FullBody> {
        let refusal = self.is_error();
        let mut response = Response::new(FullBody(Bytes::from(self.body)));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        for (name, value) in [
            (header::CONTENT_TYPE, self.content_type),
            (header::CACHE_CONTROL, "no-store"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
            (header::REFERRER_POLICY, "no-referrer"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if refusal {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// A body sent in one piece.
#[derive(Debug)]
pub(super) struct FullBody(Bytes);

impl Body for FullBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = std::mem::take(&mut self.0);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}
