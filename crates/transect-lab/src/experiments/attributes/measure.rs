//! The attribute experiment: every cell of a session is a method that answers the questions of a dataset.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::expected::{Expected, expect};
use super::method::{Method, QueryMethod};
use super::questions::Questions;
use super::service::Server;
use super::{Source, tree};
use crate::harness::cache_state;
use crate::harness::environment::FileSystem;
use crate::harness::experiment::{CountPart, Experiment, Job, Launcher, Output};
use crate::harness::launch::{Failure, Usage, time};
use crate::harness::log::{FileEvidence, Outcome};
use crate::harness::protocol::RunLine;
use crate::harness::scratch::Scratch;
use crate::spec::Dataset;
use crate::spec::attributes::{Asked, Scale, Task};
use transect_program::sibling;

#[derive(Debug)]
pub struct AttributesExperiment<'m> {
    methods: &'m [Method],
    launcher: &'m Launcher,
    scratch: &'m Scratch,
    /// The service, started by the first method that needs it.
    server: Option<Server>,
    /// The indices of the datasets that the service has cached.
    primed: HashSet<usize>,
}

/// Creates the files and questions of a dataset in the directory of a session, and returns the dataset.
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
        root: scratch.parent().to_owned(),
        expected: work,
        asked: Some(asked),
        ..Dataset::default()
    })
}

fn file_of(scratch: &Scratch, dataset: &str) -> PathBuf {
    scratch.folder().join(format!("{dataset}.questions"))
}

impl<'m> AttributesExperiment<'m> {
    pub fn new(methods: &'m [Method], launcher: &'m Launcher, scratch: &'m Scratch) -> Self {
        Self { methods, launcher, scratch, server: None, primed: HashSet::new() }
    }

    fn method(&self, job: &Job<'_>) -> Option<&'m Method> {
        self.methods.iter().find(|known| known.name == job.cell.method)
    }

    fn command_for(&self, job: &Job<'_>, questions: &Path) -> Result<Command, Failure> {
        let method = self.method(job).ok_or_else(Failure::unknown)?;
        if let Some(query) = method.part.query {
            return Ok(self.engine(query, method.part.threads, asked(job.dataset), questions));
        }
        let contender = method.contender().ok_or_else(Failure::unknown)?;
        let built = self.launcher.built(&contender.name)?;
        Ok(contender.command_with(built, &method.name, &[("questions", questions)]))
    }

    fn engine(
        &self,
        method: QueryMethod,
        threads: usize,
        asked: &Asked,
        questions: &Path,
    ) -> Command {
        let mut command = Command::new(&self.launcher.program);
        command.args(["attributes-method", method.as_str()]).arg(questions);
        command.args(["--task", asked.task.as_str(), "--threads", &threads.to_string()]);
        if let Some(server) = self.server.as_ref().filter(|_| method == QueryMethod::Service) {
            command.arg("--socket").arg(server.socket());
        }
        command
    }

    fn no_questions(&self) -> Result<PathBuf, String> {
        let file = file_of(self.scratch, "nothing");
        Questions::default().write(&file).map_err(|error| transect::reason(&error))?;
        Ok(file)
    }

    /// Starts the service if the cell uses it, and fills its cache with the answers of the dataset.
    fn serve(&mut self, job: &Job<'_>) -> Result<(), Failure> {
        let asks = |method: &Method| method.part.query == Some(QueryMethod::Service);
        if !self.method(job).is_some_and(asks) || self.primed.contains(&job.index) {
            return Ok(());
        }
        let failed = |reason: String| Failure::NotStarted { reason };
        let server = match self.server.take() {
            Some(server) => server,
            None => {
                let transect = sibling::find("transect").ok_or_else(|| {
                    failed("'transect' is neither beside this program nor on PATH".to_owned())
                })?;
                Server::start(&transect).map_err(failed)?
            }
        };
        let file = file_of(self.scratch, &job.dataset.name);
        let questions = Questions::read(&file).map_err(|e| failed(transect::reason(&e)))?;
        server.prime(&questions.paths).map_err(failed)?;
        self.server = Some(server);
        self.primed.insert(job.index);
        Ok(())
    }
}

pub fn asked(dataset: &Dataset) -> &Asked {
    dataset.asked.as_ref().expect("BUG: a session of questions has no other datasets")
}

fn verify(dataset: &Dataset, runs: &[RunLine]) -> Result<(), String> {
    let Asked { changed, .. } = asked(dataset);
    runs.iter().try_for_each(|run| {
        if run.work != dataset.expected {
            let (files, bytes, missing) = (run.work.files, run.work.bytes, run.work.errors);
            return Err(format!("{files} found, {missing} missing, {bytes} bytes"));
        }
        match run.changed {
            Some(found) if found == *changed => Ok(()),
            Some(found) => Err(format!("other times: their sum is {found}, not {changed}")),
            None => Err("no times".to_owned()),
        }
    })
}

impl Experiment for AttributesExperiment<'_> {
    fn launcher(&self) -> &Launcher {
        self.launcher
    }

