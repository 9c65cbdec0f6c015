//! `snapshot --memory`: a tree that can be larger than memory, read as parts that are put together at the end.

use std::path::PathBuf;
use std::sync::Arc;

use transect::{Diagnostics, Filters, Operation, Progress, ReaderKind, ScanOptions};
use transect_snapshot::tasks::{Commit, CommitLimits, Task, TaskOptions};

use super::parts_directory::PartsDirectory;
use super::{Stored, not_stored, set_command, show};
use crate::args::SnapshotArgs;
use crate::commands::commit::{scratch_directory, write_committed};
use crate::output;
use crate::profile;
use crate::progress::ProgressLine;
use crate::root_path::absolute;
use transect_program::{CliError, ExitStatus, cancel_on_signal};

/// What the process still holds of the tasks when it commits: threads, and small blocks.
const RETAINED_BYTES: u64 = 32 << 20;

pub(crate) fn run(args: &SnapshotArgs, memory: u64) -> Result<ExitStatus, CliError> {
    let cancel = cancel_on_signal()?;
    let Some(beside) = scratch_directory(&args.output) else {
        let output = args.output.display();
        return Err(CliError::Failed(format!("--memory needs a file, and '{output}' is none")));
    };
    let progress = Arc::new(Progress::new());
    let mut options = walk_options(args)?.cancel(cancel.clone()).progress(Arc::clone(&progress));
    let roots: Vec<_> = options.roots.iter().map(|root| absolute(root)).collect();
    let task = Task::first(&roots, task_options(args)).map_err(CliError::failed)?;
    let parts = PartsDirectory::new(beside)?;
    // What the command itself writes is not a part of the tree.
    if roots.iter().any(|root| parts.lies_in(root)) {
        options = options.filters(Filters::new().globs([format!("!{}", parts.name())]));
    }
    transect_sys::memory::return_large_blocks();
    let line = ProgressLine::start(args.progress, true, &progress);
    task.run_all(parts.path(), memory, &options).map_err(not_stored)?;
    drop(line);
    let commit = Commit::open(parts.path()).map_err(CliError::failed)?;
    let mut metadata = commit.metadata();
    set_command(&mut metadata);
    let mut diagnostics = metadata.diagnostics();
    diagnostics.failed_roots = failed_roots(&diagnostics, &roots);
    output::show_errors(&diagnostics, args.errors);
    let end = ExitStatus::from_diagnostics(&diagnostics, false);
    if diagnostics.failed_roots == roots.len() as u64 {
        return Ok(end);
    }
    let limits = CommitLimits {
        memory: memory.saturating_sub(RETAINED_BYTES),
        folder: parts.path().to_owned(),
    };
    let (entries, size) = write_committed(&args.output, &commit, &limits, &metadata, &cancel)?;
    show(args, Stored { entries, errors: metadata.errors, size, inherited: None })?;
    Ok(end)
}

fn walk_options(args: &SnapshotArgs) -> Result<ScanOptions, CliError> {
    let (mut options, _) = profile::scan_options(&args.walk);
    // The tasks have them.
    options.filters = Filters::new();
    // A volume is read at once.
    options.auto_reader = false;
    match options.settings.reader {
        Some(reader) if ReaderKind::VOLUMES.contains(&reader) => {
            let reader = reader.as_str();
            Err(CliError::Failed(format!("--memory reads directories, and '{reader}' a volume")))
        }
        _ => Ok(options),
    }
}

fn task_options(args: &SnapshotArgs) -> TaskOptions {
    let mut options = TaskOptions::default();
    options.one_file_system = args.walk.filter.one_file_system;
    options.pseudo = args.walk.filter.pseudo;
    options.all_times = args.all_times;
    options.exclude.clone_from(&args.walk.filter.exclude);
    options
}

fn failed_roots(diagnostics: &Diagnostics, roots: &[PathBuf]) -> u64 {
    let is_unread = |root: &&PathBuf| {
        let mut errors = diagnostics.kept_errors.iter();
        errors.any(|error| error.path() == *root && error.operation() != Operation::ReadDirectory)
    };
    roots.iter().filter(is_unread).count() as u64
}
