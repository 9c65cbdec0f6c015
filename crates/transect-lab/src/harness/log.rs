//! What is known of a session, and the file that holds it.
//!
//! The file is JSON lines and only ever appended to: the first line says what is measured and where,
//! each further one what one process came to. A line is written before the next process starts, so
//! that a session that was killed loses at most the run it was in, and goes on where it stopped.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::harness::accesses::Accesses;
use crate::harness::cache_state::State;
use crate::harness::interference::{Beside, Disturbance};
use crate::harness::launch::{Failure, Usage};
use crate::harness::protocol::CallTimes;
use crate::harness::protocol::RunLine;
use crate::spec::{SCHEMA, SessionSpec};

/// What one process came to: a further line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The round, from 0.
    pub round: usize,
    /// Index into the datasets of the spec.
    #[serde(rename = "place")]
    pub dataset: usize,
    /// Index into the cache states of the spec.
    #[serde(rename = "pass")]
    pub cache_state: usize,
    /// The cell.
    pub cell: String,
    /// From its preparations to the end of its checks, in nanoseconds; nothing in sessions of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ns: Option<u64>,
    /// How often it was repeated because it was disturbed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: usize,
    /// What happened.
    #[serde(flatten)]
    pub outcome: Outcome,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It found what is there.
    Right {
        /// Its walks, in their order.
        runs: Vec<RunLine>,
        /// What the process used.
        usage: Usage,
        /// KiB read from devices meanwhile, if the system tells.
        read_kib: Option<u64>,
        /// What went on beside it, if the system tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beside: Option<Box<Beside>>,
        /// What was observed of its files, if it reads and writes some.
        #[serde(rename = "passed", default, skip_serializing_if = "Option::is_none")]
        files: Option<Box<FileEvidence>>,
    },
    /// It found something else: its time means nothing.
    Wrong {
        /// What it found.
        found: String,
    },
    /// It could not be shown to have been cold, or warm, several times over.
    Void {
        /// What was found the last time.
        #[serde(flatten)]
        instead: Instead,
    },
    /// It failed.
    Failed(Failure),
}

/// A time below which a ratio of processor times says nothing, in nanoseconds.
const COARSE: u64 = 5_000_000;

/// What was observed of the files of a run, before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEvidence {
    /// The length of the input, in bytes.
    pub bytes: u64,
    /// What of it was in memory just before the run, in bytes; nothing if that was not asked.
    pub resident: Option<u64>,
    /// The length of the output, in bytes; nothing if there is none.
    pub written: Option<u64>,
    /// What of the output was not on the device at the end, in bytes, if the system tells.
    pub unwritten: Option<u64>,
    /// What the run before used, which was the same and does not count.
    pub primed: Usage,
}

impl FileEvidence {
    /// Returns the processor time of the run before over that of the measured one, unless one of them
    /// is too short to say.
    pub(crate) fn fresh_over(&self, measured: &Usage) -> Option<f64> {
        let [first, second] =
            [&self.primed, measured].map(|usage| usage.user_ns.saturating_add(usage.system_ns));
        (first >= COARSE && second >= COARSE).then(|| first as f64 / second as f64)
    }
}

/// What was found where a state was to be proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Instead {
    /// Devices were read, or not.
    Read {
        /// KiB read from devices.
        read_kib: u64,
    },
    /// The input was in memory, or not all of it.
    Resident {
        /// What of it was in memory, in bytes.
        resident: u64,
        /// The whole, in bytes.
        bytes: u64,
    },
}

impl std::fmt::Display for Instead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Read { read_kib } => write!(f, "{read_kib} KiB were read from devices"),
            Self::Resident { resident, bytes } => {
                write!(f, "{resident} of {bytes} bytes of the input were in memory")
            }
        }
    }
}

impl Outcome {
    /// Returns whether a run that was right proved its state; `None` if the system does not tell, or
    /// there is nothing to prove.
    pub fn is_proved(&self, state: State) -> Option<bool> {
        match self {
            Self::Right { files: Some(files), .. } => {
                state.is_proved_by_residency(files.resident?, files.bytes)
            }
            Self::Right { read_kib, .. } => state.is_proved_by(*read_kib),
            _ => None,
        }
    }

