//! An environment for each test, in which a program runs.

#![expect(clippy::disallowed_methods, reason = "tests use plain std::fs")]

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

pub use crate::skip::skip;
use crate::temp::remove_tree;
use crate::{wait_for, wait_until, within, write_script};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

/// Wide enough that no line wraps by accident.
const WIDTH: &str = "100";

/// The user and the group that own nothing.
const NOBODY: u32 = 65534;

/// A temporary directory, and a clean environment. Programs run in the subdirectory `work`.
pub struct TestEnv {
    dir: PathBuf,
    program: PathBuf,
    /// The user's cache directory (`XDG_CACHE_HOME`).
    cache: PathBuf,
    /// Variables that name programs for scripts.
    variables: Vec<(&'static str, PathBuf)>,
}

impl TestEnv {
    /// Creates an environment for a program. The cache is shared by all tests, so that contenders are built
    /// once; `variables` name programs for scripts.
    pub fn new(
        program: impl Into<PathBuf>,
        cache: impl Into<PathBuf>,
        variables: Vec<(&'static str, PathBuf)>,
    ) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let temp = std::env::temp_dir().canonicalize().expect("a place for temporary files");
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = temp.join(format!("transect-test-{}-{number}", std::process::id()));
        // A killed process with the same id may have left it behind.
        let _ = remove_tree(&dir);
        fs::create_dir(&dir).expect("the name is not in use");
        let env = Self { dir, program: program.into(), cache: cache.into(), variables };
        env.chmod(&env.dir, 0o755);
        env.mkdir("");
        fs::create_dir(env.dir.join("runtime")).expect("the directory is new");
        fs::create_dir(env.temporary()).expect("the directory is new");
        env.chmod(&env.temporary(), 0o1777);
        env
    }

    /// Returns the directory for temporary files. Killed programs may leave files there.
    pub fn temporary(&self) -> PathBuf {
        self.dir.join("temporary")
    }

    /// Returns a path in the working directory.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.dir.join("work").join(path)
    }

    /// Creates a directory and its parents, with mode 755 regardless of the umask.
    pub fn mkdir(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = self.path(path);
        let mut missing: Vec<&Path> = path.ancestors().take_while(|dir| !dir.exists()).collect();
        while let Some(dir) = missing.pop() {
            fs::create_dir(dir).expect("a new directory");
            self.chmod(dir, 0o755);
        }
        path
    }

