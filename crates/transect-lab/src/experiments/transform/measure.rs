//! Passes, measured: every cell of a session is a method that makes an output of an input.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use transect_sys::residency;

use super::external;
use super::floor::Floor;
use super::input::digest_of;
use super::many;
use super::method::{How, Method};
use super::pass::FLOOR_BLOCK;
use super::scratch::Scratch;
use super::spec::{Files, Phase, Rules, Sync};
use super::variant::Variant;
use crate::harness::accesses::Accesses;
use crate::harness::cache_state::{Probe, State, VOID_RETRIES};
use crate::harness::interference::Watch;
use crate::harness::launch::{Failure, RunLine, Usage, launch, time};
use crate::harness::log::{FileEvidence, Instead, Outcome};
use crate::harness::scheduler::{Error, Launcher, Measure};
use crate::harness::work::Work;
use crate::spec::{Cell, Dataset, Payload, SessionSpec};

/// The longest that is waited for devices to have written what does not count any more.
const SETTLING: Duration = Duration::from_millis(500);

/// What may be on its way to devices, in KiB, where nothing is: others share the machine.
const NOISE: u64 = 1024;

/// How often the start of a program is timed.
const STARTS: usize = 5;

/// The kind of the cells of this program.
const ENGINE: &str = "engine";

/// Runs methods that pass over files.
#[derive(Debug)]
pub struct Passes<'m> {
    methods: &'m [Method],
    launcher: &'m Launcher,
    scratch: &'m Scratch,
}

impl<'m> Passes<'m> {
    /// Returns what runs these methods in a folder that holds the inputs.
    pub fn new(methods: &'m [Method], launcher: &'m Launcher, scratch: &'m Scratch) -> Self {
        Self { methods, launcher, scratch }
    }

    /// Returns what makes a process of a cell.
    fn command(&self, cell: &Cell, rules: Rules, dataset: &Dataset) -> Result<Command, Failure> {
        if let Some(phase) = files_of(dataset).phase {
            let mut command = Command::new(&self.launcher.program);
            command.args(["lab", "pass", "--sync", rules.sync.as_str()]);
            command.args(["--phase", phase.as_str()]);
            command.args(["--files", &dataset.expected.files.to_string(), &cell.method]);
            command.arg(self.scratch.inputs()).arg(self.scratch.outputs());
            return Ok(command);
        }
        let input = &self.scratch.input(dataset.expected.bytes);
        if let Some(words) = &cell.command {
            return Ok(external::command(words, input, &self.scratch.output()));
        }
        let variant: Variant = cell.method.parse().map_err(|_| Failure::unknown())?;
        let method = self.methods.iter().find(|known| known.name == variant.method);
        let output = self.scratch.output();
        let (kind, sync) = (rules.kind.as_str(), rules.sync.as_str());
        match &method.ok_or_else(Failure::unknown)?.how {
            How::Engine(_) | How::Floor(_) => {
                let mut command = Command::new(&self.launcher.program);
                command.args(["lab", "pass", "--kind", kind, "--sync", sync]);
                command.arg(variant.to_string()).arg(input).arg(output);
                Ok(command)
            }
            How::Contender(contender) => {
                let built = self.launcher.built.get(&contender.name);
                let built = built.ok_or_else(Failure::not_built)?;
                let block = variant.block.unwrap_or(FLOOR_BLOCK).to_string();
                let values: [(&str, &Path); 6] = [
                    ("input", input),
                    ("output", &output),
                    ("block", block.as_ref()),
                    ("kind", kind.as_ref()),
                    ("sync", sync.as_ref()),
                    ("hint", (if variant.hint { "sequential" } else { "none" }).as_ref()),
                ];
                Ok(contender.command_with(built, &variant.method, &values))
            }
        }
    }

    /// Runs a cell in one process.
    fn run(
        &self,
        cell: &Cell,
        spec: &SessionSpec,
        dataset: &Dataset,
    ) -> Result<(Vec<RunLine>, Usage), Failure> {
        let rules = rules(spec);
        let (command, limit) =
            (self.command(cell, rules, dataset)?, Duration::from_secs(spec.limit));
        if cell.command.is_none() {
            return launch(command, 1, limit);
        }
        // It has no clock of ours: what it took is what its process took.
        let usage = time(command, limit)?;
        Ok((vec![RunLine::new(dataset.expected, usage.wall_ns)], usage))
    }

