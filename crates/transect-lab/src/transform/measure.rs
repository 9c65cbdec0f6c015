//! Passes, measured: every cell of a session is a method that makes an output of an input.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use transect_sys::residency::{self, Residency};

use super::input::digest_of;
use super::method::{How, Method};
use super::pass::FLOOR_BLOCK;
use super::rules::Rules;
use super::scratch::Scratch;
use super::variant::Variant;
use crate::launch::{Failure, RunLine, Usage, launch};
use crate::record::{Cell, Header, Instead, Outcome, Place};
use crate::session::{Error, Launcher, Measure};
use crate::state::{Probe, State, VOID_RETRIES};
use crate::work::Work;

/// The longest that is waited for devices to have written what does not count any more.
const SETTLING: Duration = Duration::from_millis(500);

/// What may be on its way to devices, in KiB, where nothing is: others share the machine.
const NOISE: u64 = 1024;

/// A time below which a ratio of processor times says nothing, in nanoseconds.
const COARSE: u64 = 5_000_000;

/// What was looked at before and after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
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

impl Passed {
    /// Returns the processor time of the run before over that of the measured one, unless one of them
    /// is too short to say.
    pub(crate) fn fresh_over(&self, measured: &Usage) -> Option<f64> {
        let [first, second] =
            [&self.primed, measured].map(|usage| usage.user_ns.saturating_add(usage.system_ns));
        (first >= COARSE && second >= COARSE).then(|| first as f64 / second as f64)
    }
}

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
    fn command(&self, cell: &Cell, rules: Rules, input: &Path) -> Result<Command, Failure> {
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
        header: &Header,
        input: &Path,
    ) -> Result<(Vec<RunLine>, Usage), Failure> {
        let rules = header.transform.expect("BUG: a session of transforms has rules");
        launch(self.command(cell, rules, input)?, 1, Duration::from_secs(header.limit))
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
        header: &Header,
        place: &Place,
        state: State,
    ) -> Result<Outcome, Error> {
        let input = self.scratch.input(place.expected.bytes);
        let not_made = |error| Error::State(state, error);
        make(state, &input).map_err(not_made)?;
        self.clear()?;
        let primed = match self.run(cell, header, &input) {
            Ok((_, primed)) => primed,
            Err(failure) => return Ok(Outcome::Failed(failure)),
        };
        // At once: memory that is free for seconds may be given back to a host.
        self.scratch.clear().map_err(|error| Error::Scratch(self.scratch.output(), error))?;
        make(state, &input).map_err(not_made)?;
        let resident = look(state, &input).map_err(not_made)?.map(|it| it.resident);
        let bytes = place.expected.bytes;
        if resident.and_then(|it| state.is_proved_by_residency(it, bytes)) == Some(false) {
            let resident = resident.unwrap_or_default();
            return Ok(Outcome::Void { instead: Instead::Resident { resident, bytes } });
        }
        let probe = Probe::begin();
        let ran = self.run(cell, header, &input);
        let read_kib = probe.end();
        let (runs, usage) = match ran {
            Ok(ran) => ran,
            Err(failure) => return Ok(Outcome::Failed(failure)),
        };
        let (written, unwritten) = left_by(&self.scratch.output());
        let passed = Box::new(Passed { bytes, resident, written, unwritten, primed });
        Ok(match self.disproof(cell, header, place, &runs, &passed) {
            Some(found) => Outcome::Wrong { found },
            None => Outcome::Right { runs, usage, read_kib, passed: Some(passed) },
        })
    }

    /// Returns what is wrong with what a run made, if anything is.
    fn disproof(
        &self,
        cell: &Cell,
        header: &Header,
        place: &Place,
        runs: &[RunLine],
        passed: &Passed,
    ) -> Option<String> {
        let expected = Work { files: 1, directories: 0, bytes: passed.bytes, errors: 0 };
        if let Some(line) = runs.iter().find(|line| line.work != expected) {
            return Some(format!("{} read", line.work));
        }
        let variant: Variant = cell.method.parse().ok()?;
        let method = self.methods.iter().find(|known| known.name == variant.method)?;
        let digests = place.digests.as_ref().expect("BUG: the place of a transform has digests");
        let kind = header.transform.expect("BUG: a session of transforms has rules").kind;
        let (kind, expected) = match method.how {
            How::Floor(floor) if !floor.writes() => {
                return passed.written.map(|bytes| format!("an output of {bytes} bytes, not none"));
            }
            How::Floor(floor) if !floor.copies() => {
                let whole = passed.written == Some(passed.bytes);
                return (!whole).then(|| of_length(passed));
            }
            How::Floor(_) => (super::Kind::Copy, &digests.input),
            How::Engine(_) | How::Contender(_) => (kind, &digests.output),
        };
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

fn of_length(passed: &Passed) -> String {
    match passed.written {
        Some(written) => format!("an output of {written} bytes, not {}", passed.bytes),
        None => "no output".to_owned(),
    }
}

impl Measure for Passes<'_> {
    fn measure(
        &mut self,
        header: &Header,
        cell: &Cell,
        place: usize,
        pass: usize,
    ) -> Result<Outcome, Error> {
        let (place, state) = (&header.places[place], header.passes[pass]);
        let mut outcome = self.attempt(cell, header, place, state)?;
        for _ in 1..VOID_RETRIES {
            if !matches!(outcome, Outcome::Void { .. }) {
                break;
            }
            outcome = self.attempt(cell, header, place, state)?;
        }
        self.clear()?;
        Ok(outcome)
    }
}

/// Makes a state of a file, not of the whole machine: that takes no privilege.
fn make(state: State, input: &Path) -> io::Result<()> {
    match state {
        State::AsIs => Ok(()),
        State::Cold => residency::drop_pages(&residency::open(input)?),
        State::Warm => {
            let there = residency::residency(&residency::open(input)?)?;
            if there.resident < there.bytes {
                io::copy(&mut File::open(input)?, &mut io::sink())?;
            }
            Ok(())
        }
    }
}

/// Returns how much of a file is in memory, if that matters.
fn look(state: State, input: &Path) -> io::Result<Option<Residency>> {
    match state {
        State::AsIs => Ok(None),
        State::Cold | State::Warm => residency::residency(&residency::open(input)?).map(Some),
    }
}

/// Returns the length of an output, and how much of it is not on the device; nothing if there is no
/// output, or the system does not tell.
fn left_by(output: &Path) -> (Option<u64>, Option<u64>) {
    let Ok(file) = residency::open(output) else { return (None, None) };
    let length = transect_sys::file::attributes_of(&file).ok().and_then(|it| it.size());
    let unwritten = residency::residency(&file)
        .ok()
        .and_then(|there| Some(there.dirty?.saturating_add(there.writeback?)));
    (length, unwritten)
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
