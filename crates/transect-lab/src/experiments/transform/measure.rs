//! The transform experiment: every cell of a session is a method that transforms files.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use transect_sys::residency;

use super::SyncRule;
use super::floor::Floor;
use super::input::digest_of;
use super::method::Method;
use super::needs::is_primed;
use super::pass::FLOOR_BLOCK;
use super::variant::Variant;
use crate::harness::cache_state::State;
use crate::harness::error::{cannot, cannot_make};
use crate::harness::experiment::{CountPart, Experiment, Job, Launcher, Output};
use crate::harness::launch::{Failure, Usage};
use crate::harness::log::FileEvidence;
use crate::harness::machine::memory;
use crate::harness::protocol::RunLine;
use crate::harness::scratch::Scratch;
use crate::harness::work::Work;
use crate::rivals::external::External;
use crate::spec::transform::{Digests, Rules};
use crate::spec::{Cell, Dataset, ENGINE, SessionSpec};

/// The maximum time to wait for devices to finish earlier writes.
const SETTLING: Duration = Duration::from_millis(500);

/// The amount of unfinished writes that counts as none, in bytes: other processes write, too.
const NOISE: u64 = 1 << 20;

#[derive(Debug)]
pub struct TransformExperiment<'m> {
    methods: &'m [Method],
    launcher: &'m Launcher,
    scratch: &'m Scratch,
}

impl<'m> TransformExperiment<'m> {
    pub fn new(methods: &'m [Method], launcher: &'m Launcher, scratch: &'m Scratch) -> Self {
        Self { methods, launcher, scratch }
    }

    fn nothing_of(&self, dataset: &Dataset) -> Result<Dataset, String> {
        let empty = self.scratch.input(0);
        if !empty.exists() {
            super::create(&empty, 0).map_err(|error| transect::reason(&error))?;
        }
        let expected = Work { bytes: 0, ..dataset.expected };
        Ok(Dataset { expected, ..dataset.clone() })
    }

    fn clear(&self) -> Result<(), String> {
        self.scratch.clear().map_err(cannot("create", &self.scratch.output()))
    }

    fn clear_and_settle(&self) -> Result<(), String> {
        self.clear()?;
        settle();
        Ok(())
    }

    fn input_of(&self, dataset: &Dataset) -> PathBuf {
        self.scratch.input(dataset.expected.bytes)
    }

    fn verify_output(
        &self,
        job: &Job<'_>,
        runs: &[RunLine],
        seen: &FileEvidence,
    ) -> Result<(), String> {
        let Job { spec, cell, dataset, .. } = *job;
        if let Some(line) = runs.iter().find(|line| line.work != dataset.expected) {
            return Err(format!("{} read", line.work));
        }
        let (digests, rules) = (digests(dataset), rules(spec));
        let (kind, expected) = match floor_of(cell) {
            Some(floor) if !floor.writes() => {
                let written = seen.written;
                return written
                    .map_or(Ok(()), |it| Err(format!("an output of {it} bytes, not none")));
            }
            Some(floor) if !floor.copies() => {
                let is_whole = seen.written == Some(seen.bytes);
                return if is_whole { Ok(()) } else { Err(of_length(seen)) };
            }
            Some(_) => (super::Kind::Copy, &digests.input),
            None => (rules.kind, &digests.output),
        };
        let is_ours = cell.kind == ENGINE;
        verify_digest(rules.kind, is_ours, runs, &digests.input)?;
        // Only a third-party program can miss the sync: the lab's methods receive the rule as an argument.
        let late = seen.unwritten.filter(|&bytes| bytes > 0 && cell.command.is_some());
        if let (SyncRule::Inside, Some(bytes)) = (rules.sync, late) {
            return Err(format!("an output of which {bytes} bytes were not on the device"));
        }
        let resized = kind == super::Kind::Zstd;
        if seen.written.is_none() || (!resized && seen.written != Some(seen.bytes)) {
            return Err(of_length(seen));
        }
        match digest_of(&self.scratch.output(), kind) {
            Ok(found) if found == *expected => Ok(()),
            Ok(found) => Err(format!("an output with the digest {found}, not {expected}")),
            Err(reason) => Err(format!("an output that cannot be checked: {reason}")),
        }
    }
}

fn floor_of(cell: &Cell) -> Option<Floor> {
    let variant: Variant = cell.method.parse().ok()?;
    Floor::find(&variant.method).filter(|_| cell.is_floor())
}

pub fn rules(spec: &SessionSpec) -> Rules {
    spec.transform.expect("BUG: a session of transforms has rules")
}

fn digests(dataset: &Dataset) -> &Digests {
    dataset.digests.as_ref().expect("BUG: a session of transforms has no other datasets")
}

/// Verifies the digest that a run reports. Methods of this program have to report one; others may.
fn verify_digest(
    kind: super::Kind,
    is_ours: bool,
    runs: &[RunLine],
    expected: &str,
) -> Result<(), String> {
    let claimed = runs.iter().find_map(|line| line.digest.as_deref());
    match claimed {
        _ if kind != super::Kind::Blake3 => Ok(()),
        Some(claimed) if claimed != expected => {
            Err(format!("expected the digest {expected}, not {claimed}"))
        }
        None if is_ours => Err(format!("expected the digest {expected}, not none")),
        _ => Ok(()),
    }
}

fn of_length(passed: &FileEvidence) -> String {
    match passed.written {
        Some(written) => format!("an output of {written} bytes, not {}", passed.bytes),
        None => "no output".to_owned(),
    }
}

