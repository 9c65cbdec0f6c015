//! Who asks: questions go out in frames, several on their way at once, and answers come back in their
//! order.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use transect::FieldMask;
use transect_cache::{LookupError, LookupResult, by_directory};

use crate::endpoint::{is_own_user, peer_credentials};
use crate::error::Error;
use crate::protocol::{
    AttributeQuery, ByteReader, ErrorReply, Frame, FrameReader, Kind, MAX_ANSWER_BYTES,
    MAX_PATH_BYTES, MAX_PATHS, MAX_REQUEST_BYTES, PathsEncoder, ProtocolError, Request,
    ResolvedName, ServerInfo, VERSION, WireLayout, take_attributes, take_exists, take_resolved,
    take_stats,
};

/// Paths that are asked in a frame: so many that a frame is worth being woken for, so few that its
/// answers fit into what a socket holds.
const PATHS_PER_FRAME: usize = 2048;

/// Bytes of paths from which on a frame is full.
const FULL_FRAME_BYTES: usize = 128 << 10;

/// Frames on their way: while one is answered, the next lies ready, and answers to one before are
/// read.
const WINDOW: usize = 4;

/// A connection to a service.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    server_info: ServerInfo,
    reader: FrameReader,
    outbox: Vec<u8>,
    /// How much of the outbox is on its way.
    sent: usize,
}

impl Client {
    /// Connects to the service at a socket, if it is ours.
    ///
    /// # Errors
    /// Nobody is there, or somebody else; or it does not speak our version.
    pub fn connect(socket: &Path) -> Result<Self, Error> {
        let stream = UnixStream::connect(socket)
            .map_err(|error| Error::NotRunning(socket.to_owned(), error))?;
        // Before anything is said: in a place where everybody may write, it may be anybody's.
        let (_, user) = peer_credentials(&stream)?;
        if !is_own_user(user) {
            return Err(Error::OtherUser { socket: socket.to_owned(), user });
        }
        stream.set_nonblocking(true)?;
        let server_info = ServerInfo {
            version: 0,
            process: 0,
            level: String::new(),
            fields: FieldMask::empty(),
            roots: Vec::new(),
        };
        let (reader, outbox) = (FrameReader::new(MAX_ANSWER_BYTES), Vec::new());
        let mut client = Self { stream, server_info, reader, outbox, sent: 0 };
        client.server_info =
            client.request(&Request::Hello { version: VERSION }, ServerInfo::parse)?;
        Ok(client)
    }

    /// Returns what the service said of itself.
    pub fn server_info(&self) -> &ServerInfo {
        &self.server_info
    }

    /// Returns the attributes of paths, which have to be absolute, in their order: those that are
    /// wanted and that the service [keeps](crate::CACHED_FIELDS).
    ///
    /// # Errors
    /// The service does not answer; so it is with all that follow. What it was asked before may be
    /// lost, and it is better to connect again.
    pub fn attributes<P: AsRef<Path>>(
        &mut self,
        paths: &[P],
        want: FieldMask,
        follow: bool,
    ) -> Result<Vec<LookupResult>, Error> {
        let question = AttributeQuery { want, follow };
        let layout = question.layout();
        self.request_many(paths, &Request::Attributes(question), |from| {
            take_attributes(from, layout)
        })
    }

    /// Returns whether paths lead to something.
    pub fn exists<P: AsRef<Path>>(
        &mut self,
        paths: &[P],
    ) -> Result<Vec<Result<bool, LookupError>>, Error> {
        self.request_many(paths, &Request::Exists, take_exists)
    }

    /// Returns for every name the first of the directories that holds it. The directories have to fit
    /// into one frame: some thousands.
    pub fn resolve<P: AsRef<Path>>(
        &mut self,
        names: &[P],
        directories: &[P],
        want: FieldMask,
    ) -> Result<Vec<Result<Option<ResolvedName>, LookupError>>, Error> {
        let mut answers = Vec::with_capacity(names.len());
        while answers.len() < names.len() {
            let asked = answers.len();
            let request = Request::Resolve { want, names: take_names(&names[asked..]) };
            self.send(&request, |out| {
                let mut encoder = PathsEncoder::new(out);
                directories.iter().for_each(|directory| encoder.push(bytes_of(directory)));
            })?;
            let payload = self.receive(Kind::Resolve)?;
            let mut from = ByteReader(payload);
            while !from.is_empty() {
                answers.push(take_resolved(&mut from, WireLayout::new(want))?);
            }
            if let Request::Resolve { names, .. } = request
                && answers.len() - asked != names.len()
            {
                return Err(MISCOUNTED.into());
            }
        }
        Ok(answers)
    }

