//! Runs a scenario with every fault in every call, and checks the guarantees.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use transect_testkit::faults::{self, Call, End, Errno, Fault, FaultPoint, Outcome};
use transect_testkit::{Mount, TempDir, loudly_skip};

use crate::snapshot::{Content, Snapshot, snapshot};

/// The variable that requests all faults, and a table row for each scenario.
const WHOLE: &str = "TRANSECT_TORTURE";

/// The variable that selects the part of a library to run in a process started for it.
pub(crate) const ROLE: &str = "TRANSECT_FAULTS_ROLE";

/// The program of a scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Program {
    /// `transect` with these arguments.
    Transect(&'static [&'static str]),
    /// A part of a library: this test binary, started in the role of this name.
    Library(&'static str),
}

/// Mounts a file system on the folder of the first path. Its image may be at the second one.
pub(crate) type MakeMount = fn(&Path, &Path) -> Result<Mount, String>;

/// An operation, and its guarantees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Creates the files in an empty folder, which then is the working directory.
    pub(crate) build: fn(&Path),
    pub(crate) program: Program,
    pub(crate) input: &'static [u8],
    /// The file in the folder that receives standard output.
    pub(crate) stdout: Option<&'static str>,
    /// Files that only `again` checks.
    pub(crate) ignored: &'static [&'static str],
    /// A shell script to run after a failure, without a fault. The result must then equal that of a
    /// run without faults.
    pub(crate) again: Option<&'static str>,
    /// Removes differences between runs from the output.
    pub(crate) normalize: fn(String) -> String,
    /// Checks additional guarantees.
    pub(crate) also: fn(&Ended<'_>) -> Result<(), String>,
    /// Counts only calls on files of the folder.
    pub(crate) inside_only: bool,
    /// Starts to count at the first call on a path with this end.
    pub(crate) begins_at: Option<&'static str>,
    /// The number of runs in a sample.
    pub(crate) sample: usize,
    /// Calls that are tested with all their faults even in a sample, because a defect was found
    /// there: their names, and the ends of their paths. Of many on the same file, the first two and
    /// the last.
    pub(crate) always: &'static [(&'static str, &'static str)],
    /// Mounts a file system of its own on the folder.
    pub(crate) mount: Option<MakeMount>,
}

/// A scenario with the usual guarantees.
pub(crate) const PLAIN: Scenario = Scenario {
    name: "",
    build: |_| {},
    program: Program::Transect(&[]),
    input: b"",
    stdout: None,
    ignored: &[],
    again: None,
    normalize: |text| text,
    also: |_| Ok(()),
    inside_only: false,
    begins_at: None,
    sample: 48,
    always: &[],
    mount: None,
};

/// A run that has ended.
pub(crate) struct Ended<'a> {
    pub(crate) code: i32,
    pub(crate) stdout: &'a str,
    pub(crate) stderr: &'a str,
    pub(crate) before: &'a Snapshot,
    pub(crate) found: &'a Snapshot,
}

/// Runs a scenario with every fault, or with a fixed sample.
///
/// # Panics
/// If a guarantee is broken.
pub(crate) fn torture(scenario: &Scenario) {
    if std::env::var_os(ROLE).is_some() {
        return;
    }
    if let Some(reason) = faults::unavailable_reason() {
        return loudly_skip(scenario.name, reason);
    }
    let reference = Run::new(scenario, None);
    let said = reference.describe(scenario);
    assert_eq!(reference.outcome.end, End::Code(0), "{said}");
    let calls = &reference.outcome.calls;
    let is_whole = std::env::var_os(WHOLE).is_some();
    let chosen = if is_whole { points(calls) } else { sample(calls, scenario) };
    let mut tally: BTreeMap<Verdict, usize> = BTreeMap::new();
    let mut defects = Vec::new();
    for &point in &chosen {
        let run = Run::new(scenario, Some(point));
        let verdict = run.judge(scenario, &reference, point).unwrap_or_else(|why| {
            defects.push(format!("{why}\n{}", run.describe(scenario)));
            Verdict::Defect
        });
        *tally.entry(verdict).or_default() += 1;
    }
    let count = |verdict| tally.get(&verdict).copied().unwrap_or(0);
    if is_whole {
        println!(
            "TORTURE | {} | {} | {} | {} | {} | {} | {} |",
            scenario.name,
            reference.outcome.calls.len(),
            chosen.len(),
            count(Verdict::AsWithout),
            count(Verdict::Reported),
            count(Verdict::NotReached),
            defects.len()
        );
    }
    let shown: Vec<&str> = defects.iter().take(8).map(String::as_str).collect();
    assert!(
        defects.is_empty(),
        "{}: {} of {} runs broke a promise\n\n{}",
        scenario.name,
        defects.len(),
        chosen.len(),
        shown.join("\n\n")
    );
    assert!(count(Verdict::AsWithout) + count(Verdict::Reported) > 0, "no fault was met");
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// The same result and exit code as without a fault.
    AsWithout,
    /// An error was reported, and all files are old or new.
    Reported,
    /// The call was not made in this run.
    NotReached,
    Defect,
}

