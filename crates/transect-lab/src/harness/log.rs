//! The log of a session: its file, and the data in it.
//!
//! The file holds JSON lines, and lines are only appended. The first line is the spec; each further line
//! is one record, usually the result of one process. A record is written before the next process starts:
//! a killed session loses at most the current run, and can be resumed.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use transect_sys::check_output_path;
use transect_sys::input::{open_regular_with, read_regular_text};

use crate::harness::accesses::Accesses;
use crate::harness::cache_state::{self, State};
use crate::harness::error::cannot;
use crate::harness::interference::{Beside, Disturbance};
use crate::harness::launch::{Failure, Usage};
use crate::harness::protocol::{CallTimes, RunLine};
use crate::spec::{SCHEMA, SessionSpec};

/// The result of one process: a record of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The round, from 0.
    pub round: usize,
    #[serde(rename = "place")]
    pub dataset: usize,
    #[serde(rename = "pass")]
    pub cache_state: usize,
    pub cell: String,
    /// The time from its preparation to the end of its checks, in nanoseconds; `None` in sessions of
    /// older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ns: Option<u64>,
    /// Number of repetitions because of disturbances.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: usize,
    #[serde(flatten)]
    pub outcome: Outcome,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    Right {
        runs: Vec<RunLine>,
        usage: Usage,
        /// KiB that devices read meanwhile for the whole machine, if the system reports it.
        read_kib: Option<u64>,
        /// The activity of the rest of the machine, if the system reports it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beside: Option<Box<Beside>>,
        /// Evidence about its files, if it transforms files.
        #[serde(rename = "passed", default, skip_serializing_if = "Option::is_none")]
        files: Option<Box<FileEvidence>>,
    },
    /// It did other work than expected: its time means nothing.
    Wrong {
        found: String,
    },
    /// Every attempt failed to prove the state of the caches.
    Void {
        #[serde(flatten)]
        instead: Instead,
    },
    Failed(Failure),
}

/// Evidence about the files of a run, from before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEvidence {
    /// The length of the input, in bytes.
    pub bytes: u64,
    /// Bytes of the input in memory just before the run; `None` if not checked.
    pub resident: Option<u64>,
    /// The length of the output, in bytes; `None` without an output.
    pub written: Option<u64>,
    /// Bytes of the output not yet on the device at the end, if the system reports it.
    pub unwritten: Option<u64>,
    /// The resources used by the preceding run, which did the same work and does not count. `None` without
    /// such a run: only a warm state has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primed: Option<Usage>,
}

/// An observation that disproves a state of the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Instead {
    /// The amount that devices read for its processes does not fit the state.
    ReadByProcess { read_bytes: u64 },
    /// The amount that devices read for the whole machine does not fit the state.
    Read { read_kib: u64 },
    /// The amount of the input in memory does not fit the state.
    Resident {
        /// Bytes of the input in memory.
        resident: u64,
        /// The length of the input, in bytes.
        bytes: u64,
    },
}

impl std::fmt::Display for Instead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ReadByProcess { read_bytes: 0 } => {
                write!(f, "devices read nothing for its process")
            }
            Self::ReadByProcess { read_bytes } => {
                write!(f, "devices read {read_bytes} bytes for its process")
            }
            Self::Read { read_kib } => write!(f, "{read_kib} KiB were read from devices"),
            Self::Resident { resident, bytes } => {
                write!(f, "{resident} of {bytes} bytes of the input were in memory")
            }
        }
    }
}

impl Outcome {
    /// Returns whether a correct run proved its state, as far as it can be judged by itself; `None` if it is
    /// unknown, or the state needs no proof.
    pub fn is_proved(&self, state: State) -> Option<bool> {
        match self {
            Self::Right { files: Some(files), .. } => {
                cache_state::is_proved_by_residency(state, files.resident?, files.bytes)
            }
            Self::Right { usage, read_kib, .. } => {
                cache_state::is_proved_by(state, usage.read_bytes(), *read_kib)
            }
            _ => None,
        }
    }

