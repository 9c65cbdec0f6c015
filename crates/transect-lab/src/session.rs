//! A session: rounds in which every method runs once, in a new order each time, and the file that
//! holds every sample.
//!
//! The file is JSON lines and only ever appended to: the first line says what is measured and where,
//! each further one what one process came to. A line is written before the next process starts, so
//! that a session that was killed loses at most the run it was in, and goes on where it stopped.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use transect::Cancel;

use crate::accesses::Accesses;
use crate::environment::Environment;
use crate::launch::{Failure, RunLine, Usage, launch};
use crate::method::{Kind, Method};
use crate::state::{Probe, State};
use crate::statistics::SplitMix64;
use crate::work::Work;

/// How often a run is repeated that could not prove its state.
const VOID_RETRIES: usize = 3;

/// What is appended to the name of the method that runs twice.
const AGAIN: &str = " (again)";

/// What a session measures, and where: the first line of its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// `transect.lab/1`.
    pub schema: String,
    /// The machine and the place.
    pub environment: Environment,
    /// What is walked.
    pub root: PathBuf,
    /// What a plain recursion found there.
    pub expected: Work,
    /// The state before every run.
    pub state: State,
    /// Rounds.
    pub rounds: usize,
    /// Walks in one process.
    pub runs: usize,
    /// Where the orders of the rounds come from.
    pub seed: u64,
    /// The longest that one process may take, in seconds.
    pub limit: u64,
    /// The cells.
    pub cells: Vec<Cell>,
    /// The cell that all others are compared with.
    pub base: String,
    /// The same once more: whatever differs here is noise.
    pub again: String,
    /// The cell that does nothing but the calls, on one thread, if there is one.
    pub floor: Option<String>,
    /// The same on several threads: what methods on several threads are measured against.
    pub parallel_floor: Option<String>,
}

/// A method in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Its name in the session.
    pub name: String,
    /// The method.
    pub method: String,
    /// The rows of the contract.
    pub contract: Vec<String>,
    /// The language.
    pub language: String,
    /// How it is run.
    pub kind: String,
    /// It walks on several threads.
    pub parallel: bool,
}

/// What one process came to: a further line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The round, from 0.
    pub round: usize,
    /// The cell.
    pub cell: String,
    /// What happened.
    #[serde(flatten)]
    pub outcome: Outcome,
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
    },
    /// It found something else: its time means nothing.
    Wrong {
        /// What it found.
        found: Work,
    },
    /// It could not be shown to have been cold, or warm, several times over.
    Void {
        /// KiB read from devices, the last time.
        read_kib: u64,
    },
    /// It failed.
    Failed(Failure),
}

/// What can go wrong with a session as a whole.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The session's file: the operation, the path, and what the system said.
    File(&'static str, PathBuf, io::Error),
    /// The file is no session, or of another version.
    NoSession(PathBuf, String),
    /// The state cannot be made.
    State(State, io::Error),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(operation, path, error) => {
                write!(f, "cannot {operation} '{}': {}", path.display(), transect::reason(error))
            }
            Self::NoSession(path, why) => {
                write!(f, "'{}' is no session of the lab: {why}", path.display())
            }
            Self::State(state, error) => {
                write!(f, "cannot make caches {}: {}", state.as_str(), transect::reason(error))
            }
        }
    }
}

impl std::error::Error for Error {}

/// How often a method goes to the system: a further line of the file, one for each cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// The cell.
    pub cell: String,
    /// The calls of its walk.
    pub accesses: Accesses,
}

/// All that a file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// What is measured.
    pub header: Header,
    /// What was measured so far.
    pub samples: Vec<Sample>,
    /// What was counted so far.
    pub counted: Vec<Counted>,
}

/// A line behind the first.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Sample(Sample),
    Counted(Counted),
}

/// A session and its file.
#[derive(Debug)]
pub struct Session {
    /// What it holds so far.
    pub recorded: Recorded,
    file: File,
    path: PathBuf,
}

/// What makes the processes of a session.
#[derive(Debug)]
pub struct Launcher {
    /// The program `transect`, for the engine's own methods: it understands `lab method`.
    pub program: PathBuf,
    /// The folder of every contender that was built, by its name.
    pub built: BTreeMap<String, PathBuf>,
}

impl Session {
    /// Begins a session in a new file.
    ///
    /// # Errors
    /// The file is there already, or cannot be written.
    pub fn begin(header: Header, path: &Path) -> Result<Self, Error> {
        let mut file = File::options()
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(|error| Error::File("create", path.to_owned(), error))?;
        append(&mut file, path, &header)?;
        let recorded = Recorded { header, samples: Vec::new(), counted: Vec::new() };
        Ok(Self { recorded, file, path: path.to_owned() })
    }