    /// Counts the system calls of a cell for each of its files, in a run of its own. What it does to
    /// start is counted with nothing to do, and taken off.
    ///
    /// # Errors
    /// What `strace` said, or the system.
    pub fn accesses(
        &self,
        spec: &SessionSpec,
        dataset: usize,
        cell: &Cell,
    ) -> Result<Accesses, String> {
        let dataset = &spec.datasets[dataset];
        let files = if files_of(dataset).phase.is_some() { 0 } else { 1 };
        let nothing = self.nothing_of(dataset, files)?;
        let of = |dataset: &Dataset| {
            self.clear().and_then(|()| self.prepare(dataset)).map_err(|error| error.to_string())?;
            let rules = rules(spec);
            let command =
                self.command(cell, rules, dataset).map_err(|failure| failure.to_string())?;
            Accesses::of(&command, self.scratch.folder(), Duration::from_secs(spec.limit))
        };
        let start = of(&nothing)?;
        let accesses = of(dataset)?.without(start);
        Ok(Accesses { entries: dataset.expected.files, ..accesses })
    }

    /// Returns a place where so many files hold nothing.
    fn nothing_of(&self, dataset: &Dataset, files: u64) -> Result<Dataset, String> {
        let empty = self.scratch.input(0);
        if !empty.exists() {
            super::create(&empty, 0).map_err(|error| transect::reason(&error))?;
        }
        let expected = Work { files, directories: 0, bytes: 0, errors: 0 };
        Ok(Dataset { expected, ..dataset.clone() })
    }

    /// Times what a program takes with an input that holds nothing, in nanoseconds, several times over.
    ///
    /// # Errors
    /// Whatever it did instead, or the system.
    pub fn start_up(&self, spec: &SessionSpec, cell: &Cell) -> Result<Vec<u64>, String> {
        let nothing = self.nothing_of(&spec.datasets[0], 1)?;
        let once = || {
            self.scratch.clear().map_err(|error| transect::reason(&error))?;
            let ran = self.run(cell, spec, &nothing).map_err(|failure| failure.to_string())?;
            Ok(ran.1.wall_ns)
        };
        // The first finds the program as the last one of a session has left it, long ago.
        once()?;
        (0..STARTS).map(|_| once()).collect()
    }

    /// Returns the floor that a cell is, if it is one.
    fn floor(&self, cell: &Cell) -> Option<Floor> {
        let variant: Variant = cell.method.parse().ok()?;
        let method = self.methods.iter().find(|known| known.name == variant.method)?;
        match method.how {
            How::Floor(floor) if cell.command.is_none() => Some(floor),
            _ => None,
        }
    }

    /// Removes outputs, and waits until nothing is on its way to devices.
    fn clear(&self) -> Result<(), Error> {
        let scratch = |error| Error::Scratch(self.scratch.output(), error);
        self.scratch.clear().map_err(scratch)?;
        settle();
        Ok(())
    }

    /// Measures a cell once: the run that does not count, the state, the run, and what came of it.
    fn attempt(
        &self,
        cell: &Cell,
        spec: &SessionSpec,
        dataset: &Dataset,
        state: State,
    ) -> Result<Outcome, Error> {
        let not_made = |error| Error::State(state, error);
        let read = self.read_in(dataset);
        self.clear()?;
        self.prepare(dataset)?;
        make(state, &read).map_err(not_made)?;
        let primed = match self.run(cell, spec, dataset) {
            Ok((_, primed)) => primed,
            Err(failure) => return Ok(Outcome::Failed(failure)),
        };
        // At once: memory that is free for seconds may be given back to a host.
        self.scratch.clear().map_err(|error| Error::Scratch(self.scratch.output(), error))?;
        self.prepare(dataset)?;
        make(state, &read).map_err(not_made)?;
        let resident = look(state, &read).map_err(not_made)?;
        let bytes = dataset.expected.bytes;
        if resident.and_then(|it| state.is_proved_by_residency(it, bytes)) == Some(false) {
            let resident = resident.unwrap_or_default();
            return Ok(Outcome::Void { instead: Instead::Resident { resident, bytes } });
        }
        let probe = Probe::begin();
        let watch = self.launcher.disturbable.then(Watch::begin);
        let ran = self.run(cell, spec, dataset);
        let read_kib = probe.end();
        let (runs, usage) = match ran {
            Ok(ran) => ran,
            Err(failure) => return Ok(Outcome::Failed(failure)),
        };
        let beside = watch.and_then(|watch| watch.end(&usage)).map(Box::new);
        let (written, unwritten) = left_by(&self.made_in(dataset));
        let unwritten = unwritten.filter(|_| files_of(dataset).phase.is_none_or(Phase::writes));
        let passed = Box::new(FileEvidence { bytes, resident, written, unwritten, primed });
        Ok(match self.disproof(cell, spec, dataset, &runs, &passed) {
            Some(found) => Outcome::Wrong { found },
            None => Outcome::Right { runs, usage, read_kib, beside, files: Some(passed) },
        })
    }