    /// Returns why there is no result to rank, if so.
    pub fn problem(&self) -> Option<String> {
        match self {
            Self::Right { .. } => None,
            Self::Wrong { found } => Some(format!("found something else: {found}")),
            Self::Void { instead } => Some(format!("could not prove its state: {instead}")),
            Self::Failed(failure) => Some(failure.to_string()),
        }
    }

    pub fn disturbed(&self) -> &[Disturbance] {
        match self {
            Self::Right { beside: Some(beside), .. } => &beside.disturbed,
            _ => &[],
        }
    }
}

/// The number of system calls of a method: a record of the file, one for each cell and dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    #[serde(rename = "place")]
    pub dataset: usize,
    pub cell: String,
    pub accesses: Accesses,
}

/// The time that a method spends in its calls: a record of the file, one for each cell of the engine,
/// dataset and cache state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timed {
    #[serde(rename = "place")]
    pub dataset: usize,
    /// Index into the cache states of the spec. The state was made, but not proved.
    #[serde(rename = "pass")]
    pub cache_state: usize,
    pub cell: String,
    pub calls: CallTimes,
}

/// The time that a program takes to start: a record of the file, one for each cell that runs another
/// program, in each cache state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    pub cell: String,
    /// Index into the cache states of the spec: the first with this state. Older versions measured one
    /// state only.
    #[serde(rename = "pass", default)]
    pub cache_state: usize,
    /// The times of its processes without work, in nanoseconds, one for each run.
    pub times_ns: Vec<u64>,
    /// CPU times of the same runs, in nanoseconds; empty in sessions of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_ns: Vec<u64>,
    /// Bytes that devices read for the same runs; empty if unknown, and in sessions of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_bytes: Vec<u64>,
}

/// The end of a session with a time limit: a record of the file, the last that measuring writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub rounds: usize,
    pub by: End,
}

transect_sys::words! {
    /// Why a session with a time limit ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum End {
        Precision = "precision" => "every ratio is precise enough",
        /// Another round would have exceeded it.
        Time = "time" => "the time limit was reached",
    }
}

/// Any line except the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(crate) enum Record {
    Sample(Sample),
    Accesses(Counted),
    Calls(Timed),
    /// Events of a processor, which older versions counted: they are not read.
    Counters,
    Start(Started),
    End(Ended),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionData {
    pub spec: SessionSpec,
    pub samples: Vec<Sample>,
    pub counted: Vec<Counted>,
    pub timed: Vec<Timed>,
    pub started: Vec<Started>,
    /// The end of a session with a time limit.
    pub ended: Option<Ended>,
}

impl SessionData {
    pub fn begin(spec: SessionSpec) -> Self {
        Self { spec, ..Self::default() }
    }

    fn add(&mut self, record: Record) {
        match record {
            Record::Sample(sample) => self.samples.push(sample),
            Record::Accesses(counted) => self.counted.push(counted),
            Record::Calls(timed) => self.timed.push(timed),
            Record::Counters => {}
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
            Record::Start(it) => (0, it.cache_state, &it.cell),
            Record::End(_) | Record::Counters => return true,
        };
        let SessionSpec { datasets, cache_states, .. } = &self.spec;
        dataset < datasets.len() && cache_state < cache_states.len() && self.spec.has_cell(cell)
    }

    pub fn samples_in(&self, dataset: usize, cache_state: usize) -> impl Iterator<Item = &Sample> {
        let here = (dataset, cache_state);
        self.samples.iter().filter(move |it| (it.dataset, it.cache_state) == here)
    }

    /// Returns the number of rounds: those of the spec, and further ones that have begun.
    pub fn rounds(&self) -> usize {
        let begun = self.samples.iter().map(|sample| sample.round + 1).max();
        self.spec.rounds.max(begun.unwrap_or(0))
    }
}