/// Returns every fault of every call; device faults also as persistent ones.
fn points<'a>(calls: impl IntoIterator<Item = &'a Call>) -> Vec<FaultPoint> {
    let lasting = [Errno::EIO, Errno::EMFILE, Errno::ENOSPC].map(Fault::Error);
    let mut points = Vec::new();
    for call in calls {
        for &fault in &call.faults {
            let point = FaultPoint { name: call.name, nth: call.nth, fault, persists: false };
            points.push(point);
            if lasting.contains(&fault) {
                points.push(FaultPoint { persists: true, ..point });
            }
        }
    }
    points
}

/// Returns a sample of points, the same on every machine.
fn sample(calls: &[Call], scenario: &Scenario) -> Vec<FaultPoint> {
    let same = |a: &Call, b: &Call| a.name == b.name && a.subject == b.subject;
    let is_chosen = |call: &&Call| {
        let mut always = scenario.always.iter();
        let earlier =
            calls.iter().filter(|other| same(other, call) && other.nth < call.nth).count();
        let is_last = !calls.iter().any(|other| same(other, call) && other.nth > call.nth);
        (earlier < 2 || is_last)
            && always.any(|(name, end)| call.name == *name && call.subject.ends_with(end))
    };
    let (chosen, others): (Vec<&Call>, Vec<&Call>) = calls.iter().partition(is_chosen);
    let mut points = points(others);
    let key = |point: &FaultPoint| {
        let text = format!("{}{}{}{}", point.name, point.nth, point.fault.name(), point.persists);
        // FNV-1a, because its values never change.
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    points.sort_by_key(key);
    points.truncate(scenario.sample);
    points.extend(crate::torture::points(chosen));
    points
}

/// One run, and its outcome.
struct Run {
    _mount: Option<Mount>,
    arena: TempDir,
    outcome: Outcome,
    before: Snapshot,
    found: Snapshot,
}

/// Files that the dynamic loader opens before the program starts, and paths that are not files.
const NOT_COUNTED: [&str; 9] = [
    "/lib",
    "/usr",
    "/etc/",
    "pipe:",
    "socket:",
    "/dev/",
    "anon_inode:[event",
    "anon_inode:[signal",
    "/proc/self/maps",
];

impl Run {
    fn new(scenario: &Scenario, point: Option<FaultPoint>) -> Self {
        let arena = TempDir::new();
        let work = arena.join("work");
        let mount = scenario.mount.map(|mount| mount(&work, &arena.join("image")).unwrap());
        std::fs::create_dir_all(&work).unwrap();
        (scenario.build)(&work);
        let before = snapshot(&work);
        let mut command = match scenario.program {
            Program::Transect(arguments) => {
                let mut command = faults::command(env!("CARGO_BIN_EXE_transect"));
                command.args(arguments);
                command
            }
            Program::Library(role) => {
                let mut command = faults::command(std::env::current_exe().unwrap());
                command.args(["library", "--exact", "--nocapture", "--test-threads=1", "-q"]);
                command.env(ROLE, role);
                command
            }
        };
        surround(&mut command, arena.path());
        match scenario.stdout {
            Some(name) => command.stdout(File::create(arena.join(name)).unwrap()),
            None => command.stdout(std::process::Stdio::piped()),
        };
        let inside = arena.path().to_str().unwrap().to_owned();
        let begun = Cell::new(scenario.begins_at.is_none());
        let counts = move |subject: &str| {
            if !begun.get() {
                begun.set(scenario.begins_at.is_some_and(|end| subject.ends_with(end)));
                return false;
            }
            match scenario.inside_only {
                true => subject.starts_with(&inside),
                false => !NOT_COUNTED.iter().any(|not| subject.starts_with(not)),
            }
        };
        let outcome = faults::run(command, scenario.input, &counts, point).unwrap();
        let found = snapshot(&work);
        Self { _mount: mount, arena, outcome, before, found }
    }

    fn text(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.replace(self.arena.path().to_str().unwrap(), "[arena]")
    }

    fn stdout(&self, scenario: &Scenario) -> String {
        let bytes = match scenario.stdout {
            Some(name) => std::fs::read(self.arena.join(name)).unwrap(),
            None => self.outcome.stdout.clone(),
        };
        (scenario.normalize)(self.text(&bytes))
    }

    fn describe(&self, scenario: &Scenario) -> String {
        let mut text = format!("{:?}\n", self.outcome.end);
        if let Some(hit) = &self.outcome.hit {
            let _ = writeln!(
                text,
                "fault in {} {} of '{}'",
                hit.name,
                hit.nth,
                self.text(hit.subject.as_bytes())
            );
        }
        let streams = [("stdout", &self.outcome.stdout), ("stderr", &self.outcome.stderr)];
        for (name, stream) in streams {
            let shown: String = self.text(stream).chars().take(400).collect();
            let _ = writeln!(text, "----- {name} of {:?}\n{shown}", scenario.program);
        }
        text
    }

    /// Checks a run against the guarantees.
    fn judge(
        &self,
        scenario: &Scenario,
        reference: &Self,
        point: FaultPoint,
    ) -> Result<Verdict, String> {
        let which = format!(
            "{} {} {}{}",
            point.name,
            point.nth,
            point.fault.name(),
            if point.persists { " that lasts" } else { "" }
        );
        self.judge_all(scenario, reference, point).map_err(|why| format!("* {which}: {why}"))
    }

    fn judge_all(
        &self,
        scenario: &Scenario,
        reference: &Self,
        point: FaultPoint,
    ) -> Result<Verdict, String> {
        let Some(hit) = &self.outcome.hit else {
            return Ok(Verdict::NotReached);
        };
        let code = match self.outcome.end {
            End::Code(code @ 0..=2) => code,
            end => return Err(format!("it ended with {end:?}")),
        };
        let stderr = self.text(&self.outcome.stderr);
        if stderr.contains("panicked at") {
            return Err("it panicked".to_owned());
        }
        let is_invisible = match point.fault {
            Fault::Short => true,
            Fault::Error(Errno::EINTR) => hit.is_restartable,
            Fault::Error(_) | Fault::Torn => false,
        };
        if is_invisible && code != 0 {
            return Err("it has to try again, and failed".to_owned());
        }
        let cannot_clean = point.persists || matches!(hit.name, "unlink" | "unlinkat");
        self.judge_files(scenario, reference, code == 0, cannot_clean, &stderr)?;
        let stdout = self.stdout(scenario);
        let ended = Ended {
            code,
            stdout: &stdout,
            stderr: &stderr,
            before: &self.before,
            found: &self.found,
        };
        (scenario.also)(&ended)?;
        if code == 0 {
            let expected = reference.stdout(scenario);
            if stdout != expected {
                return Err(format!(
                    "exit 0, but the output is wrong:\n{}",
                    difference(&expected, &stdout)
                ));
            }
            return Ok(Verdict::AsWithout);
        }
        // In the output of queries, an error object counts as a message.
        let is_answered = stdout.contains("\"error\":{");
        if !(is_answered || stderr.contains("cannot ") || stderr.contains("kept ")) {
            return Err("no message reports the failure".to_owned());
        }
        self.try_again(scenario, reference)?;
        Ok(Verdict::Reported)
    }

    /// Checks that every file is old or new; after a success, new.
    fn judge_files(
        &self,
        scenario: &Scenario,
        reference: &Self,
        is_success: bool,
        cannot_clean: bool,
        stderr: &str,
    ) -> Result<(), String> {
        let is_ignored = |path: &Path| scenario.ignored.iter().any(|name| path.starts_with(name));
        for (path, node) in &self.found {
            if is_ignored(path) {
                continue;
            }
            let shown = path.display();
            let before = self.before.get(path);
            let after = reference.found.get(path);
            let is_old = before.is_some_and(|before| node.is_untouched(before));
            let is_new = after.is_some_and(|after| node.is_like(after));
            // Lost metadata is reported, and the content is complete.
            let is_told = after.is_some_and(|after| node.has_content_of(after))
                && stderr.contains("cannot preserve");
            let is_left = is_temporary(path) && cannot_clean;
            match is_success {
                _ if is_left => {}
                true if is_new || is_told => {}
                false if is_old || is_new || is_told => {}
                _ => {
                    let node = match &node.content {
                        Content::File(bytes) => format!(
                            "{} bytes: {:?}",
                            bytes.len(),
                            String::from_utf8_lossy(&bytes[..bytes.len().min(80)])
                        ),
                        other => format!("{other:?}"),
                    };
                    return Err(format!(
                        "'{shown}' is neither old nor new (success: {is_success}): {node}"
                    ));
                }
            }
        }
        for path in self.before.keys().chain(reference.found.keys()) {
            let may_lack = !reference.found.contains_key(path)
                || !is_success && !self.before.contains_key(path);
            if !self.found.contains_key(path) && !may_lack && !is_ignored(path) {
                return Err(format!("'{}' is missing (success: {is_success})", path.display()));
            }
        }
        Ok(())
    }

    /// Repeats a failed run without a fault, and checks that the result is the same as if nothing
    /// had failed.
    fn try_again(&self, scenario: &Scenario, reference: &Self) -> Result<(), String> {
        let Some(script) = scenario.again else {
            return Ok(());
        };
        let mut command = Command::new("/bin/sh");
        command.args(["-ec", script]).env("TRANSECT", env!("CARGO_BIN_EXE_transect"));
        command.env("LIBRARY", std::env::current_exe().unwrap());
        surround(&mut command, self.arena.path());
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(format!("the next run failed: {}: {stderr}", output.status));
        }
        let found = snapshot(&self.arena.join("work"));
        let is_judged = |path: &&PathBuf| {
            !is_temporary(path) && !scenario.ignored.iter().any(|name| path.starts_with(name))
        };
        let there: Vec<&PathBuf> = found.keys().filter(is_judged).collect();
        let wanted: Vec<&PathBuf> = reference.found.keys().filter(is_judged).collect();
        if there != wanted {
            return Err(format!("after the next run there are {there:?}, not {wanted:?}"));
        }
        for path in wanted {
            // Attributes that the failed run lost are not restored.
            if !found[path].has_content_of(&reference.found[path]) {
                return Err(format!("the next run made something else of '{}'", path.display()));
            }
        }
        Ok(())
    }
}

