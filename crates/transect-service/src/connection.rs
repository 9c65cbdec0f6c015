//! The service's side of a connection: answers requests in their order until the client
//! disconnects.

use std::io::{self, Write};
use std::path::Path;

use transect::FieldMask;
use transect_live::View;

use crate::open_connections::OpenConnection;
use crate::protocol::{
    ErrorCode, ErrorReply, FrameReader, Kind, MAX_REQUEST_BYTES, PathList, ProtocolError, Request,
    VERSION, WireLayout, append_attributes, append_exists, append_frame, append_resolved,
    append_stats, path_from_bytes,
};
use crate::service::Service;
use crate::transport::Stream;
use crate::watchman::{self, Host, Session};
use crate::{live_answers, lookups};

/// A connection, with buffers that are reused.
pub(crate) struct Connection<'a> {
    host: Host<'a>,
    service: &'a Service,
    open: &'a OpenConnection,
    reader: FrameReader,
    out: Vec<u8>,
    paths: PathList,
    questions: u64,
}

impl<'a> Connection<'a> {
    pub(crate) fn new(host: Host<'a>, open: &'a OpenConnection) -> Self {
        let service = host.service;
        let (reader, paths) = (FrameReader::new(MAX_REQUEST_BYTES), PathList::default());
        Self { host, service, open, reader, out: Vec::new(), paths, questions: 0 }
    }

    /// Answers until the client closes the connection between two requests. Returns the number of paths and names in
    /// its requests.
    ///
    /// # Errors
    /// The service closed the connection after an error reply, or it broke off within a request or an answer: the
    /// reason.
    pub(crate) fn run(mut self) -> Result<u64, String> {
        let mut stream = &self.open.stream;
        match self.is_watchman(stream) {
            Ok(true) => {
                let input = self.reader.unread().to_vec();
                return Session::new(self.host, self.open, input).run();
            }
            Ok(false) => {}
            Err(_) => return Err("it was gone before it was answered".to_owned()),
        }
        match self.answer_all(stream) {
            Ok(None) => Ok(self.questions),
            Ok(Some(reply)) => {
                self.out.clear();
                reply.append(&mut self.out);
                // The client notices the end of the connection in any case.
                let _ = stream.write_all(&self.out);
                Err(reply.text)
            }
            Err(_) => Err("it was gone before it was answered".to_owned()),
        }
    }