impl Experiment for TransformExperiment<'_> {
    fn launcher(&self) -> &Launcher {
        self.launcher
    }

    fn is_made(&self, dataset: &Dataset) -> bool {
        self.input_of(dataset).exists()
    }

    fn make(&mut self, dataset: &Dataset) -> Result<(), String> {
        let input = self.input_of(dataset);
        let made = super::create(&input, dataset.expected.bytes);
        made.map_err(cannot("create", &input))
    }

    /// Removes the output, and makes the state of the input. If that is warm, the cell first runs once without
    /// counting.
    fn make_state(
        &mut self,
        job: &Job<'_>,
    ) -> Result<Result<Option<FileEvidence>, Failure>, String> {
        let Job { dataset, state, .. } = *job;
        let not_made = |error| cannot_make(state)(error);
        let input = self.input_of(dataset);
        self.clear_and_settle()?;
        make(state, &input).map_err(not_made)?;
        let mut primed = None;
        if is_primed(state) {
            primed = match self.run(job) {
                Ok(output) => Some(output.usage),
                Err(failure) => return Ok(Err(failure)),
            };
            // Without waiting for writes: a guest may return memory to its host after some seconds.
            self.clear()?;
            make(state, &input).map_err(not_made)?;
        }
        let resident = look(state, &input).map_err(not_made)?;
        let bytes = dataset.expected.bytes;
        Ok(Ok(Some(FileEvidence { bytes, resident, written: None, unwritten: None, primed })))
    }

    fn command(&self, job: &Job<'_>) -> Result<Command, Failure> {
        let Job { spec, cell, dataset, .. } = *job;
        let rules = rules(spec);
        let input = &self.input_of(dataset);
        if let Some(words) = &cell.command {
            let output = self.scratch.output();
            return Ok(External::command(words, &[("in", input), ("out", &output)]));
        }
        let variant: Variant = cell.method.parse().map_err(|_| Failure::unknown())?;
        let method = self.methods.iter().find(|known| known.name == variant.method);
        let output = self.scratch.output();
        let (kind, sync) = (rules.kind.as_str(), rules.sync.as_str());
        let Some(contender) = method.ok_or_else(Failure::unknown)?.contender() else {
            let mut command = Command::new(&self.launcher.program);
            command.args(["pass", "--kind", kind, "--sync", sync]);
            command.arg(variant.to_string()).arg(input).arg(output);
            return Ok(command);
        };
        let built = self.launcher.built(&contender.name)?;
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

    fn verify(
        &mut self,
        job: &Job<'_>,
        output: &Output,
        files: Option<&mut FileEvidence>,
    ) -> Result<(), String> {
        let files = files.expect("BUG: the state of a transform is one of files");
        (files.written, files.unwritten) = left_by(&self.scratch.output());
        self.verify_output(job, &output.runs, files)
    }

    fn end(&mut self) -> Result<(), String> {
        self.clear_and_settle()
    }

    fn count_command(&mut self, job: &Job<'_>, part: CountPart) -> Result<(Command, u64), String> {
        let dataset = match part {
            CountPart::StartUp => &self.nothing_of(job.dataset)?,
            CountPart::Work => job.dataset,
        };
        self.clear_and_settle()?;
        let command = self.command(&Job { dataset, ..*job })?;
        Ok((command, job.dataset.expected.files))
    }

    fn start_up(&mut self, job: &Job<'_>) -> Result<Usage, String> {
        let nothing = &self.nothing_of(job.dataset)?;
        self.scratch.clear().map_err(|error| transect::reason(&error))?;
        Ok(self.run(&Job { dataset: nothing, ..*job })?.usage)
    }
}

/// Makes the state of a file, not of the whole machine, which needs no privileges.
fn make(state: State, path: &Path) -> io::Result<()> {
    let read = || io::copy(&mut File::open(path)?, &mut io::sink()).map(drop);
    match state {
        State::AsIs => Ok(()),
        State::Cold => residency::drop_pages(&residency::open(path)?),
        State::Warm if !residency::IS_REPORTED => read(),
        State::Warm => {
            let there = residency::residency(&residency::open(path)?)?;
            if there.resident < there.bytes { read() } else { Ok(()) }
        }
    }
}

/// Returns how much of a file is in memory, in bytes; `None` if the state needs no proof, or the system does not
/// report it.
fn look(state: State, path: &Path) -> io::Result<Option<u64>> {
    if state == State::AsIs || !residency::IS_REPORTED {
        return Ok(None);
    }
    Ok(Some(residency::residency(&residency::open(path)?)?.resident))
}

/// Returns the length of an output, and how much of it is not on the device; `None` if there is none, or the
/// system does not report it.
fn left_by(output: &Path) -> (Option<u64>, Option<u64>) {
    let Ok(file) = residency::open(output) else { return (None, None) };
    let length = transect_sys::file::attributes_of(&file).ok().and_then(|it| it.size());
    let there = residency::residency(&file).ok();
    (length, there.and_then(|it| Some(it.dirty?.saturating_add(it.writeback?))))
}

/// Waits until unfinished writes reach the devices, at most for [`SETTLING`].
fn settle() {
    let began = Instant::now();
    while began.elapsed() < SETTLING && memory("Writeback").is_some_and(|bytes| bytes > NOISE) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    #[test]
    fn reported_digest_has_to_match() {
        let work = Work { files: 1, directories: 0, bytes: 7, errors: 0 };
        let says = |digest: Option<&str>| {
            [RunLine { digest: digest.map(str::to_owned), ..RunLine::new(work, 1) }]
        };
        let wrong =
            |kind, is_ours, digest| verify_digest(kind, is_ours, &says(digest), "abc").is_err();
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