/// A session: its file, open for appending, and its content.
#[derive(Debug)]
pub struct Session {
    data: SessionData,
    file: File,
    path: PathBuf,
}

impl Session {
    pub fn begin(spec: SessionSpec, path: &Path) -> Result<Self, String> {
        let file = check_output_path(path)
            .and_then(|()| File::options().append(true).create_new(true).open(path));
        let file = file.map_err(cannot("create", path))?;
        let mut log = Self { data: SessionData::begin(spec), file, path: path.to_owned() };
        let first = serde_json::to_vec(&log.data.spec);
        if let Err(error) = log.append(first) {
            // A file without its first line could be neither resumed nor created again.
            let _ = std::fs::remove_file(path);
            return Err(error);
        }
        Ok(log)
    }

    /// Resumes a session after the last complete line of its file.
    pub fn resume(path: &Path) -> Result<Self, String> {
        let (data, length) = parse(path)?;
        let failed = |error| cannot("open", path)(error);
        let opened = check_output_path(path)
            .and_then(|()| open_regular_with(path, File::options().write(true)));
        let mut file = opened.map_err(failed)?;
        // Cut off the line that was being written when the session was killed.
        file.set_len(length).map_err(failed)?;
        file.seek(io::SeekFrom::End(0)).map_err(failed)?;
        Ok(Self { data, file, path: path.to_owned() })
    }

    pub fn read(path: &Path) -> Result<SessionData, String> {
        parse(path).map(|(data, _)| data)
    }

    pub fn data(&self) -> &SessionData {
        &self.data
    }

    pub fn file(&self) -> &Path {
        &self.path
    }

    pub(crate) fn add(&mut self, record: Record) -> Result<(), String> {
        self.append(serde_json::to_vec(&record))?;
        self.data.add(record);
        Ok(())
    }

    /// Appends one line in one write, and syncs the file.
    fn append(&mut self, text: serde_json::Result<Vec<u8>>) -> Result<(), String> {
        let failed = |error| cannot("write", &self.path)(error);
        let mut text = text.map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        self.file.write_all(&text).and_then(|()| self.file.sync_data()).map_err(failed)
    }
}

/// Reads a session, and returns the length of its complete lines, in bytes.
fn parse(path: &Path) -> Result<(SessionData, u64), String> {
    let text = read_regular_text(path).map_err(cannot("read", path))?;
    // Text after the last newline was being written when the session was killed.
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let no_session =
        |why: String| format!("'{}' is not a session of the lab: {why}", path.display());
    let wrong_line = |line: usize, why: String| no_session(format!("line {}: {why}", line + 1));
    let mut lines = text[..whole].lines().enumerate();
    let Some((_, first)) = lines.next() else {
        return Err(no_session("it has no first line".to_owned()));
    };
    let spec: SessionSpec =
        serde_json::from_str(first).map_err(|error| wrong_line(0, error.to_string()))?;
    if spec.schema != SCHEMA {
        return Err(no_session(format!("schema {}", spec.schema)));
    }
    spec.check_datasets().map_err(|why| wrong_line(0, why))?;
    let mut data = SessionData::begin(spec);
    for (number, text) in lines {
        let record =
            serde_json::from_str(text).map_err(|error| wrong_line(number, error.to_string()))?;
        if !data.has_subject_of(&record) {
            let why = "its dataset, state or cell is not in the first line";
            return Err(wrong_line(number, why.to_owned()));
        }
        data.add(record);
    }
    // The caller cuts off the incomplete line, so it must look like one: the beginning of a record, or
    // zeros after a system crash.
    if !text[whole..].is_empty() && !text[whole..].starts_with(['{', '\0']) {
        let last = text[..whole].lines().count();
        return Err(wrong_line(last, "it is not a record".to_owned()));
    }
    Ok((data, whole as u64))
}
