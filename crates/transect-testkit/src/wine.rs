//! Programs for Windows, run under Wine.
//!
//! The environment variable `TRANSECT_EXE` names transect.exe, `TRANSECT_WINE` the command that runs
//! it, such as `wine64`. The drive `Z:` is `/`.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::skip::loudly_skip;

const SIGKILL: i32 = 9;
const SIGSEGV: i32 = 11;

/// The compiler that builds programs for Windows here.
pub const CROSS_COMPILER: &str = "x86_64-w64-mingw32-gcc";

/// A program for Windows.
#[derive(Clone, Debug)]
pub struct WindowsProgram {
    program: OsString,
    wine: Vec<String>,
}

impl WindowsProgram {
    /// Returns transect.exe; reports a skip of the test `test` if there is none, or no Wine.
    pub fn find(test: &str) -> Option<Self> {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        let (Some(program), Some(wine)) = (set("TRANSECT_EXE"), set("TRANSECT_WINE")) else {
            loudly_skip(test, "TRANSECT_EXE and TRANSECT_WINE are not set");
            return None;
        };
        let wine = wine.to_str().expect("a command in plain words");
        Some(Self { program, wine: wine.split_whitespace().map(str::to_owned).collect() })
    }

    /// Returns another program for the same Wine.
    pub fn other(&self, program: impl Into<OsString>) -> Self {
        Self { program: program.into(), wine: self.wine.clone() }
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
        let (wine, words) = self.wine.split_first().expect("a command");
        let mut command = Command::new(wine);
        command.args(words).arg(&self.program).args(args).stdin(Stdio::null());
        let mut output = command.output().expect("Wine can be started");
        // Occasionally Wine 8 crashes while the threads of a program end (tools/windows), or its
        // server kills a client that it considers broken. A failure of the program itself is an
        // exception, never a signal.
        for _ in 0..3 {
            if matches!(output.status.signal(), Some(SIGKILL | SIGSEGV))
                || output.status.code() == Some(128 + SIGSEGV)
            {
                output = command.output().expect("Wine can be started");
            }
        }
        if !output.status.success() {
            let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
            panic!("{command:?}: {}\n{}", output.status, said.join("\n"));
        }
        output.stdout
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
