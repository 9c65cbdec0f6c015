//! How the program ends.
//!
//! | code | means |
//! |---|---|
//! | 0 | complete |
//! | 1 | finished, but partial: something inside a tree could not be read |
//! | 2 | wrong usage, or nothing could be done |
//! | 130 | interrupted |
//!
//! A reader that closes the pipe has seen enough: that is a quiet success.

use std::fmt;
use std::io;
use std::process::ExitCode;

use transect::Diagnostics;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// All was read.
    Complete,
    /// Something could not be read.
    Partial,
    /// A root could not be read.
    RootFailed,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

impl ExitStatus {
    /// Returns how a walk ended.
    pub(crate) fn from_diagnostics(diagnostics: &Diagnostics, interrupted: bool) -> Self {
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

/// Why nothing, or nothing more, could be done.
#[derive(Debug)]
pub(crate) enum CliError {
    /// The walk could not begin.
    Walk(transect::Error),
    /// The output could not be written.
    Output(io::Error),
    /// The lab cannot do that, in its own words.
    Lab(String),
    /// A file could not be written, and why.
    File(String),
    /// Nothing can be transformed.
    Transform(transect_transform::Error),
    /// A service cannot be made, or does not answer.
    Service(transect_service::Error),
    /// Nobody can look around.
    Tui(transect_tui::Error),
    /// The arguments make no sense together.
    Usage(String),
}

impl From<transect::Error> for CliError {
    fn from(error: transect::Error) -> Self {
        Self::Walk(error)
    }
}

impl From<transect_transform::Error> for CliError {
    fn from(error: transect_transform::Error) -> Self {
        Self::Transform(error)
    }
}

impl From<transect_service::Error> for CliError {
    fn from(error: transect_service::Error) -> Self {
        Self::Service(error)
    }
}

impl From<transect_tui::Error> for CliError {
    fn from(error: transect_tui::Error) -> Self {
        Self::Tui(error)
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
            Self::Walk(error) => error.fmt(f),
            Self::Transform(error) => error.fmt(f),
            Self::Service(error) => error.fmt(f),
            Self::Lab(reason) | Self::File(reason) | Self::Usage(reason) => f.write_str(reason),
            Self::Tui(error) => error.fmt(f),
            Self::Output(error) => write!(f, "cannot write output: {}", transect::reason(error)),
        }
    }
}

/// Returns the exit code, and says on stderr why nothing could be done.
pub(crate) fn code(end: Result<ExitStatus, CliError>) -> ExitCode {
    match end {
        Ok(ExitStatus::Complete) => ExitCode::SUCCESS,
        Ok(ExitStatus::Partial) => ExitCode::from(1),
        Ok(ExitStatus::RootFailed) => ExitCode::from(2),
        Ok(ExitStatus::Interrupted) => ExitCode::from(crate::interrupt::INTERRUPTED),
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

/// Returns whether nobody reads any more.
pub(crate) fn is_closed_pipe(error: &io::Error) -> bool {
    // What a named pipe says, and every pipe under Wine; the standard library has no kind for it.
    const ERROR_PIPE_NOT_CONNECTED: i32 = 233;
    error.kind() == io::ErrorKind::BrokenPipe
        || cfg!(windows) && error.raw_os_error() == Some(ERROR_PIPE_NOT_CONNECTED)
}