    /// Writes a file of this many incompressible bytes.
    pub fn write(&self, path: impl AsRef<Path>, bytes: usize) -> PathBuf {
        let path = self.path(path);
        let mut state = 88_172_645_463_325_252_u64;
        let noise = (0..bytes).map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[0]
        });
        let mut file = fs::File::create(&path).expect("a new file");
        file.write_all(&noise.collect::<Vec<u8>>()).expect("space for a file");
        // Some file systems report the blocks of a file only after it is synced.
        file.sync_all().expect("a file can be written out");
        path
    }

    /// Writes a file of text.
    pub fn text(&self, path: impl AsRef<Path>, text: &str) {
        fs::write(self.path(path), text).expect("a new file");
    }

    /// Writes a program, a script.
    pub fn script(&self, path: impl AsRef<Path>, text: &str) {
        write_script(&self.path(path), text);
    }

    /// Sets the permission bits of a file.
    pub fn chmod(&self, path: &Path, mode: u32) {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(path, mode).expect("a file of our own");
    }

    /// Returns a command with a cleared environment that begins in the working directory.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear();
        // The path of programs, and the target of coverage data.
        for key in ["PATH", "LLVM_PROFILE_FILE"] {
            if let Some(value) = std::env::var_os(key) {
                command.env(key, value);
            }
        }
        command
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .env("COLUMNS", WIDTH)
            // On a terminal, `transect man` starts a pager, which would wait for a key. Bold letters are
            // printed twice, with a backspace in between.
            .env("MANPAGER", "sed s/.\u{8}//g")
            .envs(self.variables.iter().map(|(name, program)| (name, program)))
            // Profiles and series are isolated.
            .env("XDG_CONFIG_HOME", self.dir.join("config"))
            .env("XDG_DATA_HOME", self.dir.join("data"))
            .env("XDG_STATE_HOME", self.dir.join("state"))
            .env("XDG_RUNTIME_DIR", self.dir.join("runtime"))
            .env("TMPDIR", self.temporary())
            .env("XDG_CACHE_HOME", &self.cache)
            .current_dir(self.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Lets a guard end the program together with its children.
            .process_group(0);
        command
    }

    /// Runs the program to its end.
    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        self.start(args).finish()
    }

    /// Checks that the help of a command fits: `--help` into 80 columns, `-h` into so many lines.
    pub fn help_fits(&self, command: &str, lines: usize) {
        let mut program = self.command(&self.program);
        program.args(command.split_whitespace()).arg("--help").env("COLUMNS", "80");
        let long = Running::start(&mut program).finish().exits(0).quiet().stdout_text();
        let wide = long.lines().find(|line| line.chars().count() > 80);
        assert!(!long.is_empty() && wide.is_none(), "{command} --help: {wide:?}");
        let short = self.run(command.split_whitespace().chain(["-h"])).exits(0).quiet();
        let short = short.stdout_text().lines().count();
        assert!(short <= lines, "{command} -h: {short} lines");
    }

    /// Starts the program, and does not wait for its end.
    pub fn start<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Running {
        let mut command = self.command(&self.program);
        command.args(args);
        Running::start(&mut command)
    }

    /// Runs a shell script, in which `$TRANSECT` is the program.
    pub fn sh(&self, script: &str) -> Output {
        let mut command = self.command("sh");
        command.args(["-c", script]);
        Running::start(&mut command).finish()
    }

    /// Returns whether a program can be started here.
    pub fn has(&self, program: &str) -> bool {
        self.sh(&format!("command -v {program}")).code == Some(0)
    }

    /// Runs the program as an unprivileged user: `nobody`, if the tests run as root. Reports a skip
    /// and returns `None` where that is not possible.
    pub fn run_unprivileged<A: AsRef<OsStr>>(
        &self,
        test: &str,
        args: impl IntoIterator<Item = A>,
    ) -> Option<Output> {
        self.start_unprivileged(test, args).map(Running::finish)
    }

    /// Starts the program as an unprivileged user as [`TestEnv::run_unprivileged`] does, and does not wait for its end.
    pub fn start_unprivileged<A: AsRef<OsStr>>(
        &self,
        test: &str,
        args: impl IntoIterator<Item = A>,
    ) -> Option<Running> {
        let program = self.dir.join("program");
        let runtime = self.dir.join("runtime-unprivileged");
        if !program.exists() {
            // Copied by another process: a file that is open for writing, even in a child that
            // another test has just forked, cannot be executed.
            let copied = self.sh(&format!("cp '{}' ../program", self.program.display()));
            let _ = copied.exits(0);
            self.chmod(&program, 0o755);
            let locked = self.dir.join("locked");
            fs::create_dir(&locked).expect("the name is not in use");
            self.chmod(&locked, 0o000);
            fs::create_dir(&runtime).expect("the name is not in use");
            self.chmod(&runtime, 0o700);
            if self.is_root() {
                chown(&runtime, Some(NOBODY), Some(NOBODY)).expect("root may do that");
            }
        }
        let run = |program: &OsStr, args: Vec<OsString>| {
            let mut command = self.command(program);
            command.args(args).env("XDG_RUNTIME_DIR", &runtime);
            if self.is_root() {
                command.uid(NOBODY).gid(NOBODY);
            }
            command.spawn().map(|child| Running::of(child, &command))
        };
        let enter = vec!["-c".into(), "cd ../locked".into()];
        match run("sh".as_ref(), enter).map(Running::finish) {
            Err(error) => return skip(test, format!("cannot change the user: {error}")),
            Ok(entered) if entered.code == Some(0) => {
                return skip(test, "permissions do not hold here");
            }
            Ok(_) => {}
        }
        match run(program.as_ref(), vec!["--version".into()]).map(Running::finish) {
            Ok(version) if version.code == Some(0) => {}
            _ => {
                return skip(test, "other users cannot run a program in the temporary directory");
            }
        }
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
        Some(run(program.as_ref(), args.collect()).expect("it could be started before"))
    }

    /// Returns whether the tests run as root.
    pub fn is_root(&self) -> bool {
        fs::metadata(&self.dir).expect("our own directory").uid() == 0
    }

    /// Returns the settings for snapshots. They replace everything that differs between runs or
    /// machines.
    pub fn settings(&self) -> insta::Settings {
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        let dir = self.dir.to_str().expect("a temporary directory with a plain name");
        settings.add_filter(&escape(dir), "[temp]");
        for (pattern, replacement) in [
            (r"transect \d+\.\d+\.\d+", "transect [version]"),
            (r"\b[0-9a-f]{64}\b", "[digest]"),
            (r"in (\d[\d.]* (µs|ms|s)|\d+ min \d+ s)", "in [time]"),
            (r"[\d,]+ entries/s", "[rate] entries/s"),
            (r"\b\d+ threads?\b", "[threads]"),
            (r"\((getdents-statx|getdents-fstatat|portable), ", "([reader], "),
            // Disk usage depends on the file system.
            (
                r"disk usage  \S+ \S+ \(\S+ \S+ in directories\)",
                "disk usage  [size] ([size] in directories)",
            ),
            (r"(?m)^  disk  .*\n", ""),
            (r"(?m)^disk: .*\n", ""),
            (r"(?m)^ +\d[\d.]* [KMGTPE]?i?B  ", "  [size]  "),
        ] {
            settings.add_filter(pattern, replacement);
        }
        settings
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        // What a test started may still write there.
        let _ = remove_tree(&self.dir);
    }
}