    /// Returns why its wall time says little, if it does.
    pub fn disturbed(&self) -> &[Disturbance] {
        match self {
            Self::Right { beside: Some(beside), .. } => &beside.disturbed,
            _ => &[],
        }
    }
}

/// How often a method goes to the system: a further line of the file, one for each cell and place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Index into the datasets of the spec.
    #[serde(rename = "place")]
    pub dataset: usize,
    /// The cell.
    pub cell: String,
    /// The calls of its walk.
    pub accesses: Accesses,
}

/// What a method spends in its calls: a further line of the file, one for each of the engine's
/// cells, place and pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timed {
    /// Index into the datasets of the spec.
    #[serde(rename = "place")]
    pub dataset: usize,
    /// Index into the cache states of the spec: the state was made, but not proved.
    #[serde(rename = "pass")]
    pub cache_state: usize,
    /// The cell.
    pub cell: String,
    /// The time inside the calls of its walk.
    pub calls: CallTimes,
}

/// What a program takes to start: a further line of the file, one for each cell that has no clock of
/// its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// The cell.
    pub cell: String,
    /// The times of its process with nothing to do, in nanoseconds, one for each run.
    pub times_ns: Vec<u64>,
}

/// That a session whose rounds were not numbered is over: a further line of the file, the last that
/// measuring writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// How many rounds there were.
    pub rounds: usize,
    /// Why there were no more.
    pub by: End,
}

/// What ended a session whose rounds were not numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Every ratio is known well enough.
    Precision,
    /// A further round would not have ended in time.
    Time,
}

impl End {
    /// Returns what it is, for people.
    pub fn about(self) -> &'static str {
        match self {
            Self::Precision => "every ratio is known well enough",
            Self::Time => "the time was over",
        }
    }
}

/// A line behind the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(crate) enum Record {
    Sample(Sample),
    Accesses(Counted),
    Calls(Timed),
    Start(Started),
    End(Ended),
}

/// All that a file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionData {
    /// What is measured.
    pub spec: SessionSpec,
    /// What was measured so far.
    pub samples: Vec<Sample>,
    /// Whose calls were counted so far.
    pub counted: Vec<Counted>,
    /// Whose calls were timed so far.
    pub timed: Vec<Timed>,
    /// Whose start was timed so far.
    pub started: Vec<Started>,
    /// Why it is over, if that was open.
    pub ended: Option<Ended>,
}

impl SessionData {
    /// Returns what the file of a session holds that begins.
    pub fn begin(spec: SessionSpec) -> Self {
        Self {
            spec,
            samples: Vec::new(),
            counted: Vec::new(),
            timed: Vec::new(),
            started: Vec::new(),
            ended: None,
        }
    }

    fn add(&mut self, record: Record) {
        match record {
            Record::Sample(sample) => self.samples.push(sample),
            Record::Accesses(counted) => self.counted.push(counted),
            Record::Calls(timed) => self.timed.push(timed),
            Record::Start(started) => self.started.push(started),
            Record::End(ended) => self.ended = Some(ended),
        }
    }

    /// Returns whether the spec has the dataset, the cache state and the cell of a record.
    fn has_subject_of(&self, record: &Record) -> bool {
        let (dataset, cache_state, cell) = match record {
            Record::Sample(it) => (it.dataset, it.cache_state, &it.cell),
            Record::Calls(it) => (it.dataset, it.cache_state, &it.cell),
            Record::Accesses(it) => (it.dataset, 0, &it.cell),
            Record::Start(it) => (0, 0, &it.cell),
            Record::End(_) => return true,
        };
        let SessionSpec { datasets, cache_states, .. } = &self.spec;
        dataset < datasets.len() && cache_state < cache_states.len() && self.spec.has_cell(cell)
    }

    /// Returns how many rounds it has: those that it was to have, and those that were begun beyond.
    pub fn rounds(&self) -> usize {
        let begun = self.samples.iter().map(|sample| sample.round + 1).max();
        self.spec.rounds.max(begun.unwrap_or(0))
    }
}

