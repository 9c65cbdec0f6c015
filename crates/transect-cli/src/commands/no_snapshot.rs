//! Stands for `snapshot` in a program without it.

use std::convert::Infallible;
use std::path::PathBuf;

use transect::table::Table;
use transect::{Error, FieldMask, Outcome, ScanPlan, Sink};

use crate::args::{SinceArgs, WalkArgs};
use crate::exit::{CliError, ExitStatus};
use crate::output;
use crate::output::inherited::InheritedObject;

/// A tree that was stored: there is none.
pub(crate) struct StoredTree {
    pub(crate) table: Table,
    #[cfg_attr(
        not(any(feature = "map", feature = "tui")),
        expect(dead_code, reason = "only these show it")
    )]
    pub(crate) read_at: Option<i64>,
    pub(crate) interrupted: bool,
}

impl StoredTree {
    pub(crate) fn show_errors(&self, all: bool) {
        output::show_errors(self.table.diagnostics(), all);
    }

    pub(crate) fn end(&self) -> ExitStatus {
        ExitStatus::from_diagnostics(self.table.diagnostics(), self.interrupted)
    }
}

/// Returns `None`: every path is that of a file or directory.
#[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
pub(crate) fn stored_tree(_: &WalkArgs, _: FieldMask) -> Result<Option<StoredTree>, CliError> {
    Ok(None)
}

/// The entries of a snapshot: there is none.
pub(crate) enum StoredEntries<'a> {
    #[expect(dead_code, reason = "it has the lifetime of the arguments, as with the feature")]
    Never(&'a Infallible),
}

impl<'a> StoredEntries<'a> {
    /// Returns `None`: every path is that of a file or directory.
    #[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
    pub(crate) fn of(_: &'a WalkArgs, _: FieldMask) -> Result<Option<Self>, CliError> {
        Ok(None)
    }

    pub(crate) fn deliver<S: Sink>(
        &self,
        _: &ScanPlan,
        _: S,
    ) -> Result<(S, Result<(), CliError>), CliError> {
        match *self {
            Self::Never(never) => match *never {},
        }
    }

    pub(crate) fn show_errors(&self, _: bool) {
        match *self {
            Self::Never(never) => match *never {},
        }
    }

    pub(crate) fn end(&self) -> ExitStatus {
        match *self {
            Self::Never(never) => match *never {},
        }
    }
}

/// A snapshot that helps to read its tree again: there is none.
pub(crate) enum Since {}

impl Since {
    /// Returns `None`.
    #[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
    pub(crate) fn of(
        _: &SinceArgs,
        _: Vec<PathBuf>,
        _: bool,
        _: FieldMask,
    ) -> Result<Option<Self>, CliError> {
        Ok(None)
    }

    pub(crate) fn run<S: Sink>(
        &self,
        _: &ScanPlan,
        _: FieldMask,
        _: impl Fn() -> S + Sync,
    ) -> Result<Outcome<S>, Error> {
        match *self {}
    }

    pub(crate) fn shown(&self) -> InheritedObject {
        match *self {}
    }
}