    fn begin(&mut self, job: &Job<'_>) -> Option<Outcome> {
        self.serve(job).err().map(Outcome::Failed)
    }

    fn command(&self, job: &Job<'_>) -> Result<Command, Failure> {
        self.command_for(job, &file_of(self.scratch, &job.dataset.name))
    }

    fn verify(
        &mut self,
        job: &Job<'_>,
        output: &Output,
        _: Option<&mut FileEvidence>,
    ) -> Result<(), String> {
        verify(job.dataset, &output.runs)
    }

    fn helper_ns(&self) -> u64 {
        self.server.as_ref().and_then(Server::processor_ns).unwrap_or(0)
    }

    /// For a full cache, the start-up part includes filling it. The calls of a service are not counted.
    fn count_command(&mut self, job: &Job<'_>, part: CountPart) -> Result<(Command, u64), String> {
        self.serve(job)?;
        let (asked, questions) = (asked(job.dataset), file_of(self.scratch, &job.dataset.name));
        let nothing = self.no_questions()?;
        let knows = |method: &Method| {
            matches!(method.part.query, Some(QueryMethod::GetKnown | QueryMethod::GetManyKnown))
        };
        let command = match part {
            CountPart::StartUp if self.method(job).is_some_and(knows) => {
                self.engine(QueryMethod::GetMany, 1, asked, &questions)
            }
            CountPart::StartUp => self.command_for(job, &nothing)?,
            CountPart::Work => self.command_for(job, &questions)?,
        };
        Ok((command, asked.questions))
    }

    fn start_up(&mut self, job: &Job<'_>) -> Result<Usage, String> {
        let nothing = self.no_questions()?;
        let command = self.command_for(job, &nothing)?;
        cache_state::prepare(job.state).map_err(|error| transect::reason(&error))?;
        Ok(time(command, job.limit())?)
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
    fn other_answers_are_refused() {
        let temp = TempDir::new();
        let dataset = place_of(Task::Uptodate, &temp);
        let changed = Some(asked(&dataset).changed);
        let says = |work: Work, changed: Option<u64>| {
            verify(&dataset, &[RunLine { changed, ..RunLine::new(work, 1) }])
        };
        let right = dataset.expected;
        assert_eq!(says(right, changed), Ok(()));
        for work in [
            Work { files: right.files - 1, ..right },
            Work { errors: right.errors + 1, ..right },
            Work { bytes: right.bytes + 1, ..right },
        ] {
            assert!(says(work, changed).is_err(), "{work:?}");
        }
        assert!(says(right, changed.map(|sum| sum + 1)).unwrap_err().starts_with("other times"));
        assert_eq!(says(right, None), Err("no times".to_owned()));
    }

    #[test]
    fn recreated_dataset_is_identical() {
        let temp = TempDir::new();
        for task in [Task::Article, Task::Includes, Task::OneCold] {
            assert_eq!(place_of(task, &temp), place_of(task, &temp));
        }
    }
}