/// Returns the lines that occur in only one of two texts.
fn difference(expected: &str, said: &str) -> String {
    let only = |sign: char, one: &str, other: &str| {
        let lines = one.lines().filter(|line| !other.lines().any(|there| there == *line)).take(12);
        lines.map(|line| format!("{sign} {line}\n")).collect::<String>()
    };
    only('-', expected, said) + &only('+', said, expected)
}

/// Gives a command its own directories, and a clean environment.
///
/// Removes the library path of Cargo, which makes the loader search a dozen folders at every start:
/// more system calls than most scenarios have of their own.
fn surround(command: &mut Command, arena: &Path) {
    let removed =
        ["LD_LIBRARY_PATH", "LS_COLORS", "RUST_BACKTRACE", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];
    for variable in removed {
        command.env_remove(variable);
    }
    command
        .current_dir(arena.join("work"))
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .env("HOME", arena.join("home"))
        .env("XDG_CACHE_HOME", arena.join("cache"))
        .env("XDG_CONFIG_HOME", arena.join("config"))
        .env("XDG_RUNTIME_DIR", arena.join("runtime"))
        .env("TMPDIR", arena);
}

/// Returns whether a path is a temporary file: `.NAME.PID.N.transect`.
fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.starts_with('.') && name.ends_with(".transect")
}