    /// Makes what a run finds, beside its inputs.
    fn prepare(&self, dataset: &Dataset) -> Result<(), Error> {
        let Some(phase) = files_of(dataset).phase else { return Ok(()) };
        let outputs = self.scratch.outputs();
        many::prepare(&outputs, dataset.expected.files as usize, phase)
            .map_err(|error| Error::Scratch(outputs, error))
    }

    /// Returns the files that a run reads.
    fn read_in(&self, dataset: &Dataset) -> Vec<PathBuf> {
        match files_of(dataset).phase {
            None => vec![self.scratch.input(dataset.expected.bytes)],
            Some(Phase::Create) => many::paths(&self.scratch.inputs(), dataset.expected.files),
            Some(_) => self.made_in(dataset),
        }
    }

    /// Returns the files that a run makes.
    fn made_in(&self, dataset: &Dataset) -> Vec<PathBuf> {
        match files_of(dataset).phase {
            None => vec![self.scratch.output()],
            Some(_) => many::paths(&self.scratch.outputs(), dataset.expected.files),
        }
    }

    /// Returns what is wrong with many files, if anything is.
    fn disproof_of_many(&self, dataset: &Dataset) -> Option<String> {
        let digests = &files_of(dataset).digests;
        match many::digest_of_all(&self.scratch.outputs()) {
            Ok(found) if found == digests.output => None,
            Ok(found) => Some(format!("files with the digest {found}, not {}", digests.output)),
            Err(error) => Some(format!("files that cannot be read: {}", transect::reason(&error))),
        }
    }

    /// Returns what is wrong with what a run made, if anything is.
    fn disproof(
        &self,
        cell: &Cell,
        spec: &SessionSpec,
        dataset: &Dataset,
        runs: &[RunLine],
        passed: &FileEvidence,
    ) -> Option<String> {
        if let Some(line) = runs.iter().find(|line| line.work != dataset.expected) {
            return Some(format!("{} read", line.work));
        }
        if files_of(dataset).phase.is_some() {
            return self.disproof_of_many(dataset);
        }
        let digests = &files_of(dataset).digests;
        let rules = rules(spec);
        let (kind, expected) = match self.floor(cell) {
            Some(floor) if !floor.writes() => {
                return passed.written.map(|bytes| format!("an output of {bytes} bytes, not none"));
            }
            Some(floor) if !floor.copies() => {
                let whole = passed.written == Some(passed.bytes);
                return (!whole).then(|| of_length(passed));
            }
            Some(_) => (super::Kind::Copy, &digests.input),
            None => (rules.kind, &digests.output),
        };
        let is_ours = cell.kind == ENGINE;
        if let Some(found) = disproof_of_digest(rules.kind, is_ours, runs, &digests.input) {
            return Some(found);
        }
        // What is said to the others is no concern of a program of somebody else's.
        let late = passed.unwritten.filter(|&bytes| bytes > 0 && cell.command.is_some());
        if let (Sync::Inside, Some(bytes)) = (rules.sync, late) {
            return Some(format!("an output of which {bytes} bytes were not on the device"));
        }
        let resized = kind == super::Kind::Zstd;
        if passed.written.is_none() || (!resized && passed.written != Some(passed.bytes)) {
            return Some(of_length(passed));
        }
        match digest_of(&self.scratch.output(), kind) {
            Ok(found) if found == *expected => None,
            Ok(found) => Some(format!("an output with the digest {found}, not {expected}")),
            Err(reason) => Some(format!("an output that cannot be checked: {reason}")),
        }
    }
}

/// Returns the rules of a session of transforms.
pub fn rules(spec: &SessionSpec) -> Rules {
    spec.experiment.rules().expect("BUG: a session of transforms has rules")
}

/// Returns what the files of a dataset contain.
pub fn files_of(dataset: &Dataset) -> &Files {
    match &dataset.payload {
        Payload::Transform(files) => files,
        _ => unreachable!("BUG: a session of transforms has no other datasets"),
    }
}