    /// Goes on with a session, behind its last whole line.
    ///
    /// # Errors
    /// The file cannot be read, or holds no session.
    pub fn resume(path: &Path) -> Result<Self, Error> {
        let (recorded, length) = parse(path)?;
        let failed = |error| Error::File("open", path.to_owned(), error);
        let mut file = File::options().write(true).open(path).map_err(failed)?;
        // What was being written when the session was killed.
        file.set_len(length).map_err(failed)?;
        file.seek(io::SeekFrom::End(0)).map_err(failed)?;
        Ok(Self { recorded, file, path: path.to_owned() })
    }

    /// Reads a session without going on with it.
    ///
    /// # Errors
    /// The file cannot be read, or holds no session.
    pub fn read(path: &Path) -> Result<Recorded, Error> {
        parse(path).map(|(recorded, _)| recorded)
    }

    /// Returns how many processes are still to be run.
    pub fn left(&self) -> usize {
        let out = self.out();
        let done: HashSet<(usize, &str)> = self
            .recorded
            .samples
            .iter()
            .map(|sample| (sample.round, sample.cell.as_str()))
            .collect();
        let cells = self.recorded.header.cells.iter().filter(|cell| !out.contains(&cell.name));
        cells
            .map(|cell| {
                (0..self.recorded.header.rounds)
                    .filter(|&round| !done.contains(&(round, &cell.name)))
                    .count()
            })
            .sum()
    }

    /// Returns the cells that are not run any more: wrong once is wrong, and who hangs would hang
    /// in every round.
    fn out(&self) -> HashSet<String> {
        let failed =
            |sample: &&Sample| matches!(sample.outcome, Outcome::Wrong { .. } | Outcome::Failed(_));
        self.recorded.samples.iter().filter(failed).map(|sample| sample.cell.clone()).collect()
    }

    /// Runs what is left, and tells `progress` of every sample.
    ///
    /// # Errors
    /// The state cannot be made, or the file not be written. What goes wrong in a method is a
    /// sample.
    pub fn run(
        &mut self,
        methods: &[Method],
        launcher: &Launcher,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&Sample, usize),
    ) -> Result<(), Error> {
        for round in 0..self.recorded.header.rounds {
            for cell in self.order(round) {
                if cancel.is_cancelled() {
                    return Ok(());
                }
                let cell = self.recorded.header.cells[cell].clone();
                let done = |sample: &Sample| sample.round == round && sample.cell == cell.name;
                if self.recorded.samples.iter().any(done) || self.out().contains(&cell.name) {
                    continue;
                }
                let method = methods.iter().find(|method| method.name == cell.method);
                let outcome = self.measure(method, launcher)?;
                // A run that Ctrl-C ended says nothing of the method.
                if cancel.is_cancelled() {
                    return Ok(());
                }
                let sample = Sample { round, cell: cell.name, outcome };
                append(&mut self.file, &self.path, &sample)?;
                self.recorded.samples.push(sample);
                let left = self.left();
                progress(&self.recorded.samples[self.recorded.samples.len() - 1], left);
            }
        }
        Ok(())
    }

    /// Returns the cells in the order of a round: another one in every round, the same whenever the
    /// session goes on.
    fn order(&self, round: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.recorded.header.cells.len()).collect();
        SplitMix64::new(self.recorded.header.seed ^ round as u64).shuffle(&mut order);
        order
    }

    /// Counts the calls of every cell that found what is there, each in a run of its own, and tells
    /// `progress` of every cell. What cannot be counted is told and left out.
    ///
    /// # Errors
    /// The file cannot be written, or there is no place for an empty directory.
    pub fn count(
        &mut self,
        methods: &[Method],
        launcher: &Launcher,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&str, Result<Accesses, String>),
    ) -> Result<(), Error> {
        let empty = std::env::temp_dir().join(format!("transect-empty-{}", std::process::id()));
        let failed = |error| Error::File("create", empty.clone(), error);
        std::fs::create_dir_all(empty.join("root")).map_err(failed)?;
        let counted = self.count_with(methods, launcher, cancel, progress, &empty);
        let _ = std::fs::remove_dir_all(&empty);
        counted
    }

    fn count_with(
        &mut self,
        methods: &[Method],
        launcher: &Launcher,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&str, Result<Accesses, String>),
        scratch: &Path,
    ) -> Result<(), Error> {
        let out = self.out();
        let Header { cells, again, root, limit, .. } = self.recorded.header.clone();
        for cell in cells.iter().filter(|cell| cell.name != again && !out.contains(&cell.name)) {
            let known = self.recorded.counted.iter().any(|counted| counted.cell == cell.name);
            let method = methods.iter().find(|method| method.name == cell.method);
            let Some(method) = method.filter(|_| !known && !cancel.is_cancelled()) else {
                continue;
            };
            let of = |root: &Path| {
                let command = launcher.command(method, root, 1).ok_or("no such method here")?;
                Accesses::of(&command, scratch, Duration::from_secs(limit))
            };
            let accesses =
                of(&scratch.join("root")).and_then(|start| Ok(of(&root)?.without(start)));
            if let Ok(accesses) = accesses {
                let counted = Counted { cell: cell.name.clone(), accesses };
                append(&mut self.file, &self.path, &counted)?;
                self.recorded.counted.push(counted);
            }
            progress(&cell.name, accesses);
        }
        Ok(())
    }

    fn measure(&self, method: Option<&Method>, launcher: &Launcher) -> Result<Outcome, Error> {
        let Header { state, runs, limit, expected, root, .. } = &self.recorded.header;
        let mut void = 0;
        for _ in 0..VOID_RETRIES {
            let Some(command) = method.and_then(|method| launcher.command(method, root, *runs))
            else {
                let reason = "no such method here any more".to_owned();
                return Ok(Outcome::Failed(Failure::NotStarted { reason }));
            };
            state.prepare().map_err(|error| Error::State(*state, error))?;
            let probe = Probe::begin();
            let launched = launch(command, *runs, Duration::from_secs(*limit));
            let read_kib = probe.end();
            let (lines, usage) = match launched {
                Ok(launched) => launched,
                Err(failure) => return Ok(Outcome::Failed(failure)),
            };
            if let Some(line) = lines.iter().find(|line| line.work != *expected) {
                return Ok(Outcome::Wrong { found: line.work });
            }
            match (state.is_proved_by(read_kib), read_kib) {
                (Some(false), Some(kib)) => void = kib,
                _ => return Ok(Outcome::Right { runs: lines, usage, read_kib }),
            }
        }
        Ok(Outcome::Void { read_kib: void })
    }
}

