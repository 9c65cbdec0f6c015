//! The walk experiment: every cell of a session is a method that walks a tree.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use transect_sys::private_dir::PrivateTempDir;

use crate::experiments::method::Origin;
use crate::experiments::walk::copies::Copies;
use crate::experiments::walk::keep::Keep;
use crate::experiments::walk::method::Method;
use crate::experiments::walk::preset::{Preset, WalkWork};
use crate::experiments::walk::sample_tree::{SampleTree, sample_tree};
use crate::harness::accesses::COUNTED_WALKS;
use crate::harness::cache_state;
use crate::harness::environment::FileSystem;
use crate::harness::error::cannot;
use crate::harness::experiment::{CountPart, Experiment, Job, Launcher, Output, run};
use crate::harness::inventory::Inventory;
use crate::harness::launch::{Failure, Usage, file_of_program, launch, listen, run_like, time};
use crate::harness::log::{FileEvidence, Outcome};
use crate::harness::protocol::RunLine;
use crate::harness::tree_digest::TreeDigest;
use crate::harness::work::Work;
use crate::rivals::external::External;
use crate::rivals::lines::Lines;
use crate::rivals::peer::Claim;
use crate::spec::{Dataset, SessionSpec};

/// The maximum size of the tree in which calls are counted, in entries, if a tree has subtrees of that size.
const MOST_COUNTED: u64 = 8000;

#[derive(Debug)]
pub struct WalkExperiment<'m> {
    methods: &'m [Method],
    launcher: &'m Launcher,
    /// Peers and commands whose counts were verified in a separate run, with the dataset. Not stored in the
    /// file, as a session may be resumed with other versions of them.
    proved: HashSet<(usize, &'m str)>,
    /// The number of records, and the sum of their times, that the first method found which keeps these.
    kept: HashMap<(usize, Keep), (u64, Option<u64>)>,
    /// The lines that the base prints, for each dataset whose programs have to print the same.
    lines: HashMap<usize, Lines>,
    copies: Copies,
    empty: Option<PrivateTempDir>,
    /// The trees in which calls are counted, one for each dataset.
    sample_trees: Vec<SampleTree>,
}

impl<'m> WalkExperiment<'m> {
    pub fn new(methods: &'m [Method], launcher: &'m Launcher) -> Self {
        Self {
            methods,
            launcher,
            proved: HashSet::new(),
            kept: HashMap::new(),
            lines: HashMap::new(),
            copies: Copies::default(),
            empty: None,
            sample_trees: Vec::new(),
        }
    }

