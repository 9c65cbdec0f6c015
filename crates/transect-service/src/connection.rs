//! The service's side of a connection: answers requests in their order until the client
//! disconnects.

use std::io::{self, Write};
use std::path::Path;

use transect_cache::{AttributeCache, LookupError};

use crate::protocol::{
    ErrorCode, ErrorReply, FrameReader, Kind, MAX_REQUEST_BYTES, PathList, ProtocolError, Request,
    ResolvedName, ServerInfo, VERSION, WireLayout, append_attributes, append_exists, append_frame,
    append_resolved, append_stats, path_from_bytes,
};
use crate::transport::Stream;

/// What a connection requires of the service.
pub(crate) trait ConnectionContext: Sync {
    /// Returns the cache.
    fn cache(&self) -> &AttributeCache;
    /// Returns the reply to hello.
    fn server_info(&self) -> ServerInfo;
    /// Returns the counters.
    fn stats(&self) -> Vec<(&'static str, u64)>;
    /// Counts a request with this number of paths or names.
    fn count_paths(&self, questions: usize);
    /// The service begins to wait for the client: for the rest of a frame, or for room for an
    /// answer.
    fn begin_wait(&self);
    /// The client has sent a whole frame, or received a whole answer.
    fn end_wait(&self);
}

/// How a connection ended.
#[derive(Debug)]
pub(crate) enum Disconnect {
    /// The client closed it between two requests.
    Orderly,
    /// The service closed it after an error reply.
    Error(ErrorReply),
    /// It broke off within a request or an answer.
    Broken,
}

/// A connection, with buffers that are reused.
pub(crate) struct Connection<'a, S> {
    service: &'a S,
    reader: FrameReader,
    out: Vec<u8>,
    paths: PathList,
}

impl<'a, S: ConnectionContext> Connection<'a, S> {
    pub(crate) fn new(service: &'a S) -> Self {
        Self {
            service,
            reader: FrameReader::new(MAX_REQUEST_BYTES),
            out: Vec::new(),
            paths: PathList::default(),
        }
    }

    /// Answers until the connection ends.
    pub(crate) fn run(mut self, stream: &Stream) -> Disconnect {
        match self.answer_all(stream) {
            Ok(None) => Disconnect::Orderly,
            Ok(Some(reply)) => {
                self.out.clear();
                reply.append(&mut self.out);
                // The client notices the end of the connection in any case.
                let _ = (&*stream).write_all(&self.out);
                Disconnect::Error(reply)
            }
            Err(_) => Disconnect::Broken,
        }
    }

    fn answer_all(&mut self, stream: &Stream) -> io::Result<Option<ErrorReply>> {
        loop {
            match self.reader.is_ready() {
                Ok(true) => {
                    self.service.end_wait();
                    self.out.clear();
                    if let Err(reply) = self.answer() {
                        return Ok(Some(reply));
                    }
                    self.service.begin_wait();
                    (&*stream).write_all(&self.out)?;
                    self.service.end_wait();
                }
                Ok(false) => {
                    if !self.reader.is_empty() {
                        self.service.begin_wait();
                    }
                    match self.reader.fill(&mut &*stream) {
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
    fn answer(&mut self) -> Result<(), ErrorReply> {
        let Self { service, reader, out, paths } = self;
        let request = Request::parse(reader.take(), paths)?;
        let cache = service.cache();
        let kind = request.kind().answer();
        let paths: Vec<&Path> = match request.kind() {
            Kind::Attributes | Kind::Exists | Kind::Resolve => {
                paths.iter().map(path_from_bytes).collect()
            }
            _ => Vec::new(),
        };
        match request {
            Request::Hello { version: VERSION } => {
                append_frame(out, kind, |out| service.server_info().append(out));
            }
            Request::Hello { version } => {
                let text = format!("it speaks version {VERSION}, not {version}");
                return Err(ErrorReply::new(ErrorCode::Version, text));
            }
            Request::Attributes(question) => {
                service.count_paths(paths.len());
                let answers = if question.follow {
                    cache.get_many(&paths)
                } else {
                    cache.get_many_links(&paths)
                };
                let layout = question.layout();
                append_frame(out, kind, |out| {
                    answers.iter().for_each(|answer| append_attributes(out, layout, answer));
                });
            }
            Request::Exists => {
                service.count_paths(paths.len());
                let revalidation = cache.revalidation();
                append_frame(out, kind, |out| {
                    paths.iter().for_each(|path| append_exists(out, revalidation.exists(path)));
                });
            }
            Request::Resolve { want, names } => {
                service.count_paths(names.len());
                let layout = WireLayout::new(want);
                let found = resolve(cache, &paths, &names);
                append_frame(out, kind, |out| {
                    found.for_each(|holder| append_resolved(out, layout, holder));
                });
            }
            Request::Invalidate(b"") => {
                cache.clear();
                append_frame(out, kind, |_| {});
            }
            Request::Invalidate(path) => {
                cache.invalidate(path_from_bytes(path)).map_err(failed)?;
                append_frame(out, kind, |_| {});
            }
            Request::Freeze => {
                cache.freeze();
                append_frame(out, kind, |_| {});
            }
            Request::Thaw => {
                cache.thaw();
                append_frame(out, kind, |_| {});
            }
            Request::Settle => {
                let all_known = cache.settle();
                append_frame(out, kind, |out| out.push(all_known.into()));
            }
            Request::Stats => append_frame(out, kind, |out| append_stats(out, &service.stats())),
        }
        Ok(())
    }
}

/// Searches directories for names, in one revalidation.
fn resolve<'a>(
    cache: &'a AttributeCache,
    directories: &[&Path],
    names: &'a [&[u8]],
) -> impl Iterator<Item = Result<Option<ResolvedName>, LookupError>> + use<'a> {
    let revalidation = cache.revalidation();
    let search = cache.search_dirs(directories);
    names.iter().map(move |name| {
        let search = search.as_ref().map_err(|error| *error)?;
        let found = revalidation.resolve(path_from_bytes(name), search)?;
        Ok(found
            .map(|found| ResolvedName { index: found.index as u32, attributes: found.attributes }))
    })
}

fn failed(why: impl std::fmt::Display) -> ErrorReply {
    ErrorReply::new(ErrorCode::Failed, why)
}

impl From<ProtocolError> for ErrorReply {
    fn from(error: ProtocolError) -> Self {
        Self::new(ErrorCode::Malformed, error)
    }
}
