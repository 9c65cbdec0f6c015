//! Requests, and the answers that are not lists.

use std::fmt;

use transect::FieldMask;

use super::bytes::append_string;
use super::{
    ByteReader, Frame, Kind, MAGIC, MAX_PATHS, PathList, PlaceOfClient, ProtocolError, WordSearch,
    append_frame,
};

/// The flag of requests for attributes that follow links.
const FOLLOW: u8 = 1;

/// A request. The paths of requests that have many are in a [`PathList`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// Version and properties of the service.
    Hello {
        /// The client's version.
        version: u16,
    },
    /// Attributes of the paths.
    Attributes {
        /// The attributes to return.
        want: FieldMask,
        /// Follow links.
        follow: bool,
    },
    /// Whether the paths exist.
    Exists,
    /// Which directories, given as the paths, contain names.
    Resolve {
        /// The attributes to return.
        want: FieldMask,
        /// The names.
        names: Vec<&'a [u8]>,
    },
    /// Drop a path and everything below it; if it is empty, everything.
    Invalidate(&'a [u8]),
    /// Freeze the cache.
    Freeze,
    /// Thaw the cache.
    Thaw,
    /// Return the counters of service and cache.
    Stats,
    /// The entries of a followed tree.
    Entries {
        /// The attributes to return.
        want: FieldMask,
        /// The root of the tree, or an entry in it.
        path: &'a [u8],
        /// Which of them.
        search: WordSearch<'a>,
    },
    /// What changed in a followed tree.
    Changes {
        /// The root of the tree.
        root: &'a [u8],
        /// Since when.
        place: PlaceOfClient,
    },
}

impl<'a> Request<'a> {
    /// Parses a frame. Its paths, if it is of a kind that has many, replace those of the list.
    ///
    /// # Errors
    /// It is malformed.
    pub fn parse(frame: Frame<'a>, paths: &mut PathList) -> Result<Self, ProtocolError> {
        let kind = Kind::of_request(frame.kind).ok_or(ProtocolError("an unknown request"))?;
        let mut from = ByteReader(frame.payload);
        let request = match kind {
            Kind::Hello => {
                if from.take(MAGIC.len())? != MAGIC {
                    return Err(ProtocolError("not a hello"));
                }
                Self::Hello { version: from.u16()? }
            }
            Kind::Attributes => {
                let want = FieldMask::from_bits_truncate(from.u16()?);
                let follow = match from.u8()? {
                    flags @ 0..=FOLLOW => flags == FOLLOW,
                    _ => return Err(ProtocolError("an unknown flag")),
                };
                paths.take(&mut from)?;
                Self::Attributes { want, follow }
            }
            Kind::Exists => {
                paths.take(&mut from)?;
                Self::Exists
            }
            Kind::Resolve => Self::resolve(&mut from, paths)?,
            Kind::Invalidate => Self::Invalidate(from.string()?),
            Kind::Freeze => Self::Freeze,
            Kind::Thaw => Self::Thaw,
            Kind::Stats => Self::Stats,
            Kind::Entries => {
                let want = FieldMask::from_bits_truncate(from.u16()?);
                let path = from.string()?;
                Self::Entries { want, path, search: WordSearch::take(&mut from)? }
            }
            Kind::Changes => {
                let root = from.string()?;
                Self::Changes { root, place: PlaceOfClient::take(&mut from)? }
            }
        };
        from.end()?;
        Ok(request)
    }

    fn resolve(from: &mut ByteReader<'a>, paths: &mut PathList) -> Result<Self, ProtocolError> {
        let want = FieldMask::from_bits_truncate(from.u16()?);
        let names = from.u32()? as usize;
        if names > MAX_PATHS {
            return Err(ProtocolError("too many names"));
        }
        let names = (0..names).map(|_| from.string()).collect::<Result<_, _>>()?;
        paths.take(from)?;
        Ok(Self::Resolve { want, names })
    }

    /// Appends a request as a frame; `paths` appends the paths, if it has many.
    pub fn append(&self, out: &mut Vec<u8>, paths: impl FnOnce(&mut Vec<u8>)) {
        append_frame(out, self.kind().request(), |out| match self {
            Self::Hello { version } => {
                out.extend_from_slice(&MAGIC);
                out.extend_from_slice(&version.to_le_bytes());
            }
            Self::Attributes { want, follow } => {
                out.extend_from_slice(&want.bits().to_le_bytes());
                out.push(if *follow { FOLLOW } else { 0 });
                paths(out);
            }
            Self::Exists => paths(out),
            Self::Resolve { want, names } => {
                out.extend_from_slice(&want.bits().to_le_bytes());
                out.extend_from_slice(&(names.len() as u32).to_le_bytes());
                names.iter().for_each(|name| append_string(out, name));
                paths(out);
            }
            Self::Invalidate(path) => append_string(out, path),
            Self::Freeze | Self::Thaw | Self::Stats => {}
            Self::Entries { want, path, search } => {
                out.extend_from_slice(&want.bits().to_le_bytes());
                append_string(out, path);
                search.append(out);
            }
            Self::Changes { root, place } => {
                append_string(out, root);
                place.append(out);
            }
        });
    }