impl Launcher {
    fn command(&self, method: &Method, root: &Path, runs: usize) -> Option<Command> {
        match &method.kind {
            Kind::Engine(..) => {
                let mut command = Command::new(&self.program);
                command.args(["lab", "method", &method.name]).arg(root).arg(runs.to_string());
                Some(command)
            }
            Kind::Contender(contender) => {
                let out = self.built.get(&contender.name)?;
                Some(contender.command(out, &method.name, root, runs))
            }
            Kind::Absent => None,
        }
    }
}

/// Returns the cells of some methods: each once, and the base twice.
pub fn cells(methods: &[&Method], base: &str) -> (Vec<Cell>, String) {
    let cell = |name: String, method: &Method| Cell {
        name,
        method: method.name.clone(),
        contract: method.contract.clone(),
        language: method.language.clone(),
        kind: method.kind.as_str().to_owned(),
        parallel: method.parallel,
    };
    let mut cells: Vec<Cell> =
        methods.iter().map(|method| cell(method.name.clone(), method)).collect();
    let again = format!("{base}{AGAIN}");
    if let Some(method) = methods.iter().find(|method| method.name == base) {
        cells.push(cell(again.clone(), method));
    }
    (cells, again)
}

/// Appends one line, whole or not at all as far as the system can.
fn append(file: &mut File, path: &Path, line: &impl Serialize) -> Result<(), Error> {
    let failed = |error| Error::File("write", path.to_owned(), error);
    let mut text = serde_json::to_vec(line).map_err(|error| failed(error.into()))?;
    text.push(b'\n');
    file.write_all(&text).and_then(|()| file.sync_data()).map_err(failed)
}

/// Reads a session, and returns the length of its whole lines in bytes.
fn parse(path: &Path) -> Result<(Recorded, u64), Error> {
    let mut text = String::new();
    File::open(path)
        .and_then(|mut file| file.read_to_string(&mut text))
        .map_err(|error| Error::File("read", path.to_owned(), error))?;
    // What is behind the last newline was being written when the session was killed.
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let no_session = |line: usize, error: serde_json::Error| {
        Error::NoSession(path.to_owned(), format!("line {}: {error}", line + 1))
    };
    let mut lines = text[..whole].lines().enumerate();
    let Some((_, first)) = lines.next() else {
        return Err(Error::NoSession(path.to_owned(), "it has no first line".to_owned()));
    };
    let header: Header = serde_json::from_str(first).map_err(|error| no_session(0, error))?;
    if header.schema != SCHEMA {
        return Err(Error::NoSession(path.to_owned(), format!("schema {}", header.schema)));
    }
    let mut recorded = Recorded { header, samples: Vec::new(), counted: Vec::new() };
    for (number, line) in lines {
        match serde_json::from_str(line).map_err(|error| no_session(number, error))? {
            Line::Sample(sample) => recorded.samples.push(sample),
            Line::Counted(counted) => recorded.counted.push(counted),
        }
    }
    Ok((recorded, whole as u64))
}

/// The schema of a session's first line.
pub const SCHEMA: &str = "transect.lab/1";