    /// Reads the first bytes, and returns whether they are of Watchman's protocol.
    fn is_watchman(&mut self, mut stream: &Stream) -> io::Result<bool> {
        loop {
            match self.reader.unread() {
                [] | [0] | [0, 1 | 2, ..] | [b'[', ..] => {}
                _ => return Ok(false),
            }
            if let Some(&first) = self.reader.unread().first_chunk() {
                return Ok(watchman::is_watchman(first));
            }
            if !self.reader.is_empty() {
                self.open.begin_wait();
            }
            match self.reader.fill(&mut stream) {
                // Whether that is an error is decided later.
                Ok(0) => return Ok(false),
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
    }

    fn answer_all(&mut self, mut stream: &Stream) -> io::Result<Option<ErrorReply>> {
        loop {
            match self.reader.is_ready() {
                Ok(true) => {
                    self.open.end_wait();
                    self.out.clear();
                    match self.answer() {
                        Ok(()) => self.open.send(&self.out)?,
                        Err(Refusal::Reply(reply)) => return Ok(Some(reply)),
                        Err(Refusal::Broken(error)) => return Err(error),
                    }
                }
                Ok(false) => {
                    if !self.reader.is_empty() {
                        self.open.begin_wait();
                    }
                    match self.reader.fill(&mut stream) {
                        Ok(0) if self.reader.is_empty() => return Ok(None),
                        Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                        Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                            return Err(error);
                        }
                        _ => {}
                    }
                }
                Err(error) => return Ok(Some(error.into())),
            }
        }
    }

    /// Answers the request that has arrived.
    fn answer(&mut self) -> Result<(), Refusal> {
        let Self { service, open, reader, out, paths, questions, .. } = self;
        let request = Request::parse(reader.take(), paths)?;
        let cache = service.cache();
        let kind = request.kind().answer();
        let paths: Vec<&Path> = match request.kind() {
            Kind::Attributes | Kind::Exists | Kind::Resolve => {
                paths.iter().map(path_from_bytes).collect()
            }
            _ => Vec::new(),
        };
        let mut count = |asked: usize| {
            *questions += asked as u64;
            service.count_request(asked as u64);
        };
        match request {
            Request::Hello { version: VERSION } => {
                append_frame(out, kind, |out| service.info().append(out));
            }
            Request::Hello { version } => {
                let text = format!("it speaks version {VERSION}, not {version}");
                return Err(ErrorReply::new(ErrorCode::Version, text).into());
            }
            Request::Attributes { want, follow } => {
                count(paths.len());
                let answers = lookups::attributes(service, &paths, want, follow);
                let layout = WireLayout::new(want);
                append_frame(out, kind, |out| {
                    answers.iter().for_each(|answer| append_attributes(out, layout, answer));
                });
            }
            Request::Exists => {
                count(paths.len());
                let answers = lookups::exist(service, &paths);
                append_frame(out, kind, |out| {
                    answers.into_iter().for_each(|answer| append_exists(out, answer));
                });
            }
            Request::Resolve { want, names } => {
                count(names.len());
                let layout = WireLayout::new(want);
                let answers = lookups::resolve(service, &paths, &names, want);
                append_frame(out, kind, |out| {
                    answers.into_iter().for_each(|answer| append_resolved(out, layout, answer));
                });
            }
            Request::Stats => append_frame(out, kind, |out| append_stats(out, &service.stats())),
            Request::Freeze => append_frame(out, kind, |_| cache.freeze()),
            Request::Thaw => append_frame(out, kind, |_| cache.thaw()),
            Request::Invalidate(b"") => {
                cache.clear();
                service.trees.read().iter().for_each(|tree| tree.suspect(tree.root()));
                append_frame(out, kind, |_| {});
            }
            Request::Invalidate(path) => {
                let path = path_from_bytes(path);
                cache.invalidate(path).map_err(failed)?;
                service.trees.read().iter().for_each(|tree| tree.suspect(path));
                append_frame(out, kind, |_| {});
            }
            Request::Entries { want, path, search } => {
                count(1);
                match view(service, path_from_bytes(path), want)? {
                    Ok(view) => live_answers::entries(open, out, path, &view, want, &search)?,
                    Err(why) => live_answers::unknown(open, Kind::Entries, out, why),
                }
            }
            Request::Changes { root, place } => {
                count(1);
                let root = path_from_bytes(root);
                match service.trees.with(root) {
                    Ok(tree) if tree.root() == root => {
                        live_answers::changes(open, out, &tree, place)?;
                    }
                    Ok(_) => {
                        live_answers::unknown(open, Kind::Changes, out, "below a followed tree")
                    }
                    Err(why) => live_answers::unknown(open, Kind::Changes, out, why),
                }
            }
        }
        Ok(())
    }
}

/// Why a request has no answer.
enum Refusal {
    /// The connection is closed after this error.
    Reply(ErrorReply),
    /// The connection is broken.
    Broken(io::Error),
}

/// Returns the view of a path in a followed tree, or why it cannot be answered from there.
fn view(
    service: &Service,
    path: &Path,
    want: FieldMask,
) -> Result<Result<View, &'static str>, ErrorReply> {
    let tree = match service.trees.with(path) {
        Ok(tree) => tree,
        Err(why) => return Ok(Err(why)),
    };
    // A name that stays the same file keeps its id.
    let wants_attributes = !(want - FieldMask::FILE_ID).is_empty();
    Ok(match tree.view(path, wants_attributes).map_err(failed)? {
        None => Err("not in the followed tree, or not all of it could be read"),
        Some(view) if !view.is_current => Err("still being compared"),
        Some(view) => Ok(view),
    })
}

fn failed(why: impl std::fmt::Display) -> ErrorReply {
    ErrorReply::new(ErrorCode::Failed, why)
}

impl From<ErrorReply> for Refusal {
    fn from(reply: ErrorReply) -> Self {
        Self::Reply(reply)
    }
}

impl From<ProtocolError> for Refusal {
    fn from(error: ProtocolError) -> Self {
        Self::Reply(error.into())
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

impl From<ProtocolError> for ErrorReply {
    fn from(error: ProtocolError) -> Self {
        Self::new(ErrorCode::Malformed, error)
    }
}