    /// Has a path forgotten, and all that is below it.
    pub fn invalidate(&mut self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.request(&Request::Invalidate(bytes_of(&path)), parse_empty)
    }

    /// Has questions answered as things are now, by whomever they are asked, until
    /// [`Client::thaw`].
    pub fn freeze(&mut self) -> Result<(), Error> {
        self.request(&Request::Freeze, parse_empty)
    }

    /// Ends what [`Client::freeze`] began.
    pub fn thaw(&mut self) -> Result<(), Error> {
        self.request(&Request::Thaw, parse_empty)
    }

    /// Returns when the service has taken note of all that happened before. False if it was not told
    /// of everything: then it has forgotten all that it was to be told of, and asks anew.
    pub fn settle(&mut self) -> Result<bool, Error> {
        self.request(&Request::Settle, |payload| {
            let mut from = ByteReader(payload);
            let all_known = from.u8()? != 0;
            from.end()?;
            Ok(all_known)
        })
    }

    /// Returns numbers about the service, with their names.
    pub fn stats(&mut self) -> Result<Vec<(String, u64)>, Error> {
        self.request(&Request::Stats, take_stats)
    }

    /// Asks what takes one frame, and understands the answer.
    fn request<T>(
        &mut self,
        request: &Request<'_>,
        parse: impl FnOnce(&[u8]) -> Result<T, ProtocolError>,
    ) -> Result<T, Error> {
        self.send(request, |_| {})?;
        Ok(parse(self.receive(request.kind())?)?)
    }

    /// Asks about paths in as many frames as it takes, one directory after another: so each is said
    /// once in a frame, and found once. Returns the answers in the order of the paths.
    fn request_many<P: AsRef<Path>, T: Clone>(
        &mut self,
        paths: &[P],
        request: &Request<'_>,
        mut take: impl FnMut(&mut ByteReader<'_>) -> Result<Result<T, LookupError>, ProtocolError>,
    ) -> Result<Vec<Result<T, LookupError>>, Error> {
        let order = by_directory(paths);
        let index = |at: usize| order.as_ref().map_or(at, |order| order[at] as usize);
        // What stands for an answer until there is one.
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

    /// Puts a request on its way: as much of it as the socket takes now.
    fn send(
        &mut self,
        request: &Request<'_>,
        paths: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Error> {
        request.append(&mut self.outbox, paths);
        self.write()?;
        Ok(())
    }

    /// Returns the payload of the next answer, and writes meanwhile what is left of the requests: a
    /// service that is not read from does not read.
    fn receive(&mut self, kind: Kind) -> Result<&[u8], Error> {
        while !self.reader.is_ready()? {
            self.write()?;
            match self.reader.fill(&mut self.stream) {
                Ok(0) => return Err(Error::Disconnected),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait()?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        match self.reader.take() {
            Frame { kind: Kind::ERROR, payload } => Err(Error::Remote(ErrorReply::parse(payload)?)),
            Frame { kind: it, payload } if it == kind.answer() => Ok(payload),
            _ => Err(ProtocolError("an answer to what nobody asked").into()),
        }
    }

    fn write(&mut self) -> Result<(), Error> {
        while self.sent < self.outbox.len() {
            match self.stream.write(&self.outbox[self.sent..]) {
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => match error.into() {
                    // It may have said why before it hung up: that is still to be read.
                    Error::Disconnected => break,
                    error => return Err(error),
                },
            }
        }
        self.outbox.clear();
        self.sent = 0;
        Ok(())
    }

    /// Waits until there is something to read, or to write if anything is left to be.
    fn wait(&self) -> io::Result<()> {
        let mut events = PollFlags::IN;
        events.set(PollFlags::OUT, !self.outbox.is_empty());
        match poll(&mut [PollFd::new(&self.stream, events)], None) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

const MISCOUNTED: ProtocolError = ProtocolError("more or fewer answers than questions");

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

/// Returns as many names as a frame has room for beside directories.
fn take_names<P: AsRef<Path>>(names: &[P]) -> Vec<&[u8]> {
    let mut bytes = 0;
    let has_room = |name: &&[u8]| {
        let before = bytes;
        bytes += name.len();
        before < FULL_FRAME_BYTES
    };
    names.iter().take(PATHS_PER_FRAME).map(bytes_of).take_while(has_room).collect()
}

fn bytes_of<P: AsRef<Path> + ?Sized>(path: &P) -> &[u8] {
    path.as_ref().as_os_str().as_bytes()
}

fn parse_empty(payload: &[u8]) -> Result<(), ProtocolError> {
    ByteReader(payload).end()
}
