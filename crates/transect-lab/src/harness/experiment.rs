//! The interface between the harness and an experiment, and the loop that measures one cell.
//!
//! ```text
//! begin ─► make the state ─► proof of the input ─► the run, watched ─► verify ─► proof by devices ─► end
//!               ▲                                                                      │
//!               └────────────── once more if the state was not proved ─────────────────┘
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::harness::cache_state::{self, State, VOID_RETRIES, read_so_far};
use crate::harness::error::cannot_make;
use crate::harness::interference::Watch;
use crate::harness::launch::{Failure, Usage, launch, time};
use crate::harness::log::{FileEvidence, Instead, Outcome};
use crate::harness::protocol::RunLine;
use crate::spec::{Cell, Dataset, SessionSpec};

/// The unit of measurement: a cell on a dataset in a state of the caches.
#[derive(Clone, Copy, Debug)]
pub struct Job<'s> {
    pub spec: &'s SessionSpec,
    pub cell: &'s Cell,
    pub dataset: &'s Dataset,
    /// The index of the dataset in the spec.
    pub index: usize,
    pub state: State,
}

impl<'s> Job<'s> {
    /// Returns the job of a cell, by the indices of the dataset and of the state.
    pub fn new(spec: &'s SessionSpec, cell: &'s Cell, index: usize, cache_state: usize) -> Self {
        let (dataset, state) = (&spec.datasets[index], spec.cache_states[cache_state]);
        Self { spec, cell, dataset, index, state }
    }

    pub fn limit(&self) -> Duration {
        Duration::from_secs(self.spec.limit)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub runs: Vec<RunLine>,
    pub usage: Usage,
    /// Whether the output of a program without the lab's protocol, read during the run, is correct; if
    /// not, the reason.
    pub claim: Result<(), String>,
}

impl Output {
    /// Returns the output of a process without a clock of its own: one run, as long as the process.
    pub fn of_a_process(job: &Job<'_>, usage: Usage) -> Self {
        let runs = vec![RunLine::new(job.dataset.expected, usage.wall_ns)];
        Self { runs, usage, claim: Ok(()) }
    }
}

#[derive(Debug)]
pub struct Launcher {
    /// The program `transect-lab`, which runs the engine's methods by hidden subcommands.
    pub program: PathBuf,
    /// The directory of each built contender, by its name.
    pub built: BTreeMap<String, PathBuf>,
    /// Whether other processes can disturb a run. False where times do not come from a clock.
    pub disturbable: bool,
}

impl Launcher {
    pub(crate) fn built(&self, contender: &str) -> Result<&Path, Failure> {
        let not_built = || Failure::NotStarted { reason: "it was not built".to_owned() };
        self.built.get(contender).map(PathBuf::as_path).ok_or_else(not_built)
    }
}

/// The part of a command whose calls are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountPart {
    /// What is subtracted: the start of the program, without work or with the work done once.
    StartUp,
    /// From which it is subtracted: the same with more work.
    Work,
}

/// An experiment. The harness makes and proves the states of the caches, watches for interference,
/// retries, orders and resumes; the experiment starts the processes and verifies their work.
pub trait Experiment {
    fn launcher(&self) -> &Launcher;

    /// Returns whether a dataset exists. Trees exist before a session begins.
    fn is_made(&self, _: &Dataset) -> bool {
        true
    }

    fn make(&mut self, _: &Dataset) -> Result<(), String> {
        Ok(())
    }

    /// Prepares a cell before its first attempt. Returns an outcome if the cell cannot be measured.
    fn begin(&mut self, _: &Job<'_>) -> Option<Outcome> {
        None
    }

    /// Makes the state of the caches. An experiment that prepares single files returns how much of them
    /// is in memory, which proves the state; otherwise the reads of devices for the process prove it.
    ///
    /// # Errors
    /// The state cannot be made; the inner error is a failure of the cell.
    fn make_state(
        &mut self,
        job: &Job<'_>,
    ) -> Result<Result<Option<FileEvidence>, Failure>, String> {
        cache_state::prepare(job.state).map_err(cannot_make(job.state))?;
        Ok(Ok(None))
    }