/// What can go wrong with the file of a session.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operation, the path, and what the system said.
    File(&'static str, PathBuf, io::Error),
    /// The file is no session, or of another version.
    NoSession(PathBuf, String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(operation, path, error) => {
                write!(f, "cannot {operation} '{}': {}", path.display(), transect::reason(error))
            }
            Self::NoSession(path, why) => {
                write!(f, "'{}' is not a session of the lab: {why}", path.display())
            }
        }
    }
}

impl std::error::Error for Error {}

/// A session's file, open to be appended to, and all that it holds.
#[derive(Debug)]
pub struct SessionLog {
    /// What it holds.
    pub data: SessionData,
    file: File,
    path: PathBuf,
}

impl SessionLog {
    /// Begins a new file.
    ///
    /// # Errors
    /// It is there already, or cannot be written.
    pub fn create(spec: SessionSpec, path: &Path) -> Result<Self, Error> {
        let file = File::options().append(true).create_new(true).open(path);
        let file = file.map_err(|error| Error::File("create", path.to_owned(), error))?;
        let mut log = Self { data: SessionData::begin(spec), file, path: path.to_owned() };
        let first = serde_json::to_vec(&log.data.spec);
        if let Err(error) = log.append(first) {
            // A file without its first line could neither be gone on with nor begun again. What went
            // wrong first is reported.
            let _ = std::fs::remove_file(path);
            return Err(error);
        }
        Ok(log)
    }

    /// Opens a file to go on behind its last whole line.
    ///
    /// # Errors
    /// It cannot be read or written, or holds no session.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let (data, length) = parse(path)?;
        let failed = |error| Error::File("open", path.to_owned(), error);
        let mut file = File::options().write(true).open(path).map_err(failed)?;
        // What was being written when the session was killed.
        file.set_len(length).map_err(failed)?;
        file.seek(io::SeekFrom::End(0)).map_err(failed)?;
        Ok(Self { data, file, path: path.to_owned() })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or holds no session.
    pub fn read(path: &Path) -> Result<SessionData, Error> {
        parse(path).map(|(data, _)| data)
    }

    /// Returns its path.
    pub fn file(&self) -> &Path {
        &self.path
    }

    /// Appends a record to the file, and adds it to the data.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn add(&mut self, record: Record) -> Result<(), Error> {
        self.append(serde_json::to_vec(&record))?;
        self.data.add(record);
        Ok(())
    }

    /// Appends one line, whole or not at all as far as the system can.
    fn append(&mut self, text: serde_json::Result<Vec<u8>>) -> Result<(), Error> {
        let failed = |error| Error::File("write", self.path.clone(), error);
        let mut text = text.map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        self.file.write_all(&text).and_then(|()| self.file.sync_data()).map_err(failed)
    }
}

/// Reads a session, and returns the length of its whole lines in bytes.
fn parse(path: &Path) -> Result<(SessionData, u64), Error> {
    let mut text = String::new();
    File::open(path)
        .and_then(|mut file| file.read_to_string(&mut text))
        .map_err(|error| Error::File("read", path.to_owned(), error))?;
    // What is behind the last newline was being written when the session was killed.
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let no_session = |line: usize, why: String| {
        Error::NoSession(path.to_owned(), format!("line {}: {why}", line + 1))
    };
    let mut lines = text[..whole].lines().enumerate();
    let Some((_, first)) = lines.next() else {
        return Err(Error::NoSession(path.to_owned(), "it has no first line".to_owned()));
    };
    let spec: SessionSpec =
        serde_json::from_str(first).map_err(|error| no_session(0, error.to_string()))?;
    if spec.schema != SCHEMA {
        return Err(Error::NoSession(path.to_owned(), format!("schema {}", spec.schema)));
    }
    let mut data = SessionData::begin(spec);
    for (number, text) in lines {
        let record =
            serde_json::from_str(text).map_err(|error| no_session(number, error.to_string()))?;
        if !data.has_subject_of(&record) {
            return Err(no_session(
                number,
                "its dataset, state or cell is not in the first line".to_owned(),
            ));
        }
        data.add(record);
    }
    // It is going to be cut off: only what can be the beginning of a line is. After a crash of the
    // system it may be zeros.
    if !text[whole..].is_empty() && !text[whole..].starts_with(['{', '\0']) {
        let last = text[..whole].lines().count();
        return Err(no_session(last, "it is not a record".to_owned()));
    }
    Ok((data, whole as u64))
}