/// Returns a pattern that matches a text.
fn escape(text: &str) -> String {
    let mut pattern = String::new();
    for character in text.chars() {
        if !character.is_alphanumeric() && character != '/' {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// A started program, whose end a test can wait for. A test that fails before kills it, with all that it
/// started.
pub struct Running {
    /// The process, with its pipes.
    pub child: Child,
    what: String,
}

impl Running {
    /// Starts a command. Panics if it cannot be started.
    pub fn start(command: &mut Command) -> Self {
        match command.spawn() {
            Ok(child) => Self::of(child, command),
            Err(error) => panic!("cannot start {command:?}: {error}"),
        }
    }

    fn of(child: Child, command: &Command) -> Self {
        let mut what = format!("{:?}", command.get_program());
        for arg in command.get_args() {
            let _ = write!(what, " {arg:?}");
        }
        Self { child, what }
    }

    /// Sends a signal. Sends it directly: a helper program would be late on a busy machine.
    pub fn signal(&self, signal: Signal) {
        // Fails if the process has ended.
        let _ = kill_process(self.pid(), signal);
    }

    /// Kills the process with all that it started.
    pub fn kill_group(&self) {
        let _ = kill_process_group(self.pid(), Signal::KILL);
    }

    /// Kills a child of the process with this name, if it has one.
    pub fn kill_child(&self, name: &str) {
        let id = self.child.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let children = children.unwrap_or_default();
        let is_meant = |id: &&str| {
            fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|comm| comm.trim() == name)
        };
        let child = children.split_whitespace().find(is_meant).and_then(|id| id.parse().ok());
        if let Some(child) = child.and_then(Pid::from_raw) {
            let _ = kill_process(child, Signal::KILL);
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Returns a set of signals from the kernel's status of the process, such as `SigCgt` (handled)
    /// or `ShdPnd` (pending); bit n-1 is signal n.
    pub fn signals(&self, set: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(set))?;
        u64::from_str_radix(line.trim_start_matches(':').trim(), 16).ok()
    }

    /// Waits until the process handles `INT` and `TERM`, or has ended.
    pub fn wait_until_handled(&self) {
        /// Signals 2 and 15.
        const HANDLED: u64 = 1 << 1 | 1 << 14;
        wait_until("signals are handled, or the end", || {
            // A process that has ended handles no signals.
            self.signals("SigCgt").is_none_or(|set| set & HANDLED == HANDLED) || self.is_dead()
        });
    }

    /// Returns whether the process has ended.
    pub fn is_dead(&self) -> bool {
        self.state().is_none_or(|state| state == 'Z')
    }

    /// Returns whether a signal has stopped the process.
    pub fn is_stopped(&self) -> bool {
        self.state() == Some('T')
    }

    fn state(&self) -> Option<char> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        stat.rsplit(") ").next()?.chars().next()
    }

    /// Returns whether the process is in an interruptible sleep.
    pub fn is_asleep(&self) -> bool {
        self.state() == Some('S')
    }

    /// Reads the first line of the output, without its end. The rest is lost.
    pub fn first_line(&mut self) -> String {
        let stdout = self.child.stdout.take().expect("a pipe that was not read before");
        let line = within(&format!("the first line of {}", self.what), move || {
            let mut line = String::new();
            BufReader::new(stdout).read_line(&mut line).map(|_| line)
        });
        line.expect("a line of text").trim_end().to_owned()
    }

    /// Reads the rest of the output, and waits for the end.
    pub fn finish(mut self) -> Output {
        let stdout = drain(self.child.stdout.take());
        let stderr = drain(self.child.stderr.take());
        let status = self.wait();
        // What the program started may outlive it and keep its pipes open.
        let read = |thread: JoinHandle<Vec<u8>>| {
            within(&format!("the output of {}", self.what), move || {
                thread.join().expect("a thread that only reads")
            })
        };
        Output {
            stdout: read(stdout),
            stderr: read(stderr),
            code: status.code(),
            signal: status.signal(),
            what: std::mem::take(&mut self.what),
        }
    }

    /// Waits for the end, without reading the output.
    pub fn wait(&mut self) -> ExitStatus {
        let end = format!("the end of {}", self.what);
        wait_for(&end, || self.child.try_wait().expect("a child of our own"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // The number of a process that was waited for may be another's by now.
        if waitid(WaitId::Pid(self.pid()), look).is_ok() {
            self.kill_group();
            let _ = self.child.wait();
        }
    }
}

pub(crate) fn drain(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).expect("a pipe can be read");
        }
        bytes
    })
}

