//! The two trees of a diff: directories that are read now, or snapshots.

use std::path::{Path, PathBuf};

use transect::{Cancel, FieldMask, ScanOptions};
use transect_snapshot::{
    Diff, DiffOptions, EntryPair, LiveTree, Metadata, ReadError, Snapshot, Tree, diff, entry_pairs,
};

use crate::args::{ProgressArgs, image_reader};
use crate::commands::snapshot::{self, Since};
use crate::output;
use crate::root_path::absolute;
use transect_program::{CliError, ExitStatus};

pub(crate) enum Side {
    Stored(Box<Snapshot>),
    Live(Box<LiveTree>, ExitStatus),
}

impl Side {
    /// Reads a directory, or the image of a volume; where possible with the help of a snapshot. Ends the command if it
    /// cannot be read at all, or on Ctrl-C.
    pub(crate) fn read(
        root: PathBuf,
        options: &ReadingOptions,
        since: Option<&Since>,
        cancel: &Cancel,
    ) -> Result<Self, CliError> {
        let reader = image_reader(&root);
        let mut walk = ScanOptions::new([root]).same_file_system(options.one_file_system);
        walk.settings.reader = reader;
        // Times of creation prove moves.
        let fields = snapshot::FIELDS | FieldMask::BTIME | options.fields;
        let (table, outcome) =
            snapshot::walk_shown(walk, fields, options.errors, since, cancel, options.progress)?;
        output::show_errors(table.diagnostics(), options.errors);
        let end = ExitStatus::from_diagnostics(table.diagnostics(), outcome.interrupted);
        if end >= ExitStatus::RootFailed {
            return Err(CliError::Ended(end));
        }
        let scope = snapshot::scope_of_all(options.one_file_system);
        let mut metadata = snapshot::metadata(&table, &outcome, None, scope);
        metadata.inherited = since.map(Since::inherited);
        Ok(Self::Live(Box::new(LiveTree::new(table, metadata)), end))
    }

    pub(crate) fn metadata(&self) -> &Metadata {
        match self {
            Self::Stored(snapshot) => snapshot.metadata(),
            Self::Live(tree, _) => tree.metadata(),
        }
    }

    fn tree(&self) -> Tree<'_> {
        match self {
            Self::Stored(snapshot) => snapshot.as_ref().into(),
            Self::Live(tree, _) => tree.as_ref().into(),
        }
    }

    pub(crate) fn end(&self) -> ExitStatus {
        match self {
            Self::Stored(snapshot) => ExitStatus::complete_if(snapshot.metadata().complete),
            Self::Live(_, end) => *end,
        }
    }
}

pub(crate) struct ReadingOptions {
    /// Attributes that are read besides those that a diff compares.
    pub(crate) fields: FieldMask,
    pub(crate) one_file_system: bool,
    pub(crate) errors: bool,
    pub(crate) progress: ProgressArgs,
}

/// The two trees that are compared, as named and as read.
pub(crate) struct Sides {
    names: [PathBuf; 2],
    pub(crate) before: Side,
    pub(crate) after: Side,
}

impl Sides {
    pub(crate) fn read(
        paths: [&Path; 2],
        options: &ReadingOptions,
        cancel: &Cancel,
    ) -> Result<Self, CliError> {
        // The paths in snapshots are absolute.
        let has_stored = paths.into_iter().any(Snapshot::is_likely);
        let read = |path: &Path| match snapshot::open(path)? {
            Some(snapshot) => Ok(Side::Stored(Box::new(snapshot))),
            None if has_stored => Side::read(absolute(path), options, None, cancel),
            None => Side::read(path.to_owned(), options, None, cancel),
        };
        let before = read(paths[0])?;
        Ok(Self::new(paths, before, read(paths[1])?))
    }

    /// Returns two trees that were read, called `names` in errors.
    pub(crate) fn new(names: [&Path; 2], before: Side, after: Side) -> Self {
        Self { names: names.map(Path::to_owned), before, after }
    }

    pub(crate) fn compare(&self, options: &DiffOptions) -> Result<Diff, CliError> {
        let found = diff(self.before.tree(), self.after.tree(), options);
        found.map_err(|error| self.cannot_compare(&error))
    }

    /// Calls `each` for every entry of both trees.
    pub(crate) fn for_each_pair(&self, each: impl FnMut(&EntryPair<'_>)) -> Result<(), CliError> {
        let done = entry_pairs(self.before.tree(), self.after.tree(), each);
        done.map_err(|error| self.cannot_compare(&error))
    }

    pub(crate) fn cannot_compare(&self, error: &ReadError) -> CliError {
        let [a, b] = self.names.each_ref().map(|path| path.display());
        CliError::Failed(format!("cannot compare '{a}' and '{b}': {error}"))
    }

    /// Prints the errors of the times when snapshots were read; those of directories were printed already.
    pub(crate) fn show_stored_errors(&self, all: bool) {
        for (name, side) in [("A", &self.before), ("B", &self.after)] {
            if let Side::Stored(snapshot) = side {
                output::show_stored_errors(name, &snapshot.metadata().diagnostics(), all);
            }
        }
    }

    pub(crate) fn are_complete(&self) -> bool {
        self.before.end() == ExitStatus::Complete && self.after.end() == ExitStatus::Complete
    }
}