    fn method(&self, job: &Job<'_>) -> Option<&'m Method> {
        self.methods.iter().find(|known| known.name == job.cell.method)
    }

    /// Verifies the counts of a program from its output, which is not read while the program is timed: once
    /// for each dataset, in a separate run. The inner error describes wrong counts.
    fn prove(&mut self, method: &'m Method, job: &Job<'_>) -> Result<Result<(), String>, Failure> {
        let inventory = &job.dataset.inventory;
        let (root, limit) = (&job.dataset.root, job.limit());
        let judged = match &method.origin {
            Origin::Peer(peer) if peer.is_parsed_in_every_run() => return Ok(Ok(())),
            _ if self.proved.contains(&(job.index, &method.name)) => return Ok(Ok(())),
            Origin::Engine | Origin::Floor | Origin::Contender(_) => self.check(method, job)?,
            Origin::Peer(peer) => {
                let command = peer.command(root).ok_or_else(Failure::unknown)?;
                peer.run(command, inventory, limit)?.1
            }
            Origin::External(external) if work(job).is_some_and(|work| work.same_lines) => {
                let lines = lines_of(external, job)?;
                lines.check(self.lines_of_base(job)?)
            }
            Origin::External(external) => {
                let command = External::command(&external.words, &[("root", root)]);
                let tree = root.clone();
                let (claim, _) = listen(command, limit, move |output| Claim::read(output, &tree))?;
                claim.and_then(|claim| {
                    claim.check(inventory, work(job).is_some_and(|work| work.names_only))
                })
            }
        };
        if judged.is_ok() {
            self.proved.insert((job.index, &method.name));
        }
        Ok(judged)
    }

    /// Returns the lines that the base prints. In a shuffled round, it need not be the first.
    fn lines_of_base(&mut self, job: &Job<'_>) -> Result<Lines, Failure> {
        if let Some(&lines) = self.lines.get(&job.index) {
            return Ok(lines);
        }
        let base = self.methods.iter().find(|method| method.name == job.spec.base);
        let Some(Origin::External(base)) = base.map(|method| &method.origin) else {
            return Err(Failure::unknown());
        };
        let lines = lines_of(base, job)?;
        self.lines.insert(job.index, lines);
        Ok(lines)
    }

    /// Compares the digest of a method with that of the inventory, in a run that is not timed. The inner
    /// error is what it found instead.
    fn check(&self, method: &Method, job: &Job<'_>) -> Result<Result<(), String>, Failure> {
        // A session of an older version has no digest.
        let (root, Some(expected)) = (&job.dataset.root, job.dataset.inventory.digest) else {
            return Ok(Ok(()));
        };
        let command = match &method.origin {
            Origin::Engine | Origin::Floor => {
                Some(engine_command(&self.launcher.program, method, root, 1, Some("--check")))
            }
            Origin::Contender(contender) => {
                contender.check_command(self.launcher.built(&contender.name)?, &method.name, root)
            }
            _ => None,
        };
        let Some(command) = command else { return Ok(Ok(())) };
        let (lines, _) = launch(command, 1, job.limit())?;
        Ok(lines.iter().try_for_each(|line| check_line(line, job.dataset.expected, expected)))
    }

    /// Compares the records that a run kept with those of the first method that has to keep the same.
    fn verify_kept(&mut self, dataset: usize, keep: Keep, line: &RunLine) -> Result<(), String> {
        let names = line.held.ok_or("no records")?.names;
        let found = (names, line.changed);
        let expected = *self.kept.entry((dataset, keep.agrees_with())).or_insert(found);
        match found == expected {
            true => Ok(()),
            false => Err(format!("records {found:?} instead of {expected:?}")),
        }
    }

    /// Prepares the copy of a program, in sessions that run copies. A new copy is run once, so that the
    /// measured run finds it in memory.
    fn copy(&mut self, method: &Method, job: &Job<'_>) -> Result<(), Failure> {
        let Some(most) = work(job).and_then(|work| work.runs_of_a_copy) else {
            return Ok(());
        };
        let not_started = |reason: String| Failure::NotStarted { reason };
        let command = self.original(method, job)?;
        let name = command.get_program().to_string_lossy();
        let program =
            file_of_program(&name).ok_or_else(|| not_started(format!("no {name} here")))?;
        // A runtime found on the PATH needs its other files, so it cannot be copied alone.
        if matches!(method.origin, Origin::Contender(_)) && !Path::new(&*name).is_absolute() {
            return Ok(());
        }
        let failed = |error: io::Error| not_started(cannot("copy", &program)(error));
        if self.copies.prepare(&job.cell.name, &program, most).map_err(failed)? {
            self.run(job)?;
        }
        Ok(())
    }

    /// Returns the command of a method, with the original program instead of a copy.
    fn original(&self, method: &Method, job: &Job<'_>) -> Result<Command, Failure> {
        let option = times_calls(job).then_some("--per-call");
        command(self.launcher, method, &job.dataset.root, job.spec.runs, option)
    }

    fn empty(&mut self) -> io::Result<PathBuf> {
        let folder = match &self.empty {
            Some(folder) => folder.path(),
            None => self.empty.insert(PrivateTempDir::new("empty")?).path(),
        };
        Ok(folder.to_owned())
    }
}

impl Experiment for WalkExperiment<'_> {
    fn launcher(&self) -> &Launcher {
        self.launcher
    }