/// The output and the exit code of a program.
#[must_use]
pub struct Output {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// The exit code; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    what: String,
}

impl Output {
    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "exit code of {}\n{}", self.what, self.text());
        self
    }

    /// Asserts that stderr is empty.
    #[track_caller]
    pub fn quiet(self) -> Self {
        assert!(self.stderr.is_empty(), "{} has complaints\n{}", self.what, self.text());
        self
    }

    /// Returns standard output as text.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Returns standard error as text.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Returns the listed paths, sorted.
    #[track_caller]
    pub fn paths(&self, terminator: u8) -> Vec<Vec<u8>> {
        let mut paths: Vec<Vec<u8>> =
            self.stdout.split(|&byte| byte == terminator).map(<[u8]>::to_vec).collect();
        assert_eq!(paths.pop().as_deref(), Some(&[][..]), "the last path of {} ends", self.what);
        paths.sort();
        paths
    }

    /// Parses the only JSON object on stdout.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        let object = serde_json::from_slice(&self.stdout);
        object.unwrap_or_else(|error| panic!("{} : {error}\n{}", self.what, self.text()))
    }

    /// Returns the exit code and both streams, for snapshots and messages.
    pub fn text(&self) -> String {
        let mut text = match (self.code, self.signal) {
            (Some(code), _) => format!("exit code: {code}\n"),
            (None, signal) => format!("signal: {signal:?}\n"),
        };
        for (name, stream) in [("stdout", self.stdout_text()), ("stderr", self.stderr_text())] {
            if !stream.is_empty() {
                let _ = write!(text, "----- {name} -----\n{stream}");
            }
        }
        text
    }
}

/// Compares an output with an inline snapshot.
#[macro_export]
macro_rules! assert_output {
    ($env:expr, $output:expr, @$expected:literal) => {
        $env.settings().bind(|| insta::assert_snapshot!($output.text(), @$expected))
    };
}

/// Returns the path of another program of the workspace, beside the tested one. A test of the whole workspace
/// has built it; otherwise it is built now.
pub fn beside(own: &str, name: &str, package: &str) -> PathBuf {
    static BUILD: Mutex<()> = Mutex::new(());
    let program = Path::new(own).with_file_name(name);
    let _one = BUILD.lock().unwrap_or_else(PoisonError::into_inner);
    if !program.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let build = ["build", "--all-features", "--locked", "-p", package];
        let built = Command::new(cargo).args(build).status();
        assert!(built.is_ok_and(|built| built.success()), "cannot build {package}");
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_dropped_program_killed_with_what_it_started() {
        let env = TestEnv::new("sh", "cache", Vec::new());
        let mut running = env.start(["-c", "sleep 1000 & echo $!; wait"]);
        let child = Path::new("/proc").join(running.first_line());
        assert!(child.exists());
        drop(running);
        // Another process may collect its end later.
        wait_until("the end of the child", || {
            fs::read_to_string(child.join("stat")).map_or(true, |stat| stat.contains(") Z "))
        });
    }
}
