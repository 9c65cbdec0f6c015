//! Responses, with the headers that keep a page to itself.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

/// What is sent back to a browser.
#[derive(Debug)]
pub(super) struct Answer {
    status: StatusCode,
    kind: &'static str,
    body: Vec<u8>,
}

impl Answer {
    pub(super) fn html(page: String) -> Self {
        Self::of("text/html; charset=utf-8", page.into_bytes())
    }

    pub(super) fn columns(body: Vec<u8>) -> Self {
        Self::of("application/octet-stream", body)
    }

    pub(super) fn json(value: &serde_json::Value) -> Self {
        Self::of("application/json", value.to_string().into_bytes())
    }

    pub(super) fn nothing() -> Self {
        Self::empty(StatusCode::NO_CONTENT)
    }

    /// Returns an answer without a body.
    pub(super) fn empty(status: StatusCode) -> Self {
        Self { status, kind: "text/plain", body: Vec::new() }
    }

    fn of(kind: &'static str, body: Vec<u8>) -> Self {
        Self { status: StatusCode::OK, kind, body }
    }

    pub(super) fn is_refusal(&self) -> bool {
        self.status.is_client_error() || self.status.is_server_error()
    }

    /// Returns the response. The connection of a refusal ends with it: a stranger gets one answer.
    pub(super) fn response(self) -> Response<Whole> {
        let refusal = self.is_refusal();
        let mut response = Response::new(Whole(Bytes::from(self.body)));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        for (name, value) in [
            (header::CONTENT_TYPE, self.kind),
            (header::CACHE_CONTROL, "no-store"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
            (header::REFERRER_POLICY, "no-referrer"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        for (name, value) in [
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if refusal {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// A body that is sent as one piece.
#[derive(Debug)]
pub(super) struct Whole(Bytes);

impl Body for Whole {
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