/// Returns what is wrong with the digest that a run claims to have found. Who works for this lab has to
/// tell it; others may.
fn disproof_of_digest(
    kind: super::Kind,
    is_ours: bool,
    runs: &[RunLine],
    expected: &str,
) -> Option<String> {
    let claimed = runs.iter().find_map(|line| line.digest.as_deref());
    match claimed {
        _ if kind != super::Kind::Blake3 => None,
        Some(claimed) if claimed != expected => {
            Some(format!("the digest {claimed}, not {expected}"))
        }
        None if is_ours => Some(format!("no digest, not {expected}")),
        _ => None,
    }
}

fn of_length(passed: &FileEvidence) -> String {
    match passed.written {
        Some(written) => format!("an output of {written} bytes, not {}", passed.bytes),
        None => "no output".to_owned(),
    }
}

impl Measure for Passes<'_> {
    fn measure(
        &mut self,
        spec: &SessionSpec,
        cell: &Cell,
        dataset: usize,
        cache_state: usize,
    ) -> Result<Outcome, Error> {
        let (dataset, state) = (&spec.datasets[dataset], spec.cache_states[cache_state]);
        let mut outcome = self.attempt(cell, spec, dataset, state)?;
        for _ in 1..VOID_RETRIES {
            if !matches!(outcome, Outcome::Void { .. }) {
                break;
            }
            outcome = self.attempt(cell, spec, dataset, state)?;
        }
        self.clear()?;
        Ok(outcome)
    }
}

/// Makes a state of some files, not of the whole machine: that takes no privilege.
fn make(state: State, files: &[PathBuf]) -> io::Result<()> {
    files.iter().try_for_each(|path| match state {
        State::AsIs => Ok(()),
        State::Cold => residency::drop_pages(&residency::open(path)?),
        State::Warm => {
            let there = residency::residency(&residency::open(path)?)?;
            if there.resident < there.bytes {
                io::copy(&mut File::open(path)?, &mut io::sink())?;
            }
            Ok(())
        }
    })
}

/// Returns how much of some files is in memory, in bytes, if that matters.
fn look(state: State, files: &[PathBuf]) -> io::Result<Option<u64>> {
    if state == State::AsIs {
        return Ok(None);
    }
    let resident = |path: &PathBuf| Ok(residency::residency(&residency::open(path)?)?.resident);
    files.iter().map(resident).sum::<io::Result<u64>>().map(Some)
}

/// Returns the length of all outputs that are there, and how much of them is not on the device;
/// nothing if there are none, or the system does not tell.
fn left_by(outputs: &[PathBuf]) -> (Option<u64>, Option<u64>) {
    let mut left = (None, None);
    for file in outputs.iter().filter_map(|path| residency::open(path).ok()) {
        let add = |sum: &mut Option<u64>, bytes: Option<u64>| {
            *sum = bytes.map(|bytes| sum.unwrap_or_default().saturating_add(bytes));
        };
        let length = transect_sys::file::attributes_of(&file).ok().and_then(|it| it.size());
        let there = residency::residency(&file).ok();
        let unwritten = there.and_then(|it| Some(it.dirty?.saturating_add(it.writeback?)));
        add(&mut left.0, length);
        add(&mut left.1, unwritten);
    }
    left
}

/// Waits until nothing is on its way to devices, or for a while.
fn settle() {
    let began = Instant::now();
    while began.elapsed() < SETTLING && writeback_kib().is_some_and(|kib| kib > NOISE) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn writeback_kib() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("Writeback:"))?;
    line.trim().split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    #[test]
    fn a_digest_that_is_claimed_has_to_be_right() {
        let work = Work { files: 1, directories: 0, bytes: 7, errors: 0 };
        let says = |digest: Option<&str>| {
            [RunLine { digest: digest.map(str::to_owned), ..RunLine::new(work, 1) }]
        };
        let wrong = |kind, is_ours, digest| {
            disproof_of_digest(kind, is_ours, &says(digest), "abc").is_some()
        };
        for (kind, is_ours, digest, is_wrong) in [
            (Kind::Blake3, true, Some("abc"), false),
            (Kind::Blake3, true, Some("abd"), true),
            (Kind::Blake3, true, None, true),
            (Kind::Blake3, false, None, false),
            (Kind::Blake3, false, Some("abd"), true),
            (Kind::Copy, true, None, false),
        ] {
            assert_eq!(wrong(kind, is_ours, digest), is_wrong, "{kind:?} {is_ours} {digest:?}");
        }
    }
}
