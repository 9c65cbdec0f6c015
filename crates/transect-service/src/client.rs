//! The client: sends requests in frames, several at a time, and receives the answers in the same
//! order.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use transect::FieldMask;
use transect_cache::{LookupError, LookupResult, by_directory};
use transect_live::{Change, Cursor};

use crate::error::Error;
use crate::protocol::{
    ByteReader, ChangesHeader, ErrorReply, Frame, FrameReader, Kind, MAX_ANSWER_BYTES,
    MAX_PATH_BYTES, MAX_PATHS, MAX_REQUEST_BYTES, Part, PathsEncoder, PlaceOfClient, ProtocolError,
    Request, ResolvedName, ServerInfo, VERSION, WireLayout, take_attributes, take_change,
    take_exists, take_resolved, take_stats,
};
use crate::transport::Stream;

/// Paths in one frame: enough to be worth a wake-up, few enough that the answers fit into a socket
/// buffer.
const PATHS_PER_FRAME: usize = 2048;

/// Bytes of paths that fill a frame.
const FULL_FRAME_BYTES: usize = 128 << 10;

/// Frames sent ahead: one is being answered, the next is ready, and earlier answers are being read.
const WINDOW: usize = 4;

/// How long a service may take to answer hello, for which it has nothing to do. One that is stopped never answers.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection to a service.
#[derive(Debug)]
pub struct Client {
    stream: Arc<Stream>,
    /// The longest wait for the service.
    longest: Option<Duration>,
    server_info: ServerInfo,
    reader: FrameReader,
    outbox: Vec<u8>,
    /// How much of the outbox has been written.
    sent: usize,
}

impl Client {
    /// Connects to the service at a socket.
    ///
    /// # Errors
    /// No service answers within seconds, it belongs to another user, or it does not support this version.
    pub fn connect(socket: &Path) -> Result<Self, Error> {
        let stream = Arc::new(Stream::connect(socket, HELLO_TIMEOUT)?);
        let (reader, outbox) = (FrameReader::new(MAX_ANSWER_BYTES), Vec::new());
        let server_info = ServerInfo::default();
        let longest = Some(HELLO_TIMEOUT);
        let mut client = Self { stream, longest, server_info, reader, outbox, sent: 0 };
        let hello = client.request(&Request::Hello { version: VERSION }, ServerInfo::parse);
        client.server_info = hello.map_err(|error| match error {
            Error::Connection(error) if error.kind() == io::ErrorKind::TimedOut => {
                Error::NotRunning(socket.to_owned(), error)
            }
            error => error,
        })?;
        client.longest = None;
        Ok(client)
    }

    /// Returns a handle that closes the connection from another thread: then a request fails that waits for an answer.
    pub fn closer(&self) -> Closer {
        Closer(Arc::clone(&self.stream))
    }

    /// Returns the service's reply to hello.
    pub fn server_info(&self) -> &ServerInfo {
        &self.server_info
    }

    /// Returns the attributes of absolute paths, in their order: those requested that the service
    /// [caches](crate::CACHED_FIELDS).
    ///
    /// # Errors
    /// The connection failed, as for all methods that follow. Earlier requests may be lost; connect
    /// again.
    pub fn attributes<P: AsRef<Path>>(
        &mut self,
        paths: &[P],
        want: FieldMask,
        follow: bool,
    ) -> Result<Vec<LookupResult>, Error> {
        let layout = WireLayout::new(want);
        self.request_many(paths, &Request::Attributes { want, follow }, |from| {
            take_attributes(from, layout)
        })
    }

    /// Returns whether paths exist, links followed.
    pub fn exists<P: AsRef<Path>>(
        &mut self,
        paths: &[P],
    ) -> Result<Vec<Result<bool, LookupError>>, Error> {
        self.request_many(paths, &Request::Exists, take_exists)
    }