    /// Returns the kind of the request.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Hello { .. } => Kind::Hello,
            Self::Attributes { .. } => Kind::Attributes,
            Self::Exists => Kind::Exists,
            Self::Resolve { .. } => Kind::Resolve,
            Self::Invalidate(_) => Kind::Invalidate,
            Self::Freeze => Kind::Freeze,
            Self::Thaw => Kind::Thaw,
            Self::Stats => Kind::Stats,
            Self::Entries { .. } => Kind::Entries,
            Self::Changes { .. } => Kind::Changes,
        }
    }
}

/// The reply to hello.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The version of the protocol.
    pub version: u16,
    /// The process id of the service.
    pub process: u32,
    /// The current level of the cache.
    pub level: String,
    /// The attributes that it caches; no others are returned.
    pub fields: FieldMask,
    /// Where lookups are allowed; empty: everywhere.
    pub roots: Vec<Vec<u8>>,
}

impl ServerInfo {
    /// Appends it as the payload of an answer.
    pub fn append(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&self.version.to_le_bytes());
        out.extend_from_slice(&self.process.to_le_bytes());
        append_string(out, self.level.as_bytes());
        out.extend_from_slice(&self.fields.bits().to_le_bytes());
        self.roots.iter().for_each(|root| append_string(out, root));
    }

    /// Parses the payload of an answer.
    ///
    /// # Errors
    /// It is malformed.
    pub fn parse(payload: &[u8]) -> Result<Self, ProtocolError> {
        let mut from = ByteReader(payload);
        if from.take(MAGIC.len())? != MAGIC {
            return Err(ProtocolError("not a hello"));
        }
        let mut greeting = Self {
            version: from.u16()?,
            process: from.u32()?,
            level: String::from_utf8_lossy(from.string()?).into_owned(),
            fields: FieldMask::from_bits_truncate(from.u16()?),
            roots: Vec::new(),
        };
        while !from.is_empty() {
            greeting.roots.push(from.string()?.to_vec());
        }
        Ok(greeting)
    }
}

/// Appends counters with their names as the payload of an answer.
pub fn append_stats(out: &mut Vec<u8>, stats: &[(&str, u64)]) {
    for (name, number) in stats {
        append_string(out, name.as_bytes());
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// Parses counters with their names.
///
/// # Errors
/// They are malformed.
pub fn take_stats(payload: &[u8]) -> Result<Vec<(String, u64)>, ProtocolError> {
    let (mut from, mut stats) = (ByteReader(payload), Vec::new());
    while !from.is_empty() {
        let name = String::from_utf8_lossy(from.string()?).into_owned();
        stats.push((name, from.u64()?));
    }
    Ok(stats)
}

/// The code of an error reply. The service closes the connection after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum ErrorCode {
    /// The request is malformed.
    Malformed = 1,
    /// The client's version is not supported.
    Version = 2,
    /// The client belongs to another user.
    Denied = 3,
    /// There are too many clients.
    Busy = 4,
    /// The request cannot be executed.
    Failed = 5,
}

impl ErrorCode {
    const ALL: [Self; 5] = [Self::Malformed, Self::Version, Self::Denied, Self::Busy, Self::Failed];
}

/// An error reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorReply {
    /// The code; `None` if it is unknown here.
    pub code: Option<ErrorCode>,
    /// The message for people.
    pub text: String,
}

impl ErrorReply {
    /// Returns an error reply.
    pub fn new(code: ErrorCode, text: impl fmt::Display) -> Self {
        Self { code: Some(code), text: text.to_string() }
    }

    /// Appends it as a frame.
    pub fn append(&self, out: &mut Vec<u8>) {
        append_frame(out, Kind::ERROR, |out| {
            let code = self.code.map_or(0, |code| code as u16);
            out.extend_from_slice(&code.to_le_bytes());
            append_string(out, self.text.as_bytes());
        });
    }

