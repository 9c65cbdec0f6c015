//! Answers, measured: every cell of a session is a method that asks what its place asks.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::expected::{Expected, expect};
use super::method::{How, Method, Way};
use super::questions::Questions;
use super::service::Server;
use super::spec::{Asked, Scale, Task};
use super::{Source, tree};
use crate::experiments::transform::Scratch;
use crate::harness::accesses::Accesses;
use crate::harness::cache_state::{Probe, VOID_RETRIES};
use crate::harness::environment::FileSystem;
use crate::harness::interference::Watch;
use crate::harness::launch::{Failure, RunLine, Usage, launch};
use crate::harness::log::{Instead, Outcome};
use crate::harness::scheduler::{Error, Launcher, Measure};
use crate::spec::{Cell, Dataset, Payload, SessionSpec};

/// Runs methods that ask.
#[derive(Debug)]
pub struct Answers<'m> {
    methods: &'m [Method],
    launcher: &'m Launcher,
    scratch: &'m Scratch,
    /// Started by the first that needs it.
    server: Option<Server>,
    /// The places whose files it knows.
    primed: HashSet<usize>,
}

/// Makes what a dataset asks about in the folder of a session, and returns the dataset.
///
/// # Errors
/// Whatever the system says, or what is wrong with the source: one line.
pub fn dataset(
    name: String,
    task: Task,
    scale: &Scale,
    source: Option<&Source>,
    scratch: &Scratch,
) -> Result<Dataset, String> {
    let failed = |error: io::Error| format!("cannot make '{name}': {}", transect::reason(&error));
    let (questions, made) = match source {
        Some(source) => (Questions { paths: source.paths()?, dirs: Vec::new() }, 0),
        None => tree::make(task, scale, &scratch.folder().join(&name)).map_err(failed)?,
    };
    questions.write(&file_of(scratch, &name)).map_err(failed)?;
    let Expected { work, changed, probes } = expect(&questions);
    let root = scratch.folder().parent().unwrap_or(scratch.folder()).to_owned();
    let asked = Asked {
        task,
        questions: questions.paths.len() as u64,
        made,
        search_dirs: questions.dirs.len() as u64,
        probes,
        changed,
        scale: *scale,
        source: source.cloned(),
    };
    Ok(Dataset {
        name,
        file_system: FileSystem::of(scratch.folder()),
        root,
        expected: work,
        payload: Payload::Attributes(asked),
    })
}

/// Returns the file that hands a dataset's questions to processes.
fn file_of(scratch: &Scratch, dataset: &str) -> PathBuf {
    scratch.folder().join(format!("{dataset}.questions"))
}

impl<'m> Answers<'m> {
    /// Returns what runs these methods in a folder that holds what is asked about.
    pub fn new(methods: &'m [Method], launcher: &'m Launcher, scratch: &'m Scratch) -> Self {
        Self { methods, launcher, scratch, server: None, primed: HashSet::new() }
    }

    /// Returns what makes a process of a cell that is asked what a file holds.
    fn command(&self, cell: &Cell, asked: &Asked, questions: &Path) -> Result<Command, Failure> {
        let method = self.methods.iter().find(|known| known.name == cell.method);
        let method = method.ok_or_else(Failure::unknown)?;
        match &method.how {
            How::Engine(way) => Ok(self.engine(*way, method.threads, asked, questions)),
            How::Contender(contender) => {
                let built = self.launcher.built.get(&contender.name);
                let built = built.ok_or_else(Failure::not_built)?;
                Ok(contender.command_with(built, &method.name, &[("questions", questions)]))
            }
        }
    }

    /// Returns what makes a process of a way of this program.
    fn engine(&self, way: Way, threads: usize, asked: &Asked, questions: &Path) -> Command {
        let mut command = Command::new(&self.launcher.program);
        command.args(["lab", "attributes-method", way.as_str()]).arg(questions);
        command.args(["--task", asked.task.as_str(), "--threads", &threads.to_string()]);
        if let Some(server) = self.server.as_ref().filter(|_| way == Way::Service) {
            command.arg("--socket").arg(server.socket());
        }
        command
    }

    /// Makes sure that a service knows all that a cell will ask it, if it asks one.
    fn serve(&mut self, cell: &Cell, spec: &SessionSpec, dataset: usize) -> Result<(), Failure> {
        let asks = |method: &Method| matches!(method.how, How::Engine(Way::Service));
        let method = self.methods.iter().find(|known| known.name == cell.method);
        if !method.is_some_and(asks) || self.primed.contains(&dataset) {
            return Ok(());
        }
        let failed = |reason: String| Failure::NotStarted { reason };
        let server = match self.server.take() {
            Some(server) => server,
            None => Server::start(&self.launcher.program).map_err(failed)?,
        };
        let file = file_of(self.scratch, &spec.datasets[dataset].name);
        let questions = Questions::read(&file).map_err(|e| failed(transect::reason(&e)))?;
        server.prime(&questions.paths).map_err(failed)?;
        self.server = Some(server);
        self.primed.insert(dataset);
        Ok(())
    }