    fn begin(&mut self, job: &Job<'_>) -> Option<Outcome> {
        let Some(method) = self.method(job) else {
            return Some(Outcome::Failed(Failure::unknown()));
        };
        match self.prove(method, job) {
            Ok(Ok(())) => self.copy(method, job).err().map(Outcome::Failed),
            Ok(Err(found)) => Some(Outcome::Wrong { found }),
            Err(failure) => Some(Outcome::Failed(failure)),
        }
    }

    fn command(&self, job: &Job<'_>) -> Result<Command, Failure> {
        let method = self.method(job).ok_or_else(Failure::unknown)?;
        let original = self.original(method, job)?;
        let Some(copy) = self.copies.of(&job.cell.name) else { return Ok(original) };
        if let Origin::Peer(peer) = &method.origin {
            return Ok(peer.command_of(copy, &job.dataset.root));
        }
        let mut command = Command::new(copy);
        run_like(&mut command, &original);
        Ok(command)
    }

    fn run(&mut self, job: &Job<'_>) -> Result<Output, Failure> {
        if let Some(Method { origin: Origin::Peer(peer), .. }) = self.method(job) {
            let (command, inventory) = (self.command(job)?, &job.dataset.inventory);
            // Others write to the null device: their counts are in a run of their own.
            let (usage, claim) = match peer.is_parsed_in_every_run() {
                true => peer.run(command, inventory, job.limit())?,
                false => (time(command, job.limit())?, Ok(())),
            };
            return Ok(Output { claim, ..Output::of_a_process(job, usage) });
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
        if let Some(line) = output.runs.iter().find(|line| line.work != job.dataset.expected) {
            return Err(line.work.to_string());
        }
        let Some(keep) = self.method(job).and_then(|method| method.part?.keep) else {
            return Ok(());
        };
        output.runs.iter().try_for_each(|line| self.verify_kept(job.index, keep, line))
    }

    fn begin_counting(&mut self, spec: &SessionSpec) {
        let sample = |dataset: &Dataset| sample_tree(&dataset.root, MOST_COUNTED);
        self.sample_trees = spec.datasets.iter().map(sample).collect();
    }

    fn count_command(&mut self, job: &Job<'_>, part: CountPart) -> Result<(Command, u64), String> {
        let method = self.method(job).ok_or("this method is no longer available")?;
        let SampleTree { root, entries } = self.sample_trees[job.index].clone();
        let (root, runs) = match (part, can_repeat(method)) {
            // Both parts have what a runtime does only in its first walk.
            (CountPart::StartUp, true) => (root, 1),
            (CountPart::Work, true) => (root, 1 + COUNTED_WALKS as usize),
            (CountPart::StartUp, false) => {
                (self.empty().map_err(|error| transect::reason(&error))?, 1)
            }
            (CountPart::Work, false) => (root, 1),
        };
        let command = command(self.launcher, method, &root, runs, None);
        Ok((command.map_err(|_| "this method is not available")?, entries))
    }

    fn counted_repeats(&self, job: &Job<'_>) -> u64 {
        if self.method(job).is_some_and(can_repeat) { COUNTED_WALKS } else { 1 }
    }

    fn start_up(&mut self, job: &Job<'_>) -> Result<Usage, String> {
        let root = self.empty().map_err(|error| transect::reason(&error))?;
        let method = self.method(job).ok_or("this method is no longer available")?;
        let command = command(self.launcher, method, &root, job.spec.runs, None)?;
        cache_state::prepare(job.state).map_err(|error| transect::reason(&error))?;
        Ok(time(command, job.limit())?)
    }

    fn timing_command(&mut self, job: &Job<'_>) -> Option<Command> {
        let method = self.method(job)?;
        let is_ours = matches!(method.origin, Origin::Engine);
        let (program, root) = (&self.launcher.program, &job.dataset.root);
        // Samples that time calls have these times already.
        let is_untimed = is_ours && !times_calls(job);
        is_untimed.then(|| engine_command(program, method, root, 1, Some("--per-call")))
    }
}

/// Returns the lines that a command prints.
fn lines_of(external: &External, job: &Job<'_>) -> Result<Lines, Failure> {
    let command = External::command(&external.words, &[("root", &job.dataset.root)]);
    let (lines, _) = listen(command, job.limit(), Lines::read)?;
    lines.map_err(|error| Failure::NotStarted { reason: transect::reason(&error) })
}

/// Compares the line of a run that computes a digest with what is expected.
fn check_line(line: &RunLine, work: Work, digest: TreeDigest) -> Result<(), String> {
    if line.work != work {
        let error = line.error.as_ref().map(|error| format!("; its first error: {error}"));
        return Err(format!("{}{}", line.work, error.unwrap_or_default()));
    }
    match &line.digest {
        Some(found) if *found == digest.to_string() => Ok(()),
        Some(found) => Err(format!(
            "as many files, directories and bytes, but other ones: the digest of their paths, types and \
             lengths is {found} instead of {digest}"
        )),
        None => Err("no digest, although it declares a check".to_owned()),
    }
}

fn can_repeat(method: &Method) -> bool {
    matches!(method.origin, Origin::Engine | Origin::Floor | Origin::Contender(_))
}

fn work(job: &Job<'_>) -> Option<&'static WalkWork> {
    Preset::find(&job.spec.preset).map(|preset| &preset.work)
}

fn times_calls(job: &Job<'_>) -> bool {
    work(job).is_some_and(|work| work.times_calls)
}

/// Returns the command of a method, if the method exists here, with an option of the engine's methods.
fn command(
    launcher: &Launcher,
    method: &Method,
    root: &Path,
    runs: usize,
    option: Option<&str>,
) -> Result<Command, Failure> {
    match &method.origin {
        Origin::Engine => Ok(engine_command(&launcher.program, method, root, runs, option)),
        Origin::Floor => Ok(engine_command(&launcher.program, method, root, runs, None)),
        Origin::Contender(contender) => {
            Ok(contender.command(launcher.built(&contender.name)?, &method.name, root, runs))
        }
        Origin::Peer(peer) => peer.command(root).ok_or_else(Failure::unknown),
        Origin::External(external) => Ok(External::command(&external.words, &[("root", root)])),
    }
}

/// Returns the command of a method of the engine, with an option of `lab method`.
pub(crate) fn engine_command(
    program: &Path,
    method: &Method,
    root: &Path,
    runs: usize,
    option: Option<&str>,
) -> Command {
    let mut command = Command::new(program);
    command.arg("method").args(option);
    command.arg(&method.name).arg(root).arg(runs.to_string());
    command
}

/// Checks that the trees of a session have not changed since it began.
pub fn check_unchanged(spec: &SessionSpec) -> Result<(), String> {
    spec.datasets.iter().try_for_each(|dataset| {
        let (before, mut now) = (&dataset.inventory, Inventory::of(&dataset.root));
        // A session of an older version has no digest.
        now.digest = now.digest.filter(|_| before.digest.is_some());
        if now == *before {
            return Ok(());
        }
        let (then, now) = (dataset.expected, now.work());
        let how = match now == then {
            true => "as many files, directories and bytes, but other entries".to_owned(),
            false => format!("{now}, then {then}"),
        };
        Err(format!("'{}' has changed since the session began: {how}", dataset.root.display()))
    })
}

/// Returns a tree as a dataset. The reference walk counts it, and so brings it into memory as far as it
/// fits.
pub fn dataset(name: String, root: PathBuf) -> Dataset {
    let inventory = Inventory::of(&root);
    let file_system = FileSystem::of(&root);
    let expected = inventory.work();
    Dataset { name, root, file_system, expected, inventory, ..Dataset::default() }
}