    /// Parses the payload of a frame.
    ///
    /// # Errors
    /// It is malformed.
    pub fn parse(payload: &[u8]) -> Result<Self, ProtocolError> {
        let mut from = ByteReader(payload);
        let number = from.u16()?;
        let code = ErrorCode::ALL.into_iter().find(|code| *code as u16 == number);
        let text = String::from_utf8_lossy(from.string()?).into_owned();
        from.end()?;
        Ok(Self { code, text })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::{FrameReader, MAX_REQUEST_BYTES, PathsEncoder};

    fn any_request() -> impl Strategy<Value = (u8, u16, bool, Vec<Vec<u8>>)> {
        let strings = prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..5);
        (0..Kind::ALL.len() as u8, any::<u16>(), any::<bool>(), strings)
    }

    proptest! {
        #[test]
        fn request_round_trip((kind, number, follow, names) in any_request()) {
            let want = FieldMask::from_bits_truncate(number);
            let paths: [&[u8]; 3] = [b"/a/b", b"/a/c", b"/d"];
            let request = match Kind::ALL[usize::from(kind)] {
                Kind::Hello => Request::Hello { version: number },
                Kind::Attributes => Request::Attributes { want, follow },
                Kind::Exists => Request::Exists,
                Kind::Resolve => {
                    Request::Resolve { want, names: names.iter().map(Vec::as_slice).collect() }
                }
                Kind::Invalidate => Request::Invalidate(names.first().map_or(b"", Vec::as_slice)),
                Kind::Freeze => Request::Freeze,
                Kind::Thaw => Request::Thaw,
                Kind::Stats => Request::Stats,
                Kind::Entries => {
                    let words = names.iter().map(Vec::as_slice).collect();
                    let search = WordSearch { words, ignore_case: follow };
                    Request::Entries { want, path: b"/a", search }
                }
                Kind::Changes => {
                    let place = PlaceOfClient { cursor: None, wait: follow };
                    Request::Changes { root: b"/a", place }
                }
            };
            let mut out = Vec::new();
            request.append(&mut out, |out| {
                let mut encoder = PathsEncoder::new(out);
                paths.iter().for_each(|path| encoder.push(path));
            });
            let mut inbox = FrameReader::new(MAX_REQUEST_BYTES);
            inbox.fill(&mut &out[..]).unwrap();
            let mut list = PathList::default();
            let parsed = Request::parse(inbox.take(), &mut list);
            prop_assert_eq!(parsed, Ok(request.clone()));
            let has_paths = matches!(request.kind(), Kind::Attributes | Kind::Exists | Kind::Resolve);
            let expected: &[&[u8]] = if has_paths { &paths } else { &[] };
            prop_assert_eq!(list.iter().collect::<Vec<_>>(), expected);
        }

        #[test]
        fn server_info_and_stats_round_trip(
            process in any::<u32>(),
            level in "[a-z]{0,9}",
            fields in any::<u16>(),
            roots in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..5),
            numbers in any::<[u64; 3]>(),
        ) {
            let fields = FieldMask::from_bits_truncate(fields);
            let greeting = ServerInfo { version: 7, process, level, fields, roots };
            let mut out = Vec::new();
            greeting.append(&mut out);
            prop_assert_eq!(ServerInfo::parse(&out), Ok(greeting));

            let stats = [("hits", numbers[0]), ("", numbers[1]), ("misses", numbers[2])];
            out.clear();
            append_stats(&mut out, &stats);
            let owned = stats.map(|(name, number)| (name.to_owned(), number)).to_vec();
            prop_assert_eq!(take_stats(&out), Ok(owned));
        }

        #[test]
        fn parser_random_bytes_no_panic(
            kind in any::<u8>(),
            payload in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            let mut list = PathList::default();
            let _ = Request::parse(Frame { kind: kind % 14, payload: &payload }, &mut list);
            let _ = ServerInfo::parse(&payload);
            let _ = ErrorReply::parse(&payload);
            let _ = take_stats(&payload);
        }
    }

    #[test]
    fn error_reply_round_trip() {
        for code in ErrorCode::ALL {
            let reply = ErrorReply::new(code, "so it is");
            let mut out = Vec::new();
            reply.append(&mut out);
            assert_eq!(ErrorReply::parse(&out[5..]), Ok(reply));
        }
        let unknown = ErrorReply::parse(&[99, 0, 0, 0]).unwrap();
        assert_eq!(unknown.code, None);
    }

    #[test]
    fn request_trailing_bytes_refused() {
        let frame = Frame { kind: Kind::Stats.request(), payload: b"x" };
        let parsed = Request::parse(frame, &mut PathList::default());
        assert_eq!(parsed, Err(ProtocolError("unexpected bytes after the end")));
    }
}
