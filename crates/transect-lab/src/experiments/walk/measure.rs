//! Walks as an experiment: every cell of a session is a method that walks a tree.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use transect_sys::private_dir::PrivateTempDir;

use crate::experiments::walk::method::{Method, WalkRunner};
use crate::experiments::walk::sample_tree::{SampleTree, sample_tree};
use crate::harness::environment::FileSystem;
use crate::harness::error::Error;
use crate::harness::experiment::{CountPart, Experiment, Job, Launcher, Output, run};
use crate::harness::inventory::Inventory;
use crate::harness::launch::Failure;
use crate::harness::log::{FileEvidence, Outcome};
use crate::rivals::peer::{PeerRun, Purpose};
use crate::spec::{Dataset, Payload, SessionSpec};

/// The maximum of entries among which calls are counted, if a tree can be divided so.
const MOST_COUNTED: u64 = 8000;

/// Runs methods that walk.
#[derive(Debug)]
pub struct WalkExperiment<'m> {
    methods: &'m [Method],
    launcher: &'m Launcher,
    /// The peers whose claims were proved, and on which dataset. Not kept in the file: a session may be
    /// resumed with other versions of them.
    proved: HashSet<(usize, &'static str)>,
    counting: Option<Counting>,
}

/// What calls are counted on.
#[derive(Debug)]
struct Counting {
    folder: PrivateTempDir,
    /// One for each dataset.
    sample_trees: Vec<SampleTree>,
}

impl Counting {
    /// Returns an empty directory.
    fn empty(&self) -> PathBuf {
        self.folder.path().join("root")
    }
}

impl<'m> WalkExperiment<'m> {
    /// Returns what runs these methods.
    pub fn new(methods: &'m [Method], launcher: &'m Launcher) -> Self {
        Self { methods, launcher, proved: HashSet::new(), counting: None }
    }

    fn method(&self, job: &Job<'_>) -> Option<&'m Method> {
        self.methods.iter().find(|known| known.name == job.cell.method)
    }
}

impl Experiment for WalkExperiment<'_> {
    fn launcher(&self) -> &Launcher {
        self.launcher
    }

    /// Proves the claims of a peer that can only do so by a listing: once for each dataset.
    fn begin(&mut self, job: &Job<'_>) -> Option<Outcome> {
        let Some(method) = self.method(job) else {
            return Some(Outcome::Failed(Failure::unknown()));
        };
        let WalkRunner::Peer(peer) = method.runner else { return None };
        if peer.is_parsed_in_every_run() || self.proved.contains(&(job.index, peer.name)) {
            return None;
        }
        let inventory = inventory(job.dataset);
        match peer.run(&job.dataset.root, inventory, job.limit(), Purpose::Proof) {
            Err(failure) => Some(Outcome::Failed(failure)),
            Ok(PeerRun { judged: Err(found), .. }) => Some(Outcome::Wrong { found }),
            Ok(_) => {
                self.proved.insert((job.index, peer.name));
                None
            }
        }
    }

    fn command(&mut self, job: &Job<'_>) -> Result<Command, Failure> {
        let method = self.method(job).ok_or_else(Failure::unknown)?;
        let command = command(self.launcher, method, &job.dataset.root, job.spec.runs);
        command.ok_or_else(Failure::not_built)
    }

    fn run(&mut self, job: &Job<'_>) -> Result<Output, Failure> {
        if let Some(Method { runner: WalkRunner::Peer(peer), .. }) = self.method(job) {
            let inventory = inventory(job.dataset);
            let ran = peer.run(&job.dataset.root, inventory, job.limit(), Purpose::Time)?;
            return Ok(Output { claim: ran.judged, ..Output::of_a_process(job, ran.usage) });
        }
        run(self, job)
    }

    fn verify(
        &mut self,
        job: &Job<'_>,
        output: &Output,
        _: Option<&mut FileEvidence>,
    ) -> Result<(), String> {
        output.claim.clone()?;
        let wrong = output.runs.iter().find(|line| line.work != job.dataset.expected);
        wrong.map_or(Ok(()), |line| Err(line.work.to_string()))
    }

