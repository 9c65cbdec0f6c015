//! Finds DuckDB and runs a statement: as the program `duckdb`, or as a module of `python3`.
//!
//! Everything goes through standard input: arguments of programs are visible to all users. What DuckDB prints
//! passes through our own streams, which a terminal may receive.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::json;
use transect::Cancel;

use crate::output::stream;
use transect_program::CliError;

const SCRIPT: &str = include_str!("duckdb.py");

const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// The exit code of the script if there is no module.
const NO_MODULE: u8 = 97;
/// The exit code of the script if the module is too old.
const OLD_MODULE: u8 = 98;

/// The time between two looks at the request to stop.
const INTERVAL: Duration = Duration::from_millis(50);

transect_sys::words! {
    /// What DuckDB prints.
    #[derive(Clone, Copy)]
    pub(super) enum Form {
        Table = "table",
        Json = "json",
        Csv = "csv",
    }
}

/// A statement, and those of the views that come before it.
#[derive(Clone, Copy)]
pub(super) struct Query<'q> {
    pub(super) views: &'q str,
    pub(super) statement: &'q str,
    pub(super) form: Form,
}

pub(super) enum Ended {
    With(u8),
    Interrupted,
    TooOld(String),
    NotFound,
}

/// Runs a query.
///
/// # Errors
/// A program cannot be started although it is there, or output cannot be written.
pub(super) fn run(query: Query<'_>, cancel: &Cancel) -> Result<Ended, CliError> {
    let ended = match version()? {
        Some(version) if is_too_old(&version) => Ended::TooOld(version),
        Some(_) => return run_program(query, cancel),
        None => Ended::NotFound,
    };
    // A program that is too old does not hide a module that is not.
    match (run_module(query, cancel)?, ended) {
        (Ended::NotFound, ended) => Ok(ended),
        (ended, _) => Ok(ended),
    }
}

fn version() -> Result<Option<String>, CliError> {
    match Command::new("duckdb").arg("--version").stdin(Stdio::null()).output() {
        Ok(output) => Ok(Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot_start("duckdb", &error)),
    }
}

/// Returns whether a version (`v0.10.3 …`) is older than those with which queries were tried.
fn is_too_old(version: &str) -> bool {
    let number = version.trim_start_matches('v').split('.').next();
    number.and_then(|number| number.parse().ok()).is_some_and(|number: u32| number < 1)
}

fn run_program(query: Query<'_>, cancel: &Cancel) -> Result<Ended, CliError> {
    let Query { views, statement, form } = query;
    let mut command = Command::new("duckdb");
    command.arg("-bail");
    command.args(match form {
        Form::Table => None,
        Form::Json => Some("-json"),
        Form::Csv => Some("-csv"),
    });
    // The line break ends a comment.
    let input = format!("{views}{statement}\n;\n");
    let child = spawn(&mut command).map_err(|error| cannot_start("duckdb", &error))?;
    finish(child, input.as_bytes(), cancel)
}

fn run_module(query: Query<'_>, cancel: &Cancel) -> Result<Ended, CliError> {
    let Query { views, statement, form } = query;
    let mut command = Command::new(PYTHON);
    // Isolated: without the current directory, which `-c` puts first in the module search path.
    command.args(["-I", "-c", SCRIPT]);
    let input = json!({ "views": views, "statement": statement, "form": form.as_str() });
    let input = input.to_string();
    let child = match spawn(&mut command) {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ended::NotFound),
        Err(error) => return Err(cannot_start(PYTHON, &error)),
    };
    match finish(child, input.as_bytes(), cancel)? {
        Ended::With(NO_MODULE) => Ok(Ended::NotFound),
        Ended::With(OLD_MODULE) => Ok(Ended::TooOld(format!("in {PYTHON}"))),
        ended => Ok(ended),
    }
}

fn spawn(command: &mut Command) -> io::Result<Child> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// Passes the input to a process and what it prints to our streams, and waits for its end.
fn finish(mut child: Child, input: &[u8], cancel: &Cancel) -> Result<Ended, CliError> {
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
        unreachable!("BUG: all three were requested");
    };
    let (printed, status) = std::thread::scope(|scope| {
        // A process that ends early closes its input; its status says why.
        scope.spawn(move || stdin.write_all(input));
        scope.spawn(move || copy(stderr, &mut stream::stderr()));
        let printing = scope.spawn(move || copy(stdout, &mut stream::stdout()));
        let status = loop {
            if cancel.is_cancelled() {
                // It may have ended in the meantime.
                let _ = child.kill();
            }
            match child.try_wait() {
                Ok(None) => std::thread::sleep(INTERVAL),
                ended => break ended,
            }
        };
        (printing.join(), status)
    });
    printed.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    if cancel.is_cancelled() {
        return Ok(Ended::Interrupted);
    }
    let status = status?.expect("BUG: the loop ends with the process");
    Ok(Ended::With(code(status)))
}

/// Copies until the process closes its end. If our reader has gone, so has that of the process.
fn copy(mut from: impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut block = vec![0; 64 * 1024];
    loop {
        match from.read(&mut block) {
            Ok(0) => return to.flush(),
            Ok(length) => to.write_all(&block[..length])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the exit code as shells count: 128 and the number of the signal that killed a process.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    let code = status.code().or(signal.map(|signal| 128 + signal)).unwrap_or(1);
    // Zero would mean success.
    u8::try_from(code).unwrap_or(1)
}

fn cannot_start(program: &str, error: &io::Error) -> CliError {
    CliError::Failed(format!("cannot start {program}: {}", transect::reason(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_before_1_are_too_old() {
        assert!(is_too_old("v0.10.3 (Name) 0123"));
        assert!(!is_too_old("v1.0.0 (Name) 0123") && !is_too_old("v10.1"));
        assert!(!is_too_old("something else"));
    }
}