    /// Counts the system calls of a cell, in a run of its own. What it does to start is counted with
    /// nothing to ask, and taken off; of a cache that knows all, what it does to know it. What a service
    /// does is not counted.
    ///
    /// # Errors
    /// What `strace` said, or the system.
    pub fn accesses(
        &mut self,
        spec: &SessionSpec,
        dataset: usize,
        cell: &Cell,
    ) -> Result<Accesses, String> {
        self.serve(cell, spec, dataset).map_err(|failure| failure.to_string())?;
        let nothing = file_of(self.scratch, "nothing");
        Questions::default().write(&nothing).map_err(|error| transect::reason(&error))?;
        let asked = asked(&spec.datasets[dataset]);
        let questions = file_of(self.scratch, &spec.datasets[dataset].name);
        let of = |command: Result<Command, Failure>| {
            let command = command.map_err(|failure| failure.to_string())?;
            Accesses::of(&command, self.scratch.folder(), Duration::from_secs(spec.limit))
        };
        let known = [Way::GetKnown, Way::GetManyKnown];
        let knows =
            |method: &Method| matches!(method.how, How::Engine(way) if known.contains(&way));
        let method = self.methods.iter().find(|known| known.name == cell.method);
        let start = of(match method.is_some_and(knows) {
            true => Ok(self.engine(Way::GetMany, 1, asked, &questions)),
            false => self.command(cell, asked, &nothing),
        })?;
        let accesses = of(self.command(cell, asked, &questions))?.without(start);
        Ok(Accesses { entries: asked.questions, ..accesses })
    }

    /// Returns what the service has worked so far, in nanoseconds.
    fn served_ns(&self) -> u64 {
        self.server.as_ref().and_then(Server::processor_ns).unwrap_or(0)
    }

    /// Runs a cell in one process.
    fn run(
        &self,
        cell: &Cell,
        spec: &SessionSpec,
        dataset: &Dataset,
    ) -> Result<(Vec<RunLine>, Usage), Failure> {
        let questions = file_of(self.scratch, &dataset.name);
        let command = self.command(cell, asked(dataset), &questions)?;
        launch(command, 1, Duration::from_secs(spec.limit))
    }
}

/// Returns the questions of a dataset.
pub fn asked(dataset: &Dataset) -> &Asked {
    match &dataset.payload {
        Payload::Attributes(asked) => asked,
        _ => unreachable!("BUG: a session of questions has no other datasets"),
    }
}

/// Returns what is wrong with what was found, if anything is.
fn disproof(dataset: &Dataset, runs: &[RunLine]) -> Option<String> {
    let Asked { changed, .. } = asked(dataset);
    runs.iter().find_map(|run| {
        if run.work != dataset.expected {
            let (files, bytes, missing) = (run.work.files, run.work.bytes, run.work.errors);
            return Some(format!("{files} found, {missing} missing, {bytes} bytes"));
        }
        match run.changed {
            Some(found) if found == *changed => None,
            Some(found) => Some(format!("other times: their sum is {found}, not {changed}")),
            None => Some("no times".to_owned()),
        }
    })
}

impl Measure for Answers<'_> {
    fn measure(
        &mut self,
        spec: &SessionSpec,
        cell: &Cell,
        dataset: usize,
        cache_state: usize,
    ) -> Result<Outcome, Error> {
        if let Err(failure) = self.serve(cell, spec, dataset) {
            return Ok(Outcome::Failed(failure));
        }
        let (dataset, state) = (&spec.datasets[dataset], spec.cache_states[cache_state]);
        let mut void = 0;
        for _ in 0..VOID_RETRIES {
            state.prepare().map_err(|error| Error::State(state, error))?;
            let probe = Probe::begin();
            let served = self.served_ns();
            let watch = self.launcher.disturbable.then(Watch::begin);
            let ran = self.run(cell, spec, dataset);
            let read_kib = probe.end();
            let (runs, usage) = match ran {
                Ok(ran) => ran,
                Err(failure) => return Ok(Outcome::Failed(failure)),
            };
            if let Some(found) = disproof(dataset, &runs) {
                return Ok(Outcome::Wrong { found });
            }
            // What a service works for us is ours, or it would be taken for a disturbance.
            let served = self.served_ns().saturating_sub(served);
            let user_ns = usage.user_ns.saturating_add(served);
            let beside =
                watch.and_then(|watch| watch.end(&Usage { user_ns, ..usage })).map(Box::new);
            match (state.is_proved_by(read_kib), read_kib) {
                (Some(false), Some(kib)) => void = kib,
                _ => return Ok(Outcome::Right { runs, usage, read_kib, beside, files: None }),
            }
        }
        Ok(Outcome::Void { instead: Instead::Read { read_kib: void } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::work::Work;
    use transect_testkit::TempDir;

    fn place_of(task: Task, temp: &TempDir) -> Dataset {
        let scratch = Scratch::new(temp.path()).unwrap();
        let scale = Scale { files: 200, search_dirs: 5, headers: 4 };
        dataset("here".to_owned(), task, &scale, None, &scratch).unwrap()
    }

    #[test]
    fn who_finds_something_else_is_wrong() {
        let temp = TempDir::new();
        let dataset = place_of(Task::Uptodate, &temp);
        let changed = Some(asked(&dataset).changed);
        let says = |work: Work, changed: Option<u64>| {
            disproof(&dataset, &[RunLine { changed, ..RunLine::new(work, 1) }])
        };
        let right = dataset.expected;
        assert_eq!(says(right, changed), None);
        for work in [
            Work { files: right.files - 1, ..right },
            Work { errors: right.errors + 1, ..right },
            Work { bytes: right.bytes + 1, ..right },
        ] {
            assert!(says(work, changed).is_some(), "{work:?}");
        }
        assert!(says(right, changed.map(|sum| sum + 1)).unwrap().starts_with("other times"));
        assert_eq!(says(right, None).as_deref(), Some("no times"));
    }

    #[test]
    fn a_place_is_the_same_when_it_is_made_again() {
        let temp = TempDir::new();
        for task in [Task::Article, Task::Includes, Task::OneCold] {
            assert_eq!(place_of(task, &temp), place_of(task, &temp));
        }
    }
}