    fn begin_counting(&mut self, spec: &SessionSpec) -> Result<PathBuf, Error> {
        let failed = |error| Error::Scratch(std::env::temp_dir().join("transect-empty"), error);
        let folder = PrivateTempDir::new("empty").map_err(failed)?;
        let sample = |dataset: &Dataset| sample_tree(&dataset.root, MOST_COUNTED);
        let sample_trees: Result<_, _> = spec.datasets.iter().map(sample).collect();
        let counting = Counting { folder, sample_trees: sample_trees.map_err(Error::Walk)? };
        std::fs::create_dir(counting.empty()).map_err(failed)?;
        let path = counting.folder.path().to_owned();
        self.counting = Some(counting);
        Ok(path)
    }

    fn count_command(&mut self, job: &Job<'_>, part: CountPart) -> Result<(Command, u64), String> {
        let method = self.method(job).ok_or("no such method here any more")?;
        let counting = self.counting.as_ref().expect("BUG: counting has begun");
        let SampleTree { root, entries } = match part {
            CountPart::StartUp => &SampleTree { root: counting.empty(), entries: 1 },
            CountPart::Work => &counting.sample_trees[job.index],
        };
        let command = match method.runner {
            WalkRunner::Peer(peer) => peer.command(root),
            _ => command(self.launcher, method, root, 1),
        };
        Ok((command.ok_or("no such method here")?, *entries))
    }

    fn timing_command(&mut self, job: &Job<'_>) -> Option<Command> {
        let method = self.method(job)?;
        let is_ours = matches!(method.runner, WalkRunner::Engine(_));
        is_ours.then(|| engine_command(&self.launcher.program, method, &job.dataset.root, 1, true))
    }
}

/// Returns the command of a method that speaks the protocol, if it was built.
fn command(launcher: &Launcher, method: &Method, root: &Path, runs: usize) -> Option<Command> {
    match &method.runner {
        WalkRunner::Engine(_) => Some(engine_command(&launcher.program, method, root, runs, false)),
        WalkRunner::Contender(contender) => {
            let out = launcher.built.get(&contender.name)?;
            Some(contender.command(out, &method.name, root, runs))
        }
        WalkRunner::Peer(_) | WalkRunner::Absent => None,
    }
}

/// Returns the command of a method of the engine.
pub(crate) fn engine_command(
    program: &Path,
    method: &Method,
    root: &Path,
    runs: usize,
    per_call: bool,
) -> Command {
    let mut command = Command::new(program);
    command.args(["lab", "method"]).args(per_call.then_some("--per-call"));
    command.arg(&method.name).arg(root).arg(runs.to_string());
    command
}

/// Returns what is in the tree of a dataset.
fn inventory(dataset: &Dataset) -> &Inventory {
    match &dataset.payload {
        Payload::Walk(inventory) => inventory,
        _ => unreachable!("BUG: a session of walks has no other datasets"),
    }
}

/// Checks that the trees of a session are what they were when it began.
///
/// # Errors
/// A tree has changed.
pub fn check_unchanged(spec: &SessionSpec) -> Result<(), Error> {
    spec.datasets.iter().try_for_each(|dataset| {
        let now = Inventory::of(&dataset.root);
        match now == *inventory(dataset) {
            true => Ok(()),
            false => Err(Error::Changed(dataset.root.clone(), dataset.expected, now.work())),
        }
    })
}

/// Returns a tree as a dataset: a plain recursion counts it, after which it is in memory as far as it
/// fits.
pub fn dataset(name: String, root: PathBuf) -> Dataset {
    let inventory = Inventory::of(&root);
    let file_system = FileSystem::of(&root);
    let (expected, payload) = (inventory.work(), Payload::Walk(inventory));
    Dataset { name, root, file_system, expected, payload }
}
