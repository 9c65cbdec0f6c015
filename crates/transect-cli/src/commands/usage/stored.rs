//! The largest directories of a snapshot, from the totals that are stored with them: the entries in them
//! are not read.

use std::collections::HashMap;
use std::time::Instant;

use transect_snapshot::{LargeDirectory, LargestDirectories, LargestLimits};
use transect_sys::name_from_bytes;
use transect_text::notes;

use super::terminal::{self, EntryLine, Lines, Shown};
use super::tree::{self, Line};
use crate::args::UsageArgs;
use crate::commands::snapshot::{StoredTree, cannot_read, whole_snapshot};
use crate::output;
use transect_program::{CliError, ExitStatus};

/// Shows the snapshot that is the only path of the arguments. Returns `None` if they name something else, or
/// ask for more than stored totals can answer.
pub(super) fn show(
    args: &UsageArgs,
    limits: &LargestLimits,
    began: Instant,
) -> Result<Option<ExitStatus>, CliError> {
    let is_exact = args.json || args.csv || args.export_ncdu.is_some();
    if is_exact || args.files || args.by.is_some() || args.import_ncdu.is_some() {
        return Ok(None);
    }
    let Some((path, snapshot)) = whole_snapshot(&args.walk)? else { return Ok(None) };
    let measure = args.measure();
    // Several directories may share a line.
    let mut most = *limits;
    most.count = most.count.saturating_add(1).saturating_mul(tree::MAX_NAMES);
    let largest = snapshot.largest_directories(measure, &most);
    let largest = largest.map_err(|error| cannot_read(path, &error))?;
    let Some(LargestDirectories { total, directories, .. }) = largest else { return Ok(None) };

    let diagnostics = snapshot.metadata().diagnostics();
    let interrupted = snapshot.metadata().interrupted;
    let end = StoredTree::end_of(&diagnostics, interrupted);
    output::show_stored_errors("the snapshot", &diagnostics, args.errors);
    let mut children: HashMap<Option<usize>, Vec<(usize, u64)>> = HashMap::new();
    for (index, of) in directories.iter().enumerate() {
        children.entry(of.parent).or_default().push((index, of.size));
    }
    let in_directory = |of, _| children.get(&of).cloned().unwrap_or_default();
    let folds = |of: usize| notes_of(&directories[of]).is_empty();
    let lines = tree::largest(limits, folds, in_directory);
    let shown = Shown {
        measure,
        lines: Lines::Tree(lines.into_iter().map(|line| entry_line(&directories, line)).collect()),
        whole: directories.first().map_or(0, |root| root.size),
        total,
        interrupted,
        is_complete: diagnostics.is_complete(),
        elapsed: began.elapsed(),
        disk: None,
    };
    terminal::print(&shown)?;
    Ok(Some(end))
}

fn entry_line(directories: &[LargeDirectory], line: Line<usize>) -> EntryLine {
    let name = |of: usize| name_from_bytes(directories[of].name.clone());
    EntryLine {
        name: line.name(name),
        size: line.size,
        exclusive: None,
        last: line.last,
        is_directory: true,
        notes: notes_of(&directories[line.row]),
    }
}

fn notes_of(of: &LargeDirectory) -> String {
    notes::of_parts(of.shared, of.unread, of.errors)
}