    /// Returns for every name the first directory that contains it. The directories must fit into
    /// one frame: some thousands.
    pub fn resolve<P: AsRef<Path>>(
        &mut self,
        names: &[P],
        directories: &[P],
        want: FieldMask,
    ) -> Result<Vec<Result<Option<ResolvedName>, LookupError>>, Error> {
        let mut answers = Vec::with_capacity(names.len());
        while answers.len() < names.len() {
            let asked = answers.len();
            let names = take_names(&names[asked..]);
            let count = names.len();
            self.send(&Request::Resolve { want, names }, |out| {
                let mut encoder = PathsEncoder::new(out);
                directories.iter().for_each(|directory| encoder.push(bytes_of(directory)));
            })?;
            let payload = self.receive(Kind::Resolve)?;
            let mut from = ByteReader(payload);
            while !from.is_empty() {
                answers.push(take_resolved(&mut from, WireLayout::new(want))?);
            }
            if answers.len() - asked != count {
                return Err(MISCOUNTED.into());
            }
        }
        Ok(answers)
    }

    /// Drops a path and everything below it from the cache.
    pub fn invalidate(&mut self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.request(&Request::Invalidate(bytes_of(&path)), parse_empty)
    }

    /// Drops everything from the cache.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.request(&Request::Invalidate(b""), parse_empty)
    }

    /// Freezes the cache, for all clients, until [`Client::thaw`].
    pub fn freeze(&mut self) -> Result<(), Error> {
        self.request(&Request::Freeze, parse_empty)
    }

    /// Ends what [`Client::freeze`] began.
    pub fn thaw(&mut self) -> Result<(), Error> {
        self.request(&Request::Thaw, parse_empty)
    }

    /// Returns what changed in a tree that the service follows after a cursor, every change included that was made before
    /// this call. Without a cursor, nothing but that of now. If the service does not follow the tree, returns the reason.
    ///
    /// With `wait`, returns only when something has changed.
    pub fn changes(
        &mut self,
        root: &Path,
        cursor: Option<Cursor>,
        wait: bool,
    ) -> Result<Result<TreeChanges, String>, Error> {
        let place = PlaceOfClient { cursor, wait };
        self.send(&Request::Changes { root: bytes_of(root), place }, |_| {})?;
        let mut from = ByteReader(self.receive(Kind::Changes)?);
        let mut part = Part::take(&mut from)?;
        if part == Part::Unknown {
            return Ok(Err(text_of(from)));
        }
        let header = ChangesHeader::take(&mut from)?;
        let mut changes = Vec::new();
        loop {
            while !from.is_empty() {
                changes.push(take_change(&mut from)?);
            }
            if part == Part::Last {
                let changes = (!header.is_lost).then_some(changes);
                return Ok(Ok(TreeChanges { header, changes }));
            }
            from = ByteReader(self.receive(Kind::Changes)?);
            part = Part::take(&mut from)?;
        }
    }

    /// Returns the counters of the service, with their names.
    pub fn stats(&mut self) -> Result<Vec<(String, u64)>, Error> {
        self.request(&Request::Stats, take_stats)
    }

    /// Sends a request of one frame, and parses the answer.
    fn request<T>(
        &mut self,
        request: &Request<'_>,
        parse: impl FnOnce(&[u8]) -> Result<T, ProtocolError>,
    ) -> Result<T, Error> {
        self.send(request, |_| {})?;
        Ok(parse(self.receive(request.kind())?)?)
    }

    /// Sends a request about paths in as many frames as needed, grouped by directory: each
    /// directory is sent once per frame, and found once. Returns the answers in the order of the
    /// paths.
    fn request_many<P: AsRef<Path>, T: Clone>(
        &mut self,
        paths: &[P],
        request: &Request<'_>,
        mut take: impl FnMut(&mut ByteReader<'_>) -> Result<Result<T, LookupError>, ProtocolError>,
    ) -> Result<Vec<Result<T, LookupError>>, Error> {
        let order = by_directory(paths);
        let index = |at: usize| order.as_ref().map_or(at, |order| order[at] as usize);
        // Placeholders until the answers arrive.
        let mut answers = vec![Err(LookupError::NoBase); paths.len()];
        let (mut asked, mut answered, mut in_flight) = (0, 0, VecDeque::new());
        while answered < paths.len() {
            while asked < paths.len() && in_flight.len() < WINDOW {
                let left = (asked..paths.len()).map(|at| bytes_of(&paths[index(at)]));
                let mut taken = 0;
                self.send(request, |out| taken = append_paths(out, left))?;
                asked += taken;
                in_flight.push_back(taken);
            }
            let mut from = ByteReader(self.receive(request.kind())?);
            for _ in 0..in_flight.pop_front().unwrap_or_default() {
                answers[index(answered)] = take(&mut from)?;
                answered += 1;
            }
            from.end().map_err(|_| MISCOUNTED)?;
        }
        Ok(answers)
    }

    /// Sends a request, as much of it as the socket accepts now.
    pub(crate) fn send(
        &mut self,
        request: &Request<'_>,
        paths: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Error> {
        request.append(&mut self.outbox, paths);
        self.write()?;
        Ok(())
    }

    /// Returns the payload of the next answer. Meanwhile writes the rest of the requests: the
    /// service stops reading from a client that does not read.
    pub(crate) fn receive(&mut self, kind: Kind) -> Result<&[u8], Error> {
        while !self.reader.is_ready()? {
            self.write()?;
            match self.reader.fill(&mut &*self.stream) {
                Ok(0) => return Err(Error::Disconnected),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.stream.wait(!self.outbox.is_empty(), self.longest)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        match self.reader.take() {
            Frame { kind: Kind::ERROR, payload } => Err(Error::Remote(ErrorReply::parse(payload)?)),
            Frame { kind: it, payload } if it == kind.answer() => Ok(payload),
            _ => Err(ProtocolError("an answer without a request").into()),
        }
    }

    fn write(&mut self) -> Result<(), Error> {
        while self.sent < self.outbox.len() {
            match (&*self.stream).write(&self.outbox[self.sent..]) {
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => match error.into() {
                    // It may have sent an error before it closed the connection, which is still to
                    // be read.
                    Error::Disconnected => break,
                    error => return Err(error),
                },
            }
        }
        self.outbox.clear();
        self.sent = 0;
        Ok(())
    }
}

/// What changed in a tree after a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeChanges {
    /// The cursor after the changes, and what else there is to know.
    pub header: ChangesHeader,
    /// The changes. Applied in this order, they lead from the names at the cursor to those of now. `None` if the client has
    /// lost its place: then it must compare everything itself.
    pub changes: Option<Vec<Change>>,
}

impl TreeChanges {
    /// Gives the root of the tree another name in all paths.
    #[must_use]
    pub fn named(mut self, root: &Path, name: &Path) -> Self {
        for change in self.changes.iter_mut().flatten() {
            for path in [Some(&mut change.path), change.from.as_mut()].into_iter().flatten() {
                if let Ok(below) = path.strip_prefix(root) {
                    *path = match below.as_os_str().is_empty() {
                        true => name.to_owned(),
                        false => name.join(below),
                    };
                }
            }
        }
        self
    }
}

/// Closes a connection from another thread.
#[derive(Clone, Debug)]
pub struct Closer(Arc<Stream>);

impl Closer {
    /// Closes it.
    pub fn close(&self) {
        self.0.close();
    }
}

const MISCOUNTED: ProtocolError =
    ProtocolError("the number of answers differs from the number of paths");

const _: () = assert!(
    PATHS_PER_FRAME <= MAX_PATHS && FULL_FRAME_BYTES + 2 * MAX_PATH_BYTES < MAX_REQUEST_BYTES
);

/// Appends paths until a frame is full, and returns how many.
fn append_paths<'p>(out: &mut Vec<u8>, paths: impl Iterator<Item = &'p [u8]>) -> usize {
    let full = out.len() + FULL_FRAME_BYTES;
    let mut encoder = PathsEncoder::new(out);
    let mut asked = 0;
    for path in paths.take(PATHS_PER_FRAME) {
        encoder.push(path);
        asked += 1;
        if encoder.bytes() > full {
            break;
        }
    }
    asked
}

/// Returns as many names as fit into a frame next to the directories.
fn take_names<P: AsRef<Path>>(names: &[P]) -> Vec<&[u8]> {
    let mut bytes = 0;
    let has_room = |name: &&[u8]| {
        let before = bytes;
        bytes += name.len();
        before < FULL_FRAME_BYTES
    };
    names.iter().take(PATHS_PER_FRAME).map(bytes_of).take_while(has_room).collect()
}

/// Returns the reason why something is not known.
pub(crate) fn text_of(from: ByteReader<'_>) -> String {
    String::from_utf8_lossy(from.0).into_owned()
}

pub(crate) fn bytes_of<P: AsRef<Path> + ?Sized>(path: &P) -> &[u8] {
    path.as_ref().as_os_str().as_encoded_bytes()
}

fn parse_empty(payload: &[u8]) -> Result<(), ProtocolError> {
    ByteReader(payload).end()
}