    fn command(&self, job: &Job<'_>) -> Result<Command, Failure>;

    fn run(&mut self, job: &Job<'_>) -> Result<Output, Failure> {
        run(self, job)
    }

    /// Verifies the work of a run, and completes the evidence about its files.
    ///
    /// # Errors
    /// A description of the work, if it is not the expected work.
    fn verify(
        &mut self,
        job: &Job<'_>,
        output: &Output,
        files: Option<&mut FileEvidence>,
    ) -> Result<(), String>;

    fn end(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Returns the processor time, in nanoseconds, that helper processes of the lab have used so far, such
    /// as a service. Without it, their work would count as a disturbance.
    fn helper_ns(&self) -> u64 {
        0
    }

    fn begin_counting(&mut self, _: &SessionSpec) {}

    /// Returns a command whose calls can be counted, and the number of entries that it processes.
    ///
    /// # Errors
    /// The reason why the calls cannot be counted, in one line.
    fn count_command(&mut self, job: &Job<'_>, part: CountPart) -> Result<(Command, u64), String>;

    /// Returns how many times more often the second part of counting does the work than the first.
    fn counted_repeats(&self, _: &Job<'_>) -> u64 {
        1
    }

    /// Returns a command that reports the time spent in the calls of a cell, if the cell supports that.
    fn timing_command(&mut self, _: &Job<'_>) -> Option<Command> {
        None
    }

    /// Runs a cell without work, in the cache state of the job, and returns the usage of its process.
    ///
    /// # Errors
    /// The reason for the failure, in one line.
    fn start_up(&mut self, job: &Job<'_>) -> Result<Usage, String>;
}

pub fn run(experiment: &mut (impl Experiment + ?Sized), job: &Job<'_>) -> Result<Output, Failure> {
    let command = experiment.command(job)?;
    if job.cell.command.is_some() {
        return Ok(Output::of_a_process(job, time(command, job.limit())?));
    }
    let (runs, usage) = launch(command, job.spec.runs, job.limit())?;
    Ok(Output { runs, usage, claim: Ok(()) })
}

/// Measures a job. Every [`Experiment`] implements it; tests have other implementations.
pub trait Measure {
    /// Measures a job once, and proves the state of the caches.
    ///
    /// # Errors
    /// The state cannot be made. A failure of the method is an outcome, not an error.
    fn measure(&mut self, job: &Job<'_>) -> Result<Outcome, String>;
}

impl<E: Experiment> Measure for E {
    fn measure(&mut self, job: &Job<'_>) -> Result<Outcome, String> {
        if let Some(outcome) = self.begin(job) {
            return Ok(outcome);
        }
        let mut outcome = attempt(self, job)?;
        for _ in 1..VOID_RETRIES {
            if !matches!(outcome, Outcome::Void { .. }) {
                break;
            }
            outcome = attempt(self, job)?;
        }
        self.end()?;
        Ok(outcome)
    }
}

fn attempt(experiment: &mut impl Experiment, job: &Job<'_>) -> Result<Outcome, String> {
    let mut files = match experiment.make_state(job)? {
        Ok(files) => files,
        Err(failure) => return Ok(Outcome::Failed(failure)),
    };
    if let Some(FileEvidence { resident: Some(resident), bytes, .. }) = files
        && cache_state::is_proved_by_residency(job.state, resident, bytes) == Some(false)
    {
        return Ok(Outcome::Void { instead: Instead::Resident { resident, bytes } });
    }
    let read_before = read_so_far();
    let helper_ns = experiment.helper_ns();
    let watch = experiment.launcher().disturbable.then(Watch::begin);
    let ran = experiment.run(job);
    let read_kib = read_so_far().zip(read_before).map(|(now, then)| now.saturating_sub(then));
    let output = match ran {
        Ok(output) => output,
        Err(failure) => return Ok(Outcome::Failed(failure)),
    };
    let helper_ns = experiment.helper_ns().saturating_sub(helper_ns);
    let user_ns = output.usage.user_ns.saturating_add(helper_ns);
    let own = Usage { user_ns, ..output.usage };
    let beside = watch.and_then(|watch| watch.end(&own)).map(Box::new);
    if let Err(found) = experiment.verify(job, &output, files.as_mut()) {
        return Ok(Outcome::Wrong { found });
    }
    let read_bytes = output.usage.read_bytes();
    if files.is_none() && cache_state::is_proved_by(job.state, read_bytes, read_kib) == Some(false)
    {
        let instead = match (read_bytes, read_kib) {
            (Some(read_bytes), _) => Instead::ReadByProcess { read_bytes },
            (None, read_kib) => Instead::Read { read_kib: read_kib.unwrap_or_default() },
        };
        return Ok(Outcome::Void { instead });
    }
    let Output { runs, usage, .. } = output;
    Ok(Outcome::Right { runs, usage, read_kib, beside, files: files.map(Box::new) })
}
