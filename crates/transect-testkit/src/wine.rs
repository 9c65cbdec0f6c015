//! Programs for Windows, run under Wine.
//!
//! The environment variable `TRANSECT_EXE` names transect.exe, `TRANSECT_WINE` the command that runs
//! it, such as `wine64`. The drive `Z:` is `/`.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::skip::skip;

const SIGKILL: i32 = 9;
const SIGSEGV: i32 = 11;

/// Of a shell whose program ended with SIGSEGV.
const CRASHED: i32 = 128 + SIGSEGV;

/// The last byte of STATUS_DLL_INIT_FAILED (0xC0000142).
const NOT_STARTED: i32 = 0x42;

/// The compiler that builds programs for Windows here.
pub const CROSS_COMPILER: &str = "x86_64-w64-mingw32-gcc";

/// A program for Windows.
#[derive(Clone, Debug)]
pub struct WindowsProgram {
    program: OsString,
    wine: Vec<String>,
    prefix: Option<PathBuf>,
}

impl WindowsProgram {
    /// Returns transect.exe; reports a skip of the test `test` if there is none, or no Wine.
    pub fn find(test: &str) -> Option<Self> {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        let (Some(program), Some(wine)) = (set("TRANSECT_EXE"), set("TRANSECT_WINE")) else {
            return skip(test, "TRANSECT_EXE and TRANSECT_WINE are not set");
        };
        let wine = wine.to_str().expect("a command in plain words");
        let wine = wine.split_whitespace().map(str::to_owned).collect();
        Some(Self { program, wine, prefix: None })
    }

    /// Returns the same program in a Wine prefix of its own, in a new directory, with these drives besides `C:` and
    /// `Z:`: `x:` is a directory, `x::` what `\\.\X:` opens. For `TRANSECT_WINE`, only `tools/windows wine` will do.
    ///
    /// # Panics
    /// If the directory cannot be made.
    pub fn with_drives(&self, prefix: &Path, drives: &[(&str, &Path)]) -> Self {
        let devices = prefix.join("dosdevices");
        std::fs::create_dir_all(&devices).expect("a new directory");
        for (name, target) in drives {
            std::os::unix::fs::symlink(target, devices.join(name)).expect("a new drive");
        }
        Self { prefix: Some(prefix.to_owned()), ..self.clone() }
    }

    /// Returns another program for the same Wine.
    pub fn other(&self, program: impl Into<OsString>) -> Self {
        Self { program: program.into(), ..self.clone() }
    }

    /// Returns the path of the program.
    pub fn path(&self) -> &Path {
        Path::new(&self.program)
    }

    /// Runs the program to its end, and returns its output.
    ///
    /// # Panics
    /// If it fails.
    #[track_caller]
    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Vec<u8> {
        let (output, command) = self.output(args);
        if !output.status.success() {
            let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
            panic!("{command:?}: {}\n{}", output.status, said.join("\n"));
        }
        output.stdout
    }

    /// Runs the program to its end, and returns what it prints on standard error.
    ///
    /// # Panics
    /// If it succeeds.
    #[track_caller]
    pub fn fail<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> String {
        let (output, command) = self.output(args);
        assert!(!output.status.success(), "{command:?} succeeds");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn output<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> (Output, Command) {
        let (wine, words) = self.wine.split_first().expect("a command");
        let mut command = Command::new(wine);
        command.args(words).arg(&self.program).args(args).stdin(Stdio::null());
        command.envs(self.prefix.iter().map(|prefix| ("TRANSECT_WINE_PREFIX", prefix)));
        let mut output = command.output().expect("Wine can be started");
        // Occasionally Wine 8 crashes while the threads of a program end (tools/windows), or its
        // server kills a client that it considers broken; or the program does not start. A failure of
        // the program itself is an exception, never a signal.
        for _ in 0..3 {
            if matches!(output.status.signal(), Some(SIGKILL | SIGSEGV))
                || matches!(output.status.code(), Some(CRASHED | NOT_STARTED))
            {
                output = command.output().expect("Wine can be started");
            }
        }
        (output, command)
    }

    /// Runs the program, which prints one JSON object.
    ///
    /// # Panics
    /// If it fails, or prints something else.
    #[track_caller]
    pub fn json<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Value {
        serde_json::from_slice(&self.run(args)).expect("one JSON object")
    }
}

/// Returns a path as programs for Windows see it.
///
/// # Panics
/// If it is not UTF-8.
pub fn on_drive(path: &Path) -> String {
    format!("Z:{}", path.to_str().expect("a plain path").replace('/', r"\"))
}
