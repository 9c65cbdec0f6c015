//! Exit codes and errors of programs.
//!
//! | code | means |
//! |---|---|
//! | 0 | complete |
//! | 1 | finished, but partial: something inside a tree could not be read, or a command of `list --exec` failed; nothing was found |
//! | 2 | wrong usage, or nothing could be done |
//! | 130 | interrupted |
//! | others | of `query`: those of DuckDB |
//!
//! A closed pipe at standard output counts as success: the reader needed no more, as with `head`.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use transect::Diagnostics;

/// The status that a command ends with; that of several runs is the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// Everything was read.
    #[default]
    Complete,
    /// Something could not be read, a command failed, or nothing was found.
    Partial,
    /// A root could not be read.
    RootFailed,
    /// Interrupted by Ctrl-C.
    Interrupted,
    /// The exit code of another program.
    OfProgram(u8),
}

impl ExitStatus {
    /// Returns the status of work that is complete or partial.
    pub fn complete_if(is_complete: bool) -> Self {
        if is_complete { Self::Complete } else { Self::Partial }
    }

    /// Returns the status of a walk.
    pub fn from_diagnostics(diagnostics: &Diagnostics, interrupted: bool) -> Self {
        if interrupted {
            Self::Interrupted
        } else if diagnostics.failed_roots > 0 {
            Self::RootFailed
        } else if !diagnostics.is_complete() {
            Self::Partial
        } else {
            Self::Complete
        }
    }
}

/// An error that ends the program.
#[derive(Debug)]
pub enum CliError {
    /// The output could not be written.
    Output(io::Error),
    /// The transform could not start.
    Transform(transect_transform::Error),
    /// The arguments do not fit together, or the work failed; the full message.
    Failed(String),
    /// The command ends here. What the user has to know is printed already.
    Ended(ExitStatus),
}

impl CliError {
    /// Returns an error with the message of another one.
    pub fn failed(error: impl fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }

    /// Returns what makes an error of an error of the system: `cannot read 'notes': permission denied`.
    pub fn cannot(operation: &str, path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| {
            let (path, reason) = (path.display(), transect::reason(&error));
            Self::Failed(format!("cannot {operation} '{path}': {reason}"))
        }
    }
}

impl From<transect::Error> for CliError {
    fn from(error: transect::Error) -> Self {
        Self::failed(error)
    }
}

impl From<transect_transform::Error> for CliError {
    fn from(error: transect_transform::Error) -> Self {
        Self::Transform(error)
    }
}

impl From<transect_service::Error> for CliError {
    fn from(error: transect_service::Error) -> Self {
        Self::failed(error)
    }
}

impl From<String> for CliError {
    /// Returns a failure with a full message.
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transform(error) => error.fmt(f),
            Self::Failed(reason) => f.write_str(reason),
            Self::Ended(_) => Ok(()),
            Self::Output(error) => write!(f, "cannot write output: {}", transect::reason(error)),
        }
    }
}

/// Returns the exit code, and prints an error to stderr.
pub fn code(end: Result<ExitStatus, CliError>) -> ExitCode {
    match end {
        Ok(end) | Err(CliError::Ended(end)) => ExitCode::from(match end {
            ExitStatus::Complete => 0,
            ExitStatus::Partial => 1,
            ExitStatus::RootFailed => 2,
            ExitStatus::OfProgram(code) => code,
            ExitStatus::Interrupted => crate::interrupt::INTERRUPTED,
        }),
        Err(CliError::Output(error)) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(CliError::Transform(error)) if error.io_error().is_some_and(is_closed_pipe) => {
            ExitCode::SUCCESS
        }
        Err(fatal) => {
            crate::output::error(&fatal);
            ExitCode::from(2)
        }
    }
}

/// Returns whether the error means that the reader closed the pipe.
pub fn is_closed_pipe(error: &io::Error) -> bool {
    // From named pipes, and from every pipe under Wine; the standard library has no kind for it.
    const ERROR_PIPE_NOT_CONNECTED: i32 = 233;
    error.kind() == io::ErrorKind::BrokenPipe
        || cfg!(windows) && error.raw_os_error() == Some(ERROR_PIPE_NOT_CONNECTED)
}
